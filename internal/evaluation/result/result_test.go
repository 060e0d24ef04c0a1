package result_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
)

// on runs a test on a single node and on a cluster of two shards.
func on(t *testing.T, fn func(t *testing.T, s *result.Service)) {
	t.Helper()
	for kind, where := range map[string]func(testing.TB) clickhouse.Config{"single": clickhousetest.New, "cluster": clickhousetest.NewCluster} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			fn(t, open(t, where(t)))
		})
	}
}

// open is a service on a store of its own.
func open(t *testing.T, cfg clickhouse.Config) *result.Service {
	t.Helper()
	ch, err := clickhouse.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	inserter, err := clickhouse.NewInserter(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = inserter.Close() })
	var ticks atomic.Int64 // later writes are later
	now := func() time.Time { return start.Add(time.Duration(ticks.Add(1)) * time.Millisecond) }
	return result.New(result.Stores{ClickHouse: ch, Inserter: inserter}, now)
}

var start = time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC)

func newRun() result.Run {
	return result.Run{Org: principal.NewOrgID(), ID: 7, Started: start}
}

func number(v float64) *float64 { return &v }

// whole is an outcome with everything.
func whole(item int64, epoch int) result.Outcome {
	took, cost := 1500*time.Microsecond, uint64(290_000_000)
	return result.Outcome{
		Key: result.Key{Item: item, Epoch: epoch}, Content: [16]byte{1, 0, 2}, Cluster: "talk", Weight: 2.5, Status: result.StatusPassed,
		Output: jsontext.Value(`{"text":"so"}`), ToolCalls: jsontext.Value(`[{"name":"look"}]`), Trace: [16]byte{9, 0}, Duration: &took, CostNanoUSD: &cost,
		InputTokens: 3, OutputTokens: 4, Calls: 2, Attempts: jsontext.Value(`[{"code":"timeout","message":"late"}]`), Overall: number(0.75),
		Scores: []result.Score{
			{Metric: "contains", Reason: "not_configured", Explanation: "Nothing to look for."},
			{Metric: "exact_match", Value: number(0), Explanation: "It differs."},
			{Metric: "similarity", Value: number(0.75)},
		},
	}
}

// plain is an outcome with one score.
func plain(item int64, status result.Status, value *float64) result.Outcome {
	return result.Outcome{
		Key: result.Key{Item: item}, Weight: 1, Status: status, Overall: value,
		Scores: []result.Score{{Metric: "exact_match", Value: value}},
	}
}

func page(ctx context.Context, t *testing.T, s *result.Service, r result.Run, f result.Filter) ([]result.Outcome, int) {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = 100
	}
	all, more, err := s.Page(ctx, r, f)
	require.NoError(t, err)
	require.False(t, more && len(all) < f.Limit, "the outcomes of these tests are small")
	total, err := s.Count(ctx, r, f)
	require.NoError(t, err)
	return all, total
}

func TestOutcomesAreKeptWhole(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, s *result.Service) {
		ctx, r := t.Context(), newRun()
		bare := result.Outcome{Key: result.Key{Item: 2}, Status: result.StatusErrored, ErrorCode: "timeout", ErrorMessage: "It was late."}
		require.NoError(t, s.Insert(ctx, r, []result.Outcome{whole(1, 0), bare}))

		all, total := page(ctx, t, s, r, result.Filter{})

		require.Equal(t, 2, total)
		require.Equal(t, []result.Outcome{whole(1, 0), bare}, all)
		require.NoError(t, s.Insert(ctx, r, nil), "nothing can be stored too")
	})
}

