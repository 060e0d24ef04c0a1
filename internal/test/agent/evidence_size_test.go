package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// bulky is attributes of about 200 KB that nothing else has.
func bulky(n int) map[string]any {
	return map[string]any{"attributes": map[string]any{fmt.Sprintf("part_%d", n): strings.Repeat("x", 200<<10)}}
}

// sizeOf is the length of a record in JSON.
func sizeOf(t *testing.T, r testkit.Evidence) int {
	t.Helper()
	text, err := json.Marshal(r)
	require.NoError(t, err)
	return len(text)
}

// TestRecordsDoNotGrowWithoutEnd adds to records again and again.
func TestRecordsDoNotGrowWithoutEnd(t *testing.T) {
	t.Parallel()
	const most = 600 << 10
	ctx := t.Context()
	k := testkit.Shared(t)

	t.Run("by changes", func(t *testing.T) {
		t.Parallel()
		us := k.Org(t)
		e, err := us.PostEvidence(ctx, "side-effect-ledger", entry("dispatched", "k1", nil))
		require.NoError(t, err)
		for n := range 3 {
			_, err = us.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), bulky(n))
		}
		require.Equal(t, "invalid_request", reason(err))
		_, err = us.UpdateEvidence(ctx, "side-effect-ledger", e.ID(), map[string]any{"state": "acknowledged"})
		require.NoError(t, err, "it can still change")
	})

	t.Run("by reports", func(t *testing.T) {
		t.Parallel()
		us := k.Org(t)
		for _, kind := range []string{"runtimes", "tool-invocation-evidence"} {
			var events []map[string]any
			for n := range 6 {
				data := bulky(n)
				data["invocationId"], data["toolName"], data["toolType"], data["status"] = "call_1", "refund", "mcp", "dispatched"
				if n == 5 {
					data["status"] = "succeeded"
				}
				if kind == "runtimes" {
					data = bulky(n)
					data["runtimeKey"] = "refund-agent"
				}
				events = append(events, event(fmt.Sprintf("%s %d", kind, n), "agent-evidence."+kind, data))
			}
			in, err := us.IngestEvidence(ctx, envelope(events...))
			require.NoError(t, err)
			require.EqualValues(t, 6, in.Accepted, "%+v", in.Results)
		}
		for _, kind := range []string{"runtimes", "tool-invocation-evidence"} {
			query := map[string]string{"runtimes": "runtimeKey=refund-agent"}[kind]
			all, _, err := us.ListEvidence(ctx, kind, query)
			require.NoError(t, err)
			require.Equal(t, 1, len(all)) //nolint:testifylint // it would print all
			require.Less(t, sizeOf(t, all[0]), most)
			_, first := all[0]["attributes"].(map[string]any)["part_0"]
			require.True(t, first, "what was known stays")
			if kind != "runtimes" {
				require.Equal(t, "succeeded", all[0]["status"], "and how it went on is known")
			}
		}
	})
}
