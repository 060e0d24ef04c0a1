package agent_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// TestOccurrencesInOneEnvelope shows the same failures many times in an envelope: each is
// counted, whether the failure is new, known or was fixed.
func TestOccurrencesInOneEnvelope(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	ctx := t.Context()
	sent := 0
	calls := func(number int) {
		var events []map[string]any
		for range number {
			for _, tool := range []string{"search", "refund"} {
				sent++
				events = append(events, event(strconv.Itoa(sent), "agent-evidence.tool-invocation-evidence", map[string]any{
					"invocationId": strconv.Itoa(sent), "toolName": tool, "status": "failed", "error": map[string]any{"message": "boom"},
				}))
			}
		}
		out, err := us.IngestEvidence(ctx, envelope(events...))
		require.NoError(t, err)
		require.EqualValues(t, len(events), out.Accepted)
	}
	found := func() []testkit.Evidence {
		all, _, err := us.ListEvidence(ctx, "failures", "")
		require.NoError(t, err)
		require.Len(t, all, 2)
		return all
	}
	calls(3)
	for _, f := range found() {
		require.EqualValues(t, 3, f["occurrences"])
	}
	calls(4)
	for _, f := range found() {
		require.EqualValues(t, 7, f["occurrences"])
		require.EqualValues(t, 1, f["version"], "another occurrence is not a change")
	}
	fixed := found()[0].ID()
	for _, state := range []string{"triaged", "fixed"} {
		_, err := us.UpdateEvidence(ctx, "failures", fixed, map[string]any{"state": state})
		require.NoError(t, err)
	}
	calls(2)
	for _, f := range found() {
		require.EqualValues(t, 9, f["occurrences"])
		require.Equal(t, f.ID() == fixed, f["regressed"])
		require.Equal(t, "open", f["state"])
		if f.ID() == fixed {
			require.EqualValues(t, 4, f["version"], "it is open again once")
		}
	}
}
