package normal_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
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
		require.Regexp(t, `^mcp:7:[0-9a-f]{32}$`, asked.Text("invocation_id"))
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
		require.Equal(t, trace, v.Text("otel_trace_id"))
		require.Equal(t, "b7ad6b7169203331", v.Text("span_id"))
		require.NotEmpty(t, normalized(t, mcp("", call)).Warnings)

		answer := mcp("", reply)
		answer.Traceparent = e.Traceparent
		require.Equal(t, v.Text("invocation_id"), only(t, normalized(t, answer), "tool-invocation-evidence").Text("invocation_id"))
		e.Traceparent = "00-" + trace + "-b7ad6b7169203332-01"
		require.NotEqual(t, v.Text("invocation_id"), only(t, normalized(t, e), "tool-invocation-evidence").Text("invocation_id"))
	})

	t.Run("calls of different servers, sessions and ids are different", func(t *testing.T) {
		t.Parallel()
		keys := map[string]bool{}
		for _, source := range []string{"//a", "//b", "//a:s"} {
			for _, session := range []string{"s", "t", "s:7"} {
				for _, id := range []string{`7`, `"7"`, `"7:7"`, `8`} {
					e := mcp(session, strings.Replace(call, `"id":7`, `"id":`+id, 1))
					e.Source = source
					asked := only(t, normalized(t, e), "tool-invocation-evidence").Text("invocation_id")
					e.Data = jsontext.Value(strings.Replace(reply, `"id":7`, `"id": `+id+` `, 1))
					require.Equal(t, asked, only(t, normalized(t, e), "tool-invocation-evidence").Text("invocation_id"))
					keys[asked] = true
				}
			}
		}
		require.Len(t, keys, 3*3*4)
	})

	t.Run("an answer that could be one to another method only adds to a call", func(t *testing.T) {
		t.Parallel()
		const request = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"refund"}}`
		for answer, known := range map[string]bool{
			`"error":{"code":-32602,"message":"no"}`:                      false,
			`"error":{"code":-32042,"message":"visit"}`:                   false,
			`"result":{"resultType":"input_required","requestState":"x"}`: false,
			`"result":{"task":{"taskId":"t","status":"working"}}`:         false,
			`"result":{"content":[]}`:                                     true,
		} {
			message := `{"jsonrpc":"2.0","id":7,` + answer + `}`
			got := normalized(t, mcp("s", message))
			require.Equal(t, !known, got.Reports[0].Adds, answer)

			e := mcp("s", message)
			e.Type = "com.example.mcp.tools/call.reply"
			require.False(t, normalized(t, e).Reports[0].Adds, answer)

			both := normalized(t, mcp("s", `[`+request+`,`+message+`]`))
			require.Len(t, both.Reports, 2)
			require.False(t, both.Reports[1].Adds, answer)

			logged := normalized(t, mcp("s", strings.TrimSuffix(request, "}")+`,`+answer+`}`))
			require.Equal(t, both, logged, "a request and its answer can be one message")

			other := normalized(t, mcp("s", `[{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"p"}},`+message+`]`))
			require.Equal(t, !known, other.Reports[0].Adds, answer)
		}
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
		for _, data := range []string{`"method":"ping","id":1`, `"method":"notifications/progress"`, `"id":1,"result":{}`, `"id":1,"result":{"role":"assistant","model":"m","content":[{"type":"text"}]}`} {
			got := normalized(t, mcp("s", `{"jsonrpc":"2.0",`+data+`}`))
			require.Empty(t, got.Reports, data)
			require.Equal(t, "mcp/2", got.Version)
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
		const first, last = `{"tools":[{"name":"a"}],"nextCursor":"2"}`, `{"tools":[{"name":"b"}]}`
		message := func(id, rest string) string { return `{"jsonrpc":"2.0","id":` + id + `,` + rest + `}` }
		ask := func(id, params string) string { return message(id, `"method":"tools/list","params":`+params) }
		for data, paged := range map[string][]bool{
			message("1", `"result":`+first):                                              {true},
			message("1", `"result":`+last):                                               {false},
			message("1", `"method":"tools/list","params":{"cursor":"2"},"result":`+last): {true},
			message("1", `"method":"tools/list","params":{},"result":`+last):             {false},
			`[` + ask("1", `{}`) + `,` + message("1", `"result":`+first) + `,` + ask("2", `{"cursor":"2"}`) + `,` + message("2", `"result":`+last) + `]`: {true, true},
			`[` + ask("1", `{"cursor":"2"}`) + `,` + message("2", `"result":`+last) + `]`:                                                                {false},
			message("1", `"result":{"tools":[{"name":"a"}],"nextCursor":""}`):                                                                            {false},
			message("1", `"result":{"tools":[{"name":"a"}],"nextCursor":null}`):                                                                          {false},
		} {
			got := normalized(t, mcp("s", data))
			connectors := every(t, got, "connectors")
			require.Len(t, connectors, len(paged), data)
			for i, v := range connectors {
				require.Equal(t, paged[i], normal.Paged(v), data)
				require.Equal(t, !paged[i], v["manifest_digest"] != nil, data)
				require.NotEmpty(t, v["tools"], data)
			}
			require.Equal(t, paged[0], len(got.Warnings) > 0, data)
		}
	})

	t.Run("hints are kept as they were given", func(t *testing.T) {
		t.Parallel()
		v := manifest(`{"name":"a","annotations":{"title":"A","readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}},{"name":"b"}`)
		require.JSONEq(t, `[{"name":"a","side_effect_class":"create","open_world":false,"idempotent":true,"annotations":{"read_only":false,"destructive":false,"idempotent":true,"open_world":false}},
			{"name":"b","side_effect_class":"delete","open_world":true,"idempotent":false}]`, string(v["tools"]))
	})

	t.Run("a server that was not reviewed cannot make a tool harmless", func(t *testing.T) {
		t.Parallel()
		v := manifest(`{"name":"a","annotations":{"readOnlyHint":true}}`)
		require.JSONEq(t, `[{"name":"a","side_effect_class":"delete","open_world":true,"idempotent":false,"annotations":{"read_only":true}}]`, string(v["tools"]))
	})
}

