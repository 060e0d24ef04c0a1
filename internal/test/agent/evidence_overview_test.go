package agent_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestOverviewOfMany has more events than are counted one by one. Some of those that were
// not understood at first are understood now.
func TestOverviewOfMany(t *testing.T) {
	t.Parallel()
	kit := testkit.Shared(t)
	us := kit.Org(t)
	step := map[string]any{"primitiveType": "model_call", "status": "running", "startedAt": "2026-01-31T12:00:00Z", "idempotencyKey": "one"}
	_, err := us.PostEvidence(t.Context(), "primitive-step-runs", step)
	require.NoError(t, err)
	ch, err := clickhouse.Open(kit.App.Config.ClickHouse)
	require.NoError(t, err)
	defer func() { _ = ch.Close() }()
	// Two of three are older than a day, and 9,998 are still not understood.
	const insert = `INSERT INTO evidence (org_id, kind, id, replaces, origin, actor, state, created_at, updated_at, occurred_at, body, retention_days)
		SELECT '%s', 'raw-events', number + 1000, %d, 'ingested', 'system', '%s', at, at, at, '{}', 400 FROM (SELECT number, now64(3, 'UTC') - toIntervalDay(number %% 3) AS at FROM numbers(%d))`
	require.NoError(t, ch.Writer().Exec(t.Context(), fmt.Sprintf(insert, us.Org, 1, "unmapped", 120_000)))
	require.NoError(t, ch.Writer().Exec(t.Context(), fmt.Sprintf(insert, us.Org, 2, "normalized", 110_002)))
	type count struct {
		Resource  string `json:"resource"`
		Count     int64  `json:"count"`
		Last24H   int64  `json:"last_24h"`
		Precision string `json:"precision"`
		LatestAt  any    `json:"latest_at"`
	}
	var out struct {
		Kinds     []count `json:"kinds"`
		Attention struct {
			Unmapped int64 `json:"unmapped_raw_events"`
		} `json:"attention"`
	}
	_, err = us.Call(t.Context(), http.MethodGet, "/api/agent-evidence", nil, &out)
	require.NoError(t, err)
	for _, k := range out.Kinds {
		require.Equal(t, k.Count > 0, k.LatestAt != nil, k.Resource)
		switch k.LatestAt = nil; k.Resource {
		case "raw-events":
			require.Equal(t, "about", k.Precision)
			require.GreaterOrEqual(t, k.Count, int64(120_000))
			require.InDelta(t, 40_000, k.Last24H, 1_000)
		case "primitive-step-runs":
			require.Equal(t, count{k.Resource, 1, 1, "exact", nil}, k)
		default:
			require.Equal(t, count{k.Resource, 0, 0, "exact", nil}, k)
		}
	}
	require.EqualValues(t, 120_000-110_002, out.Attention.Unmapped)
}
