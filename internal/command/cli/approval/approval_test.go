package approval_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/cli/approval"
)

const asked = `{"id": 7, "state": "approved", "title": "refund-agent asks to use payments/refund", "reason": "refunds\u001b[2J need an approval",
	"side_effect_class": "transact", "reversibility": "compensable", "max_uses": 1, "uses": 0, "expires_at": "2026-11-18T10:00:00Z",
	"constraints": {"max_amount": "200"}, "requirements": [{"rule_id": "baseline/large", "approver_groups": ["admin"], "min_approvals": 2}],
	"votes": [{"actor": {"user_id": "u1"}, "role": "admin", "decision": "approved", "comment": "The goods are back.", "at": "2026-11-17T10:00:00Z"}],
	"request": {"arguments": {"amount": "240.00"}}}`

func TestAnApprovalShowsAllThatADecisionNeeds(t *testing.T) {
	t.Parallel()
	a, err := approval.Read([]byte(asked))
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, approval.Draw(&out, a))
	for _, want := range []string{"7, approved", "payments/refund", "transact, compensable", "0 of 1", "200", "2 of admin (baseline/large)", "The goods are back.", `"amount": "240.00"`} {
		require.Contains(t, out.String(), want)
	}
	require.NotContains(t, out.String(), "\x1b", "an agent wrote it")
}

func TestAListOfApprovals(t *testing.T) {
	t.Parallel()
	l, err := approval.List([]byte(`{"records": [`+asked+`]}`), []string{"There are more."})
	require.NoError(t, err)
	require.Len(t, l.Rows, 1)
	require.Equal(t, "7", l.Rows[0][0])
	require.Equal(t, []string{"transact", "0 of 1"}, l.Rows[0][3:5])
	require.NotEmpty(t, l.Notes)
}

func TestWhoeverAgreesSeesToHowManyActions(t *testing.T) {
	t.Parallel()
	require.Equal(t, "The approval is approved.", approval.Approval{State: "approved", MaxUses: 1}.Outcome())
	require.Equal(t, "The approval is approved. It can be used 1000 times.", approval.Approval{State: "approved", MaxUses: 1000}.Outcome())
	require.Equal(t, "The approval is rejected.", approval.Approval{State: "rejected", MaxUses: 1000}.Outcome())
}
