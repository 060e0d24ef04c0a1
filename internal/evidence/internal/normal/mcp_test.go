package normal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/evidence/internal/normal"
)

// mcp is a message of a session.
func mcp(session, data string) normal.Event {
	e := event(normal.FormatMCP, data)
	e.Subject = session
	return e
}

func TestMCP(t *testing.T) {
	t.Parallel()
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"refund","arguments":{"b":1,"a":2}}}`
	const reply = `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"done"}]}}`

	t.Run("a call and its result are reports of one record", func(t *testing.T) {
		t.Parallel()
		asked := only(t, normalized(t, mcp("s", call)), "tool-invocation-evidence")
		replied := only(t, normalized(t, mcp("s", reply)), "tool-invocation-evidence")
		require.Equal(t, "mcp:s:7", asked.Text("invocation_id"))
		require.Equal(t, asked.Text("invocation_id"), replied.Text("invocation_id"))
		require.Equal(t, "dispatched", asked.Text("status"))
		require.Equal(t, "succeeded", replied.Text("status"))
		require.NotContains(t, replied, "tool_name")
		require.Empty(t, asked.Text("side_effect_class"), "what the tool does, its connector says")
	})

	t.Run("without a session the trace tells calls apart", func(t *testing.T) {
		t.Parallel()
		e := mcp("", call)
		e.Traceparent = "00-" + trace + "-b7ad6b7169203331-01"
		v := only(t, normalized(t, e), "tool-invocation-evidence")
		require.Equal(t, "mcp:"+trace+"-b7ad6b7169203331:7", v.Text("invocation_id"))
		require.Equal(t, trace, v.Text("otel_trace_id"))
		require.Equal(t, "b7ad6b7169203331", v.Text("span_id"))
		require.NotEmpty(t, normalized(t, mcp("", call)).Warnings)
	})

	t.Run("the order of arguments does not change their digest", func(t *testing.T) {
		t.Parallel()
		one := only(t, normalized(t, mcp("s", call)), "tool-invocation-evidence")
		other := only(t, normalized(t, mcp("s", strings.Replace(call, `"b":1,"a":2`, `"a": 2, "b": 1.0`, 1))), "tool-invocation-evidence")
		require.Equal(t, one.Text("arguments_digest"), other.Text("arguments_digest"))
	})

	t.Run("how a call ended", func(t *testing.T) {
		t.Parallel()
		for data, want := range map[string]string{
			`"result":{"content":[],"isError":true}`:                             "failed",
			`"error":{"code":-32602,"message":"no"}`:                             "failed",
			`"error":{"code":-32042,"message":"visit","data":{}}`:                "awaiting_approval",
			`"result":{"resultType":"input_required","requestState":"x"}`:        "awaiting_approval",
			`"result":{"task":{"taskId":"t","status":"working"}}`:                "dispatched",
			`"result":{"structuredContent":{"a":1},"resultType":"complete"}`:     "succeeded",
			`"result":{"toolResult":"done"}`:                                     "succeeded",
			`"result":{"content":[{"type":"text","text":"x"}],"isError":"true"}`: "succeeded",
		} {
			v := only(t, normalized(t, mcp("s", `{"jsonrpc":"2.0","id":7,`+data+`}`)), "tool-invocation-evidence")
			require.Equal(t, want, v.Text("status"), data)
		}
	})

	t.Run("a user's answer ends the question", func(t *testing.T) {
		t.Parallel()
		asked := only(t, normalized(t, mcp("s", `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"sure?"}}`)), "primitive-step-runs")
		require.Equal(t, "waiting", asked.Text("status"))
		for action, want := range map[string]string{"accept": "succeeded", "decline": "denied", "cancel": "cancelled"} {
			v := only(t, normalized(t, mcp("s", `{"jsonrpc":"2.0","id":1,"result":{"action":"`+action+`"}}`)), "primitive-step-runs")
			require.Equal(t, want, v.Text("status"))
			require.Equal(t, asked.Text("idempotency_key"), v.Text("idempotency_key"))
		}
	})

	t.Run("a batch is its messages", func(t *testing.T) {
		t.Parallel()
		require.Len(t, normalized(t, mcp("s", `[`+call+`,`+reply+`]`)).Reports, 2)
	})

	t.Run("other messages say nothing", func(t *testing.T) {
		t.Parallel()
		for _, data := range []string{`"method":"ping","id":1`, `"method":"notifications/progress"`, `"id":1,"result":{}`, `"id":1,"result":{"role":"assistant","content":{"type":"text"}}`} {
			got := normalized(t, mcp("s", `{"jsonrpc":"2.0",`+data+`}`))
			require.Empty(t, got.Reports, data)
			require.Equal(t, "mcp/1", got.Version)
		}
	})

	t.Run("what is not a message is refused", func(t *testing.T) {
		t.Parallel()
		for data, want := range map[string]string{
			`{}`: "/data/jsonrpc", `7`: "/data", `[7]`: "/data", `{"jsonrpc":"2.0"}`: "/data",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:                       "/data/params/name",
			`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"t"}}`:        "/data/id",
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what"}}`: "/data/id",
		} {
			require.Equal(t, []string{want}, refused(t, mcp("s", data)), data)
		}
	})
}

func TestManifest(t *testing.T) {
	t.Parallel()
	manifest := func(tools string) kind.Values {
		return only(t, normalized(t, mcp("s", `{"jsonrpc":"2.0","id":1,"result":{"tools":[`+tools+`]}}`)), "connectors")
	}

	t.Run("the digest knows no order of tools", func(t *testing.T) {
		t.Parallel()
		one := manifest(`{"name":"a","inputSchema":{"type":"object","x":1}},{"name":"b"}`)
		same := manifest(`{"name":"b"},{"inputSchema":{"x":1,"type":"object"},"name":"a"}`)
		other := manifest(`{"name":"b"},{"inputSchema":{"x":2,"type":"object"},"name":"a"}`)
		require.Equal(t, one.Text("manifest_digest"), same.Text("manifest_digest"))
		require.NotEqual(t, one.Text("manifest_digest"), other.Text("manifest_digest"))
	})

	t.Run("a page is not a manifest", func(t *testing.T) {
		t.Parallel()
		got := normalized(t, mcp("s", `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}],"nextCursor":"2"}}`))
		require.NotContains(t, only(t, got, "connectors"), "manifest_digest")
		require.NotEmpty(t, got.Warnings)
	})

	t.Run("a server that was not reviewed cannot make a tool harmless", func(t *testing.T) {
		t.Parallel()
		v := manifest(`{"name":"a","annotations":{"readOnlyHint":true}}`)
		require.JSONEq(t, `[{"name":"a","side_effect_class":"delete","open_world":true,"idempotent":false,"annotations":{"read_only":true}}]`, string(v["tools"]))
	})
}

func TestHints(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, c := range []struct {
		hints    normal.Hints
		reviewed bool
		want     string
	}{
		{normal.Hints{}, false, "delete"},
		{normal.Hints{}, true, "delete"},
		{normal.Hints{ReadOnly: &yes}, false, "delete"},
		{normal.Hints{ReadOnly: &yes}, true, "read"},
		{normal.Hints{ReadOnly: &no, Destructive: &no}, false, "create"},
		{normal.Hints{ReadOnly: &yes, Destructive: &no}, false, "create"},
		{normal.Hints{Destructive: &yes}, true, "delete"},
	} {
		require.Equal(t, c.want, c.hints.SideEffect(c.reviewed))
	}
}
