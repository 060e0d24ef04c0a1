package score_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// on runs a test on a single node and on a cluster of two shards.
func on(t *testing.T, fn func(t *testing.T, s *score.Service)) {
	t.Helper()
	for kind, where := range map[string]func(testing.TB) clickhouse.Config{"single": clickhousetest.New, "cluster": clickhousetest.NewCluster} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			fn(t, open(t, where(t), nil))
		})
	}
}

// open is a service on a store of its own.
func open(t *testing.T, cfg clickhouse.Config, log *change.Log) *score.Service {
	t.Helper()
	ch, err := clickhouse.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	inserter, err := clickhouse.NewInserter(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = inserter.Close() })
	return score.New(score.Stores{ClickHouse: ch, Inserter: inserter}, log)
}

var (
	noon  = time.Date(2026, 3, 31, 23, 59, 59, 123_456_000, time.UTC)
	trace = span.TraceID{15: 7}
)

// about is a score with a value and nothing else.
func about(subject score.Subject, source score.Source, value float64, at time.Time) score.Score {
	return score.Score{Subject: subject, Metric: "helpful", Source: source, Value: &value, By: principal.Actor{Type: principal.ActorSystem}, At: at}
}

func ofTrace(id span.TraceID) score.Filter {
	return score.Filter{Kinds: []score.Kind{score.KindTrace, score.KindSpan}, IDs: []string{id.String()}}
}

func TestScoresAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, s *score.Service) {
		ctx, org := t.Context(), principal.NewOrgID()
		whole := score.Score{
			Subject: score.Span(trace, span.ID{7: 1}), Metric: "correctness", Source: score.Source{Kind: score.SourceJudge, ID: "12"}, Record: 99, Separate: true,
			Value: new(0.25), Label: "wrong", Comment: "it differs", Detail: jsontext.Value(`{"Answer":42}`), ConfigVersion: 3,
			By: principal.KeyActor(8), At: noon, RetentionDays: 400,
		}
		bare := score.Score{Subject: score.Trace(trace), Metric: "comment", Source: score.Source{Kind: score.SourceUser}, Comment: "fine", By: principal.Actor{Type: principal.ActorSystem}, At: noon.Add(-time.Second)}
		require.NoError(t, s.Insert(ctx, org, whole, bare))

		got, err := s.List(ctx, org, ofTrace(trace), 10)
		require.NoError(t, err)
		require.Equal(t, []score.Score{whole, bare}, got, "newest first")

		for name, filter := range map[string]score.Filter{
			"another kind":   {Kinds: []score.Kind{score.KindConversation}, IDs: []string{trace.String()}},
			"another id":     ofTrace(span.TraceID{15: 8}),
			"another metric": {Kinds: []score.Kind{score.KindTrace, score.KindSpan}, IDs: []string{trace.String()}, Metrics: []string{"charm"}},
		} {
			got, err := s.List(ctx, org, filter, 10)
			require.NoError(t, err)
			require.Empty(t, got, name)
		}
		got, err = s.List(ctx, principal.NewOrgID(), ofTrace(trace), 10)
		require.NoError(t, err)
		require.Empty(t, got, "another organization's trace may have the same id")

		require.NoError(t, s.Insert(ctx, org, score.Withdrawn(bare, noon)))
		got, err = s.List(ctx, org, ofTrace(trace), 10)
		require.NoError(t, err)
		require.Equal(t, []score.Score{whole}, got, "what was withdrawn is not read")
	})
}

