package evaluation_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestABudgetStopsARun(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	var n atomic.Int32
	target := application(t, func(w http.ResponseWriter, _ *http.Request) {
		n.Add(1)
		_, _ = fmt.Fprint(w, `{"output":"answer 0","usage":{"cost_usd":0.01}}`)
	})
	d := filled(t, c, cases(300))
	e := c.Evaluation(t, d.ID, map[string]any{"target": target})

	r := ran(t, c, e.ID, map[string]any{"budgetUsd": 0.2, "concurrency": 4})

	require.Equal(t, "failed", r.Status)
	require.Equal(t, "budget_exceeded", r.Error.Code)
	require.Contains(t, r.Error.Message, "0.2000")
	require.GreaterOrEqual(t, r.CostUSD, 0.2)
	require.Less(t, r.CostUSD, 0.2+0.1, "a few were under way")
	require.InDelta(t, float64(n.Load())/100, r.CostUSD, 1e-9, "what was paid is what is reported")
	require.Len(t, results(t, c, r), int(r.Items))
	require.NotNil(t, r.Overall, "results so far are kept and added up")

	enough := ran(t, c, e.ID, map[string]any{"budgetUsd": 1, "sampleSize": 20})
	require.Equal(t, "completed", enough.Status)
	require.InDelta(t, 0.2, enough.CostUSD, 1e-9)
}

func TestASpendCapStopsARun(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	_, err := c.UpdateOrganization(t.Context(), map[string]any{
		"modelSpendCapUsd": 0.2, "priceOverrides": map[string]any{"echo": map[string]any{"inputPerMillion": 1000, "outputPerMillion": 1000}},
	})
	require.NoError(t, err)
	d := filled(t, c, cases(300))
	e := c.Evaluation(t, d.ID, map[string]any{"target": map[string]any{"type": "model", "provider": "simulated", "model": "echo", "prompt": "{{input}}"}})

	r := ran(t, c, e.ID, map[string]any{"concurrency": 4})

	require.Equal(t, "failed", r.Status)
	require.Equal(t, "spend_cap_reached", r.Error.Code)
	require.Contains(t, r.Error.Message, "The spend cap of the organization is reached")
	require.InDelta(t, 0.2, r.CostUSD, 0.06, "a few were under way")
	require.Len(t, results(t, c, r), int(r.Items))

	_, err = c.UpdateOrganization(t.Context(), map[string]any{"modelSpendCapUsd": 100})
	require.NoError(t, err)
	whole := ran(t, c, e.ID, map[string]any{"resumeRunId": r.RunID})
	require.Equal(t, "completed", whole.Status, "%+v", whole.Error)
	require.EqualValues(t, 300, whole.Items)
}
