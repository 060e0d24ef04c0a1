package approval_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/testkit"
)

func TestWhoeverIsNotRememberedIsRefused(t *testing.T) {
	t.Parallel()
	operator := testkit.Large(t).Org(t)
	_, ann := operator.Person(t, principal.Admin)
	_, bob := operator.Person(t, principal.Admin)
	ann.Connector(t, "payments", map[string]string{"refund": "transact"})
	id := int64(0)
	for range 100 {
		d, err := operator.Agent(t).Evaluate(t.Context(), refund("240.00", nil))
		require.NoError(t, err)
		id = d.Number("approval_id")
	}
	_, err := bob.Evaluate(t.Context(), refund("240.00", nil))
	require.Equal(t, "too_many_requesters", reason(err), "bob could approve what he asked for")
	_, err = ann.DecideApproval(t.Context(), id, map[string]any{"decision": "rejected", "comment": "Who asks for this?"})
	require.NoError(t, err)
}

func TestNobodyApprovesWhatTooManyRequestsName(t *testing.T) {
	t.Parallel()
	operator := testkit.Large(t).Org(t)
	_, ann := operator.Person(t, principal.Admin)
	ann.Connector(t, "payments", map[string]string{"refund": "transact"})
	agent := operator.Agent(t)
	d, err := agent.Evaluate(t.Context(), refund("240.00", nil))
	require.NoError(t, err)
	var events []any
	for i := range 1000 {
		events = append(events, map[string]any{
			"id": strconv.Itoa(i), "source": "//agent", "type": "agent-evidence.approvals",
			"data": map[string]any{"title": "t", "reason": "r", "inputDigest": d["input_digest"]},
		})
	}
	in, err := agent.Ingest(t.Context(), map[string]any{"producer": map[string]any{"runtimeKey": "refund-agent"}, "events": events})
	require.NoError(t, err)
	require.Equal(t, 1000, in.Accepted)
	_, err = ann.DecideApproval(t.Context(), d.Number("approval_id"), yes)
	require.Equal(t, "too_many_requesters", reason(err))
}
