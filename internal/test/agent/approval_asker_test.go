package agent_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

// asks adds callers to the approvals.
func asks(from, to int) string {
	return fmt.Sprintf(`UPDATE evidence_records SET body = replace(body::text, '"requesters":[', '"requesters":[' ||
		(SELECT string_agg(format('{"type":"api_key","api_key_id":-%%s},', n), '') FROM generate_series(%d, %d) AS n))::json WHERE kind = 'approvals'`, from, to)
}

// repeat adds approvals of the same action, whose time is over.
func repeat(from, to int) string {
	return fmt.Sprintf(`INSERT INTO evidence_records (org_id, kind, id, name, origin, actor, state, body, occurred_at, created_at, updated_at, version)
		SELECT org_id, kind, -n, name, origin, actor, 'expired', body, occurred_at, created_at, updated_at, version
		FROM evidence_records, generate_series(%d, %d) AS n WHERE kind = 'approvals' AND state = 'pending'`, from, to)
}

// TestTooManyRequesters shows that nobody asks for an action, or approves it, if it would not be
// known who asked for it.
func TestTooManyRequesters(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	for name, c := range map[string]struct {
		most string // after it, one more is too many
		more string
	}{
		"callers":  {asks(1, 999), asks(1000, 1000)},
		"requests": {repeat(1, 9999), repeat(10000, 10000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			operator := k.Org(t)
			_, ann := operator.Person(t, principal.Admin)
			_, bob := operator.Person(t, principal.Admin)
			ann.Connector(t, "payments", map[string]string{"refund": "transact"})
			agent := operator.Agent(t)
			ask := func() int64 {
				d, err := agent.Evaluate(t.Context(), approvalRefund("240.00", nil))
				require.NoError(t, err)
				return d.Number("approval_id")
			}
			first := ask()
			k.Exec(t, operator.Org, c.most)
			require.Equal(t, first, ask(), "the same caller asks again")
			_, err := bob.Evaluate(t.Context(), approvalRefund("240.00", nil))
			if name == "callers" {
				require.Equal(t, "too_many_requesters", reason(err), "bob could approve what he asked for")
			} else {
				require.NoError(t, err)
			}
			k.Exec(t, operator.Org, c.more)
			_, err = ann.DecideApproval(t.Context(), first, yes)
			require.Equal(t, "too_many_requesters", reason(err))
			_, err = ann.DecideApproval(t.Context(), first, map[string]any{"decision": "rejected", "comment": "Who asks for this?"})
			require.NoError(t, err)
		})
	}
}

// TestManyRequesters shows that an action that was often asked for can be approved.
func TestManyRequesters(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	operator := k.Org(t)
	_, ann := operator.Person(t, principal.Admin)
	ann.Connector(t, "payments", map[string]string{"refund": "transact"})
	agent := operator.Agent(t)
	d, err := agent.Evaluate(t.Context(), approvalRefund("240.00", nil))
	require.NoError(t, err)
	k.Exec(t, operator.Org, repeat(1, 9999))
	_, err = ann.DecideApproval(t.Context(), d.Number("approval_id"), yes)
	require.NoError(t, err)
	d, err = agent.Evaluate(t.Context(), approvalRefund("240.00", map[string]any{"approvalId": d.Number("approval_id")}))
	require.NoError(t, err)
	require.Equal(t, "allow", d["decision"])
}
