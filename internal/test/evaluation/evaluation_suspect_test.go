package evaluation_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/test/testkit"
)

// activities catches what a domain registers.
type activities struct {
	worker.Registry
	all any
}

func (a *activities) RegisterActivity(all any) { a.all = all }

// TestAnItemThatKillsItsWorkersEnds executes a chunk whose worker is gone. The
// database says that three workers have died while they scored one of its items,
// and two while they scored another.
func TestAnItemThatKillsItsWorkersEnds(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	for last, codes := range map[string][]string{
		"working": {"", "worker_died", "", ""},
		"ended":   {"", "", "", ""}, // it failed by itself: nobody is accused
	} {
		t.Run("after an attempt that was "+last, func(t *testing.T) {
			t.Parallel()
			c := k.Org(t)
			e := c.Evaluation(t, filled(t, c, cases(4)).ID, map[string]any{"target": map[string]any{"type": "recorded"}})
			r := started(t, c, e.ID, nil)
			ticket := evaluation.Ticket{Org: c.Org, Run: number(t, r.RunID)}
			var caught activities
			k.App.Evaluation.RegisterUnits(&caught)
			env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
			env.RegisterActivity(caught.all)
			_, err := env.ExecuteActivity("BeginRun", ticket)
			require.NoError(t, err)
			conn := k.Owner(t, c.Org)
			var items []int64
			require.NoError(t, conn.QueryRow(t.Context(), "SELECT items FROM evaluation_run_items WHERE run_id = $1", ticket.Run).Scan(&items))
			deaths := fmt.Sprintf(`{"%d/0":3,"%d/0":2}`, items[1], items[2])
			_, err = conn.Exec(t.Context(), `INSERT INTO evaluation_run_chunks (org_id, run_id, chunk, size, done, passed, failed, errored, skipped, cost_nano_usd, updated_at, deaths)
				VALUES ($1, $2, 0, 4, 0, 0, 0, 0, 0, 0, now(), $3)`, c.Org.String(), ticket.Run, deaths)
			require.NoError(t, err)

			env.SetHeartbeatDetails(last)
			_, err = env.ExecuteActivity("ExecuteChunk", evaluation.ChunkInput{Ticket: ticket, From: 0, To: 4, Width: 2})

			require.NoError(t, err)
			found := map[string]string{}
			for _, one := range results(t, c, r) {
				if one.Error != nil {
					found[one.TestCaseID] = api.Value(one.Error.Code)
					require.Contains(t, one.Error.Message, "3 workers died")
				}
			}
			var got []string
			for _, id := range items {
				got = append(got, found[strconv.FormatInt(id, 10)])
			}
			require.Equal(t, codes, got)
			var after string
			require.NoError(t, conn.QueryRow(t.Context(), "SELECT deaths::text FROM evaluation_run_chunks WHERE run_id = $1", ticket.Run).Scan(&after))
			if last == "working" {
				require.JSONEq(t, fmt.Sprintf(`{"%d/0":3}`, items[1]), after, "who survives is not accused any more")
			}
		})
	}
}