func TestANewerScoreReplacesTheOlderOfItsSource(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, s *score.Service) {
		ctx, org := t.Context(), principal.NewOrgID()
		judge, other, person := score.Source{Kind: score.SourceJudge, ID: "1"}, score.Source{Kind: score.SourceJudge, ID: "2"}, score.Source{Kind: score.SourcePerson, ID: "1"}
		subject := score.Trace(trace)
		// Out of order, over the end of a month, and once more after it was kept
		// for another time.
		newest := about(subject, judge, 0.9, noon.AddDate(0, 1, 0))
		newest.RetentionDays = 3650
		for _, one := range []score.Score{
			newest, about(subject, judge, 0.1, noon), about(subject, judge, 0.5, noon.Add(time.Second)), newest,
			about(subject, other, 0.2, noon), about(subject, person, 0.3, noon), about(score.Span(trace, span.ID{7: 1}), judge, 0.4, noon),
		} {
			require.NoError(t, s.Insert(ctx, org, one))
		}
		got, err := s.List(ctx, org, ofTrace(trace), 10)
		require.NoError(t, err)
		require.Equal(t, newest, got[0])
		var values []float64
		for _, one := range got {
			values = append(values, *one.Value)
		}
		require.ElementsMatch(t, []float64{0.9, 0.2, 0.3, 0.4}, values)

		separate := about(subject, judge, 0.6, noon)
		for separate.Record = 1; separate.Record <= 2; separate.Record++ {
			separate.Separate = true
			require.NoError(t, s.Insert(ctx, org, separate, separate))
		}
		counts, err := s.Count(ctx, org, ofTrace(trace))
		require.NoError(t, err)
		require.Equal(t, map[string]int64{trace.String(): 6}, counts)
	})
}

func TestEverySubjectHasItsOwnKey(t *testing.T) {
	t.Parallel()
	require.Equal(t, []score.Subject{
		{Kind: "trace", ID: "00000000000000000000000000000007"},
		{Kind: "span", ID: "00000000000000000000000000000007", Part: "0000000000000001"},
		{Kind: "run_item", ID: "5", Part: "6/1"},
		{Kind: "match", ID: "5"},
		{Kind: "conversation", ID: "thread 8"},
	}, []score.Subject{score.Trace(trace), score.Span(trace, span.ID{7: 1}), score.RunItem(5, 6, 1), score.Match(5), score.Conversation("thread 8")})
}

func TestScoresOfADeletedSubjectGo(t *testing.T) {
	t.Parallel()
	ctx, org := t.Context(), principal.NewOrgID()
	s := open(t, clickhousetest.New(t), nil)
	kept := span.TraceID{15: 8}
	source := score.Source{Kind: score.SourceCode}
	require.NoError(t, s.Insert(ctx, org, about(score.Trace(trace), source, 1, noon), about(score.Span(trace, span.ID{1}), source, 1, noon.AddDate(0, 1, 0)), about(score.Trace(kept), source, 1, noon)))

	require.NoError(t, s.Hide(ctx, org, ofTrace(trace), time.Time{}))
	got, err := s.List(ctx, org, ofTrace(trace), 10)
	require.NoError(t, err)
	require.Empty(t, got)
	later := noon.AddDate(0, 2, 0)
	require.NoError(t, s.Insert(ctx, org, about(score.Trace(trace), source, 0, later)))

	for range 2 {
		require.NoError(t, s.Hide(ctx, org, ofTrace(trace), later.Add(-time.Second)))
	}
	got, err = s.List(ctx, org, ofTrace(trace), 10)
	require.NoError(t, err)
	require.Len(t, got, 1, "what came after the deletion is of another trace with the same id")
	got, err = s.List(ctx, org, ofTrace(kept), 10)
	require.NoError(t, err)
	require.Len(t, got, 1)
}

func TestACallerDoesNotWaitForAServerThatHangs(t *testing.T) {
	t.Parallel()
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	s := open(t, clickhouse.Config{URL: secret.Text("clickhouse://assay@" + silent.Addr().String() + "/assay"), ReaderURL: secret.Text("clickhouse://reader@" + silent.Addr().String() + "/assay")}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	require.False(t, s.Keep(ctx, principal.NewOrgID(), about(score.Match(1), score.Source{Kind: score.SourceCode}, 1, noon)))
	require.NoError(t, ctx.Err())
}

func TestAnOutageIsUnavailable(t *testing.T) {
	t.Parallel()
	s := open(t, clickhouse.Config{URL: "clickhouse://assay@127.0.0.1:1/assay", ReaderURL: "clickhouse://reader@127.0.0.1:1/assay"}, nil)
	require.ErrorIs(t, s.Insert(t.Context(), principal.NewOrgID(), about(score.Match(1), score.Source{Kind: score.SourceCode}, 1, noon)), clickhouse.ErrUnavailable)
	require.False(t, s.Keep(t.Context(), principal.NewOrgID(), about(score.Match(1), score.Source{Kind: score.SourceCode}, 1, noon)))
}
