package normal_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
)

// fuzz sends events of a format: nothing is too strange to be read, refused or left
// alone, and the same event says the same twice.
func fuzz(f *testing.F, format normal.Format, seeds ...string) {
	f.Helper()
	for _, one := range fixtures(f, format) {
		f.Add(one.Event.Source, one.Event.Type, one.Event.Subject, one.Event.Traceparent, one.Event.Time.Unix(), []byte(one.Event.Data))
	}
	for _, seed := range seeds {
		f.Add("//tests", "agent-evidence.failures", "", "", at.Unix(), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, source, name, subject, traceparent string, second int64, data []byte) {
		e := normal.Event{
			ID: "e", Source: source, Type: name, Subject: subject, Traceparent: traceparent,
			Format: format, Time: time.Unix(second, 0), Data: jsontext.Value(data),
		}
		for _, e.Format = range []normal.Format{format, ""} {
			got, fields := normal.Normalize(e, source)
			storable(t, got)
			if len(fields) > 0 {
				require.Empty(t, got.Reports)
			}
			again, fieldsAgain := normal.Normalize(e, source)
			require.Equal(t, got, again)
			require.Equal(t, fields, fieldsAgain)
		}
	})
}

func FuzzNormalizeSpan(f *testing.F) {
	fuzz(f, normal.FormatSpan, flatMemory, flatAgents, `{"resourceSpans":[]}`, `{"scopeSpans":[]}`,
		`{"name":"a","context":{"trace_id":"0x0af7651916cd43dd8448eb211c80319c","span_id":"0xb7ad6b7169203331"},"start_time":"2026-11-17T12:00:00Z","status":{"status_code":"ERROR","description":"no"},"attributes":{"gen_ai.operation.name":"execute_tool","x":[1,{"y":1.5,"z":null}]},"events":[{"name":"exception","timestamp":1794930850458655176,"attributes":{"exception.type":"E"}}]}`)
}

func FuzzNormalizeLog(f *testing.F) {
	fuzz(f, normal.FormatLog, `{"trace_id":"0af7651916cd43dd8448eb211c80319c","event_name":"gen_ai.evaluation.result","timestamp":1794930850,"attributes":{"gen_ai.evaluation.name":"n"},"body":{"a":[1]}}`)
}

func FuzzNormalizeOpenInference(f *testing.F) { fuzz(f, normal.FormatOpenInference) }

func FuzzNormalizeMCP(f *testing.F) {
	fuzz(f, normal.FormatMCP, `[{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"t"}},{"jsonrpc":"2.0","id":"a","error":{"code":-32042,"message":"m"}}]`,
		`{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t","status":"working"}}}`, `{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`)
}

func FuzzNormalizeA2A(f *testing.F) {
	fuzz(f, normal.FormatA2A, `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`, `{"artifactUpdate":{"taskId":"t","append":true,"artifact":{}}}`)
}

func FuzzNormalizeOPA(f *testing.F) {
	fuzz(f, normal.FormatOPA, `[{"decision_id":"d","result":{"allow":true,"violations":[{"msg":"m"}]},"bundles":{"b":{"revision":"7"}},"trace_id":"0af7651916cd43dd8448eb211c80319c"}]`)
}

func FuzzNormalizeNative(f *testing.F) {
	fuzz(f, normal.FormatNative, `{"failureMode":"loop","severity":"low","title":"t","other":{"a":1},"id":7}`)
}
