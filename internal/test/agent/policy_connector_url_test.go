package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

const mcp = "https://payments.example/mcp"

// tool is the question about a tool by its id alone.
func tool(id string) object {
	return object{"runtimeKey": "refund-agent", "resource": object{"type": "Tool", "id": id}}
}

// access asks about a tool in the form of AuthZEN.
func (s policyScene) access(t *testing.T, id string) (accessView, error) {
	t.Helper()
	var out accessView
	_, err := s.Call(t.Context(), "POST", "/access/v1/evaluation", object{
		"subject": object{"type": "Runtime", "id": "refund-agent"}, "action": object{"name": "tool.call"}, "resource": object{"type": "Tool", "id": id},
	}, &out)
	return out, err
}

// TestConnectorsWithSlashes shows that what holds for a connector holds for one whose key is a
// URL, however a question is put.
func TestConnectorsWithSlashes(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	invoked := func(connector, name string) object {
		return object{"runtimeKey": "refund-agent", "toolInvocation": object{"connectorKey": connector, "toolName": name}}
	}

	t.Run("facts count its calls", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		s.only(t, `@history("n = count(`+mcp+`/refund, 1h)") forbid (principal, action, resource) when { context.connector_key == "`+mcp+`" && context.history.n >= 3 };`+permitAll)
		require.Equal(t, "allow", s.ask(t, invoked(mcp, "refund"))["decision"])
		d := s.ask(t, tool(mcp+"/refund"))
		require.Equal(t, "allow", d["decision"])
		require.Equal(t, mcp, d["connector_key"])
		require.Equal(t, "refund", d["tool_name"])
		out, err := s.access(t, mcp+"/refund")
		require.NoError(t, err)
		require.True(t, out.Decision)

		require.Equal(t, "deny", s.ask(t, invoked(mcp, "refund"))["decision"])
		require.Equal(t, "deny", s.ask(t, tool(mcp+"/refund"))["decision"])
		require.Equal(t, "allow", s.ask(t, invoked("payments", "refund"))["decision"])
	})

	t.Run("facts count calls of a tool whose name has a slash", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		s.only(t, `@history("n = count(books/orders/close, 1h)") forbid (principal, action, resource) when { context.history.n >= 2 };`+permitAll)
		require.Equal(t, "allow", s.ask(t, invoked("books", "orders/close"))["decision"])
		require.Equal(t, "allow", s.ask(t, invoked("books/orders", "close"))["decision"], "it is the same tool by another name")
		require.Equal(t, "deny", s.ask(t, invoked("books", "orders/close"))["decision"])
		require.Equal(t, "deny", s.ask(t, invoked("books/orders", "close"))["decision"])
	})

	t.Run("one that is blocked is denied", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		s.only(t, permitAll)
		made := s.ann.Connector(t, mcp, map[string]string{"refund": "transact"})
		require.Equal(t, "allow", s.ask(t, tool(mcp+"/refund"))["decision"])
		_, err := s.ann.UpdateEvidence(t.Context(), "connectors", made.ID(), object{"state": "blocked"})
		require.NoError(t, err)

		for _, d := range []testkit.Evidence{
			s.ask(t, invoked(mcp, "refund")), s.ask(t, tool(mcp+"/refund")), s.ask(t, tool(mcp+"/refunds/make")), s.ask(t, tool(mcp+"/refund/")),
		} {
			require.Equal(t, []string{"connector_blocked"}, codes(d))
		}
		out, err := s.access(t, mcp+"/refund")
		require.NoError(t, err)
		require.False(t, out.Decision)
		require.Equal(t, []string{"connector_blocked"}, codes(out.Context))
	})

	t.Run("a question that can be about two is refused until it says which", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		s.only(t, `forbid (principal, action, resource) when { context.connector_key == "payments" };`+permitAll)
		require.Equal(t, "deny", s.ask(t, tool("payments/refunds/make"))["decision"], "payments is known")
		require.Equal(t, "deny", s.ask(t, invoked("payments", "refunds/make"))["decision"])
		s.ann.Connector(t, "payments/refunds", map[string]string{"make": "transact"})

		_, err := s.Evaluate(t.Context(), tool("payments/refunds/make"))
		require.Equal(t, "/resource/id", refusal(t, err).Fields[0].Path)
		_, err = s.access(t, "payments/refunds/make")
		require.Equal(t, "/resource/id", refusal(t, err).Fields[0].Path)
		require.Contains(t, refusal(t, err).Fields[0].Message, "POST /api/agent-evidence/policy/evaluate", "AuthZEN has no toolInvocation")

		said := tool("payments/refunds/make")
		said["toolInvocation"] = invoked("payments", "refunds/make")["toolInvocation"]
		require.Equal(t, "deny", s.ask(t, said)["decision"])
		said["toolInvocation"] = invoked("payments/refunds", "make")["toolInvocation"]
		require.Equal(t, "allow", s.ask(t, said)["decision"])
		said["toolInvocation"] = invoked("payments", "make")["toolInvocation"]
		_, err = s.Evaluate(t.Context(), said)
		require.Equal(t, "/resource/id", refusal(t, err).Fields[0].Path, "it is another tool")
	})

	t.Run("what an agent names decides nothing", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		s.only(t, `forbid (principal, action, resource) when { context.connector_key == "`+mcp+`" };`+permitAll)
		require.Equal(t, "allow", s.ask(t, invoked("https:", "x"))["decision"])
		require.Equal(t, "deny", s.ask(t, tool(mcp+"/refund"))["decision"], "nobody has decided about a connector")
		made := s.ann.Connector(t, mcp, map[string]string{"refund": "transact"})
		require.Equal(t, "deny", s.ask(t, tool(mcp+"/refund"))["decision"])
		require.Equal(t, "deny", s.ask(t, tool(mcp+"/refunds/make"))["decision"])
		_, err := s.ann.UpdateEvidence(t.Context(), "connectors", made.ID(), object{"state": "retired"})
		require.NoError(t, err)
		require.Equal(t, []string{"connector_blocked"}, codes(s.ask(t, tool(mcp+"/refunds/make"))))
		s.ann.Connector(t, mcp+"/refunds", map[string]string{"make": "transact"})
		require.Equal(t, "allow", s.ask(t, tool(mcp+"/refunds/make"))["decision"])
	})
}

// TestACountThatIsNotKnown shows that a bound above what is counted denies.
func TestACountThatIsNotKnown(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	s := newScene(t, k)
	s.only(t, `@history("n = count(payments/refund, 24h); any = formerly(payments/refund, 24h)")
forbid (principal, action, resource) when { context.tool_name == "refund" && context.history.any && context.history.n >= 200000 };`+permitAll)
	require.Equal(t, "allow", s.ask(t, call("refund", "1", nil))["decision"])
	c := k.Runtime(t, s.Org)
	_, err := c.Exec(t.Context(), `INSERT INTO policy_actions (org_id, decision_id, actor, connector, tool, numbers, at)
		SELECT a.org_id, -n, a.actor, a.connector, a.tool, '{}', a.at FROM policy_actions a, generate_series(1, 99999) AS n WHERE a.org_id = $1`, s.Org)
	require.NoError(t, err)
	require.Equal(t, "allow", s.ask(t, call("refund", "1", nil))["decision"], "it knows of 100,000")

	d := s.ask(t, call("refund", "1", nil))

	require.Equal(t, "deny", d["decision"])
	require.Equal(t, []string{"engine_error"}, codes(d))
}
