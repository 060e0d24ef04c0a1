package agent_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// TestRedaction shows that policies see what the record does not keep.
func TestRedaction(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	s := newScene(t, k)
	s.only(t, `permit (principal, action, resource) when { context.arguments.card == "4111 1111 1111 1111" };`)

	d := s.ask(t, object{"runtimeKey": "r", "toolInvocation": object{"connectorKey": "payments", "toolName": "look_up", "arguments": object{"card": "4111 1111 1111 1111"}}})

	require.Equal(t, "allow", d["decision"])
	require.NotContains(t, d["input"].(map[string]any)["tool_invocation"].(map[string]any)["arguments"].(map[string]any)["card"], "4111")
	require.Equal(t, "/input", d["redactions"].([]any)[0].(map[string]any)["path"])

	t.Run("policies know parties by the keys that were sent", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		s.only(t, `@history("n = count(payments/look_up, 1h)")
forbid (principal == Runtime::"of 4111 1111 1111 1111", action, resource) when { context.history.n >= 1 };`+permitAll)
		ask := func(runtime string) any {
			return s.ask(t, object{"runtimeKey": runtime, "toolInvocation": object{"connectorKey": "payments", "toolName": "look_up"}})["decision"]
		}
		require.Equal(t, "allow", ask("of 5555 5555 5555 4444"))
		require.Equal(t, "allow", ask("of 4111 1111 1111 1111"), "another one has acted, who looks the same in the record")
		require.Equal(t, "deny", ask("of 4111 1111 1111 1111"))
		require.Equal(t, "allow", ask("of 5555 5555 5555 4444"))
	})

	t.Run("nothing that was asked comes back in the record, the approval or the past", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		s.only(t, `@id("limit") @effect("require_approval") @history("n = count(payments/refund, 1h)")
forbid (principal, action, resource) when { context.history.n >= 0 && context.tool_name like "*" };
@id("wrong") permit (principal, action, resource) when { context.arguments.card.lessThan(decimal("1.0")) };`+permitAll)
		const card = "4111 1111 1111 1111"
		for _, who := range []object{{"runtimeKey": "of " + card}, {"subject": object{"type": "Agent", "id": "of " + card}}} {
			d := s.ask(t, merge(who, object{
				"resource": object{"type": "Card", "id": card}, "subjectUser": card,
				"toolInvocation": object{"connectorKey": "payments " + card, "toolName": "charge " + card, "invocationId": card, "arguments": object{"card": card, "amount": card}},
			}))
			require.Equal(t, "require_approval", d["decision"])
			approval, err := s.GetEvidence(t.Context(), "approvals", d.Number("approval_id"))
			require.NoError(t, err)
			for _, record := range []testkit.Evidence{d, approval} {
				text, err := json.Marshal(record)
				require.NoError(t, err)
				require.NotContains(t, string(text), "4111", "%s", text)
			}
		}
	})
}

func merge(a, b object) object {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}
