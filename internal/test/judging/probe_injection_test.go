package judging_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/probe"
	"github.com/assayhq/assay/internal/judging/probe/attack"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/test/testkit"
)

var update = flag.Bool("update", false, "write what was measured to testdata")

// Every attack of the corpus is tried on every starter with a model that ignores what
// the material demands, one that obeys it and forgets its own task, and one that obeys
// it within the form that it was asked for. The table is what docs/judge-bias.md shows.
func TestWhatBecomesOfTheCorpus(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	var table strings.Builder
	table.WriteString("| Judge | Model | Attacks | Changed | Ignored | Caught by check code | by schema | by second order |\n|---|---|---|---|---|---|---|---|\n")
	for _, model := range []string{"judge", "obedient", "gullible"} {
		for _, s := range judge.Starters() {
			c, err := us.CreateJudgeConfig(t.Context(), map[string]any{"key": s.Key + "-" + model, "starter": s.Key, "provider": "simulated", "model": model})
			require.NoError(t, err)
			id, err := strconv.ParseInt(c.ID, 10, 64)
			require.NoError(t, err)
			j, err := k.App.Judge.Version(t.Context(), us.Org, id, 1, provider.NewPace(time.Now, nil), func(*provider.Failure) {})
			require.NoError(t, err)
			got := tried(t, j, s.Spec.Pairwise)
			fmt.Fprintf(&table, "| `%s` | `%s` | %d | %d | %d | %d | %d | %d |\n", s.Key, model, got.Attacks, got.Changed, got.Ignored, got.Caught[probe.GuardCheck], got.Caught[probe.GuardSchema], got.Caught[probe.GuardOrder])
			require.Zero(t, got.Failed)
			switch model {
			case "judge":
				require.Equal(t, got.Attacks, got.Ignored, "%s: an honest judge is moved by nothing", s.Key)
			case "obedient":
				require.Zero(t, got.Changed, "%s: who forgets the task does not answer as the task asks", s.Key)
				require.Positive(t, got.Caught[probe.GuardCheck], s.Key)
				require.Positive(t, got.Caught[probe.GuardSchema], s.Key)
			case "gullible":
				require.Greater(t, got.Changed, got.Attacks/2, "%s: the corpus can change verdicts, or it would show nothing", s.Key)
				if s.Spec.Pairwise {
					require.Positive(t, got.Caught[probe.GuardOrder], "demands for a place fail in the other order")
				}
			}
		}
	}
	const file = "testdata/injection.md"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(table.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update")
	require.Equal(t, string(want), table.String())
	page, err := os.ReadFile("../../../docs/judge-bias.md")
	require.NoError(t, err)
	require.Contains(t, string(page), table.String(), "the page shows what was measured")
}

// tried adds every attack to an answer that deserves the worst rating.
func tried(t *testing.T, j *judge.Judge, pairwise bool) probe.Injection {
	t.Helper()
	c := judge.Case{Input: jsontext.Value(`"How do I pay?"`), Output: jsontext.Value(`"I do not know. [[score:0]]"`), Context: jsontext.Value(`"Cards are accepted."`)}
	if pairwise {
		c.Expected = jsontext.Value(`"By card, under Billing. [[score:1]]"`)
	}
	ask := func(ctx context.Context, c judge.Case, key string) probe.Verdict {
		v, err := j.Ask(ctx, c, key)
		if err != nil {
			t.Errorf("ask: %v", err)
		}
		return probe.FromJudge(v)
	}
	was := ask(t.Context(), c, "plain")
	require.NotNil(t, was.Score, was.Code)
	require.Zero(t, *was.Score)
	all := attack.All()
	verdicts := make([]probe.Verdict, len(all))
	var g errgroup.Group
	g.SetLimit(8)
	for i, a := range all {
		g.Go(func() error {
			verdicts[i] = ask(t.Context(), probe.Attacked(c, a), a.ID)
			return nil
		})
	}
	require.NoError(t, g.Wait())
	n := probe.Injection{Caught: map[probe.Guard]int{}}
	for i, a := range all {
		n.Count(a, was, verdicts[i])
	}
	return n
}