func TestClass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hints                string
		unreviewed, reviewed string
	}{
		{`{}`, "delete", "delete"},
		{`{"read_only":true}`, "delete", "read"},
		{`{"readOnlyHint":true}`, "delete", "read"},
		{`{"read_only":true,"readOnlyHint":false}`, "delete", "read"},
		{`{"read_only":"true"}`, "delete", "delete"},
		{`{"read_only":false,"destructive":false}`, "create", "create"},
		{`{"read_only":true,"destructive":false}`, "create", "read"},
		{`{"destructive":true}`, "delete", "delete"},
		{`{"idempotent":true,"open_world":false}`, "delete", "delete"},
	} {
		v, err := kind.ParseValues([]byte(c.hints))
		require.NoError(t, err)
		require.Equal(t, c.unreviewed, normal.Class(v, false), c.hints)
		require.Equal(t, c.reviewed, normal.Class(v, true), c.hints)
	}
	require.Equal(t, "unknown", normal.Class(nil, false))
	require.Equal(t, "unknown", normal.Class(nil, true))
}

// TestClassOfUnreviewed tries all hints that a server can give.
func TestClassOfUnreviewed(t *testing.T) {
	t.Parallel()
	said := []string{"", "true", "false"}
	for n := range 81 {
		v := kind.Values{}
		for i, name := range []string{"read_only", "destructive", "idempotent", "open_world"} {
			if hint := said[n/[]int{1, 3, 9, 27}[i]%3]; hint != "" {
				v[name] = jsontext.Value(hint)
			}
		}
		require.NotContains(t, []string{"none", "read"}, normal.Class(v, false), v)
	}
}
