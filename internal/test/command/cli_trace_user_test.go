package command_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestUsersAreListed(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c := k.Org(t)
	do := func(want int, args ...string) result {
		t.Helper()
		got := run([]string{"COLUMNS=80", "ASSAY_URL=" + k.URL, "ASSAY_API_KEY=" + c.Key.Reveal()}, append([]string{"traces", "users"}, args...)...)
		require.Equal(t, want, got.Code, got.Err)
		return got
	}
	require.Contains(t, do(0).Out, "No trace of the last 7 days names a user.")

	const long = "7d9f2c61-5f0e-4a55-9d0c-2a1d6f7b8c90"
	start := time.Now().Add(-time.Hour)
	c.SendOTLP(t, testkit.Spans(
		testkit.OTLPSpan{Name: "ask", Service: "web", Start: start, Duration: time.Second, Attributes: map[string]any{"user.id": "ann", "gen_ai.usage.cost": 0.5}},
		testkit.OTLPSpan{Name: "ask", Service: "web", Start: start, Duration: time.Second, Error: "failed", Attributes: map[string]any{"user.id": "ann", "gen_ai.usage.cost": 1}},
		testkit.OTLPSpan{Name: "ask", Service: "shop", Start: start.Add(-2 * time.Hour), Duration: time.Second, Attributes: map[string]any{"user.id": long}},
	))
	at := func(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
	const heads = "USER                                  LAST ACTIVE       TRACES  FAILED   COST\n"
	require.Equal(t, heads+
		"ann                                   "+at(start)+"       2       1  $1.50\n"+
		long+"  "+at(start.Add(-2*time.Hour))+"       1       0      –\n", do(0).Out)
	require.Contains(t, do(0, "--limit=1").Out, "There are more: use --limit.")
	require.NotContains(t, do(0, "--service=shop").Out, "ann")
	require.NotContains(t, do(0, "--since=2h").Out, long)
	require.Equal(t, "No user matches.\n", do(0, "--environment=staging").Out)
	var found struct {
		EndUsers []struct{ ID string } `json:"end_users"`
	}
	require.NoError(t, json.Unmarshal([]byte(do(0, "--json").Out), &found))
	require.Equal(t, []struct{ ID string }{{"ann"}, {long}}, found.EndUsers)
	require.Contains(t, do(2, "--since=-1m").Err, "--since must not be negative")
	require.Contains(t, do(2, "--limit=0").Err, "--limit is 0")
	require.Contains(t, do(2, "--since=9000h").Err, "92 days")
}