func TestInsertingTwiceIsInsertingOnce(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, s *result.Service) {
		ctx, r := t.Context(), newRun()
		for range 3 {
			require.NoError(t, s.Insert(ctx, r, []result.Outcome{whole(1, 0), whole(1, 1), whole(2, 0)}))
		}
		changed := plain(2, result.StatusFailed, number(0.25))
		changed.Scores = append(changed.Scores, result.Score{Metric: "similarity", Reason: "not_computed"}, result.Score{Metric: "contains", Reason: "not_computed"})
		require.NoError(t, s.Insert(ctx, r, []result.Outcome{changed}))

		all, total := page(ctx, t, s, r, result.Filter{})
		require.Equal(t, 3, total)
		require.Equal(t, []result.Key{{Item: 1}, {Item: 1, Epoch: 1}, {Item: 2}}, keys(all))
		require.Equal(t, result.StatusFailed, all[2].Status)
		require.Empty(t, all[2].Output, "a later outcome replaces the whole of an earlier one")
		tallies, err := s.Tallies(ctx, r)
		require.NoError(t, err)
		require.Equal(t, []result.Tally{
			{Status: result.StatusFailed, Outcomes: 1},
			{Status: result.StatusPassed, Outcomes: 2, CostNanoUSD: 580_000_000, InputTokens: 6, OutputTokens: 8, Calls: 4},
		}, tallies)
		measures, err := s.Measures(ctx, r, "similarity")
		require.NoError(t, err)
		require.Equal(t, []result.Measure{
			{Key: result.Key{Item: 1}, Value: 0.75, Scored: true},
			{Key: result.Key{Item: 1, Epoch: 1}, Value: 0.75, Scored: true},
			{Key: result.Key{Item: 2}, Reason: "not_computed"},
		}, measures, "a later score replaces an earlier one")
		briefs, err := s.Briefs(ctx, r)
		require.NoError(t, err)
		require.Equal(t, []result.Brief{brief(whole(1, 0)), brief(whole(1, 1)), brief(changed)}, briefs)
		done, err := s.Done(ctx, r, []int64{1, 3})
		require.NoError(t, err)
		require.Len(t, done, 2, "both repetitions of the one that is there")
		require.ElementsMatch(t, briefs[:2], done)
	})
}

func brief(o result.Outcome) result.Brief { return o.Brief() }

func keys(all []result.Outcome) (out []result.Key) {
	for _, o := range all {
		out = append(out, o.Key)
	}
	return out
}

func TestPage(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, s *result.Service) {
		ctx, r := t.Context(), newRun()
		statuses := []result.Status{result.StatusPassed, result.StatusFailed, result.StatusErrored, result.StatusSkipped}
		var all []result.Outcome
		for i := range 12 {
			o := plain(int64(i+1), statuses[i%4], number(float64(i)/10))
			if o.Status == result.StatusErrored || o.Status == result.StatusSkipped {
				o.Overall, o.Scores = nil, nil
			}
			all = append(all, o)
		}
		slices.Reverse(all) // the order of writing does not matter
		for _, o := range all {
			require.NoError(t, s.Insert(ctx, r, []result.Outcome{o}))
		}
		require.NoError(t, s.Insert(ctx, r, []result.Outcome{{Key: result.Key{Item: 5, Epoch: 1}, Status: result.StatusPassed}}))
		// Neither another run of the organization, nor the same number of
		// another, is this one.
		other, foreign := r, newRun()
		other.ID = 8
		require.NoError(t, s.Insert(ctx, other, []result.Outcome{plain(1, result.StatusPassed, number(1))}))
		require.NoError(t, s.Insert(ctx, foreign, []result.Outcome{plain(1, result.StatusPassed, number(1))}))

		for name, one := range map[string]struct {
			filter result.Filter
			items  []int64
			total  int
		}{
			"everything":          {result.Filter{}, []int64{1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 11, 12}, 13},
			"a status":            {result.Filter{Statuses: []result.Status{result.StatusErrored}}, []int64{3, 7, 11}, 3},
			"several statuses":    {result.Filter{Statuses: []result.Status{result.StatusErrored, result.StatusSkipped}}, []int64{3, 4, 7, 8, 11, 12}, 6},
			"some items":          {result.Filter{Items: []int64{5, 9, 99}}, []int64{5, 5, 9}, 3},
			"a page":              {result.Filter{Limit: 3, Offset: 4}, []int64{5, 5, 6}, 13},
			"after an outcome":    {result.Filter{After: result.Key{Item: 5}, Limit: 2}, []int64{5, 6}, 8},
			"behind the last":     {result.Filter{Limit: 3, Offset: 40}, nil, 13},
			"scored by a metric":  {result.Filter{Metric: "exact_match"}, []int64{1, 2, 5, 6, 9, 10}, 6},
			"scored at most":      {result.Filter{Metric: "exact_match", MaxScore: number(0.4)}, []int64{1, 2, 5}, 3},
			"scored at least":     {result.Filter{Metric: "exact_match", MinScore: number(0.5)}, []int64{6, 9, 10}, 3},
			"scored between":      {result.Filter{Metric: "exact_match", MinScore: number(0.1), MaxScore: number(0.4)}, []int64{2, 5}, 2},
			"scored and a status": {result.Filter{Metric: "exact_match", Statuses: []result.Status{result.StatusFailed}, MaxScore: number(0.5)}, []int64{2, 6}, 2},
			"by no metric":        {result.Filter{Metric: "charm"}, nil, 0},
		} {
			got, total := page(ctx, t, s, r, one.filter)
			var items []int64
			for _, k := range keys(got) {
				items = append(items, k.Item)
			}
			require.Equal(t, one.items, items, name)
			require.Equal(t, one.total, total, name)
		}
		briefs, err := s.Briefs(ctx, r)
		require.NoError(t, err)
		require.Len(t, briefs, 13)
	})
}

func TestALargeRunIsReadWhole(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, s *result.Service) {
		ctx, r := t.Context(), newRun()
		const n = 5000
		var all []result.Outcome
		var items []int64
		for i := range n {
			all = append(all, plain(int64(i+1), result.StatusPassed, number(1)))
			items = append(items, int64(i+1))
		}
		require.NoError(t, s.Insert(ctx, r, all))
		done, err := s.Done(ctx, r, items)
		require.NoError(t, err)
		require.Len(t, done, n)
		briefs, err := s.Briefs(ctx, r)
		require.NoError(t, err)
		require.Len(t, briefs, n)
		for i, b := range briefs {
			require.EqualValues(t, i+1, b.Item)
		}
	})
}

// A single node: the cluster of tests has no Keeper, which statements for every
// node go through.
func TestErase(t *testing.T) {
	t.Parallel()
	ctx, s, r := t.Context(), open(t, clickhousetest.New(t)), newRun()
	kept, foreign := r, newRun()
	kept.ID = 9
	later := result.Run{Org: r.Org, ID: 8, Started: start.AddDate(0, 1, 0)} // in another partition
	for _, run := range []result.Run{r, later, kept, foreign} {
		require.NoError(t, s.Insert(ctx, run, []result.Outcome{whole(1, 0), whole(2, 0)}))
	}
	for range 2 {
		require.NoError(t, s.Erase(ctx, r.Org, []int64{r.ID, later.ID, 4711}))
		for run, want := range map[result.Run]int{r: 0, later: 0, kept: 2, foreign: 2} {
			_, total := page(ctx, t, s, run, result.Filter{})
			require.Equal(t, want, total)
			tallies, err := s.Tallies(ctx, run)
			require.NoError(t, err)
			require.Equal(t, want == 0, len(tallies) == 0)
		}
	}
}

func TestAnOutageIsUnavailable(t *testing.T) {
	t.Parallel()
	away := clickhouse.Config{URL: "clickhouse://assay@127.0.0.1:1/assay", ReaderURL: "clickhouse://reader@127.0.0.1:1/assay"}
	inserter, err := clickhouse.NewInserter(away)
	require.NoError(t, err)
	t.Cleanup(func() { _ = inserter.Close() })
	s := result.New(result.Stores{Inserter: inserter}, time.Now)
	require.ErrorIs(t, s.Insert(t.Context(), newRun(), []result.Outcome{whole(1, 0)}), clickhouse.ErrUnavailable)
}

func TestAPageEndsWhenItHasEnoughBytes(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, s *result.Service) {
		ctx, r := t.Context(), newRun()
		const size = 3 << 20
		var all []result.Outcome
		for item := range int64(7) {
			o := plain(item+1, result.StatusPassed, number(1))
			o.Output = jsontext.Value(`"` + strings.Repeat("a", size) + `"`)
			all = append(all, o)
		}
		require.NoError(t, s.Insert(ctx, r, all))

		var pages []int
		f := result.Filter{Limit: 100}
		for more := true; more; {
			var page []result.Outcome
			var err error
			page, more, err = s.Page(ctx, r, f)
			require.NoError(t, err)
			pages = append(pages, len(page))
			f.After = page[len(page)-1].Key
		}

		require.Equal(t, []int{3, 3, 1}, pages, "each ends with the outcome that fills it")
	})
}
