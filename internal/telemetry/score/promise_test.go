package score_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/db"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/postgres/postgrestest"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// organization makes one in a database whose schema is of some version.
func organization(t *testing.T, cfg postgres.Config) (principal.OrgID, *pgx.Conn) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), cfg.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	org := principal.NewOrgID()
	_, err = conn.Exec(t.Context(), "SELECT set_config('app.org', $1, false)", org.String())
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "INSERT INTO organizations (id, name, created_at) VALUES ($1, 'Ours', now())", uuid.UUID(org))
	require.NoError(t, err)
	return org, conn
}

func TestAPromisedScoreIsStored(t *testing.T) {
	t.Parallel()
	ctx, cfg := t.Context(), postgrestest.New(t)
	org, _ := organization(t, cfg)
	pg, err := postgres.Open(ctx, cfg)
	require.NoError(t, err)
	t.Cleanup(pg.Close)
	now := noon
	log := change.New(pg, func() time.Time { return now })
	where := clickhousetest.New(t)
	s := open(t, where, log)
	ch, err := clickhouse.Open(where)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	rows := func() int {
		var n uint64
		require.NoError(t, ch.Writer().QueryRow(ctx, "SELECT count() FROM (SELECT DISTINCT _part, _part_offset FROM scores)").Scan(&n))
		return int(n)
	}
	outbox := log.NewDispatcher(nil, s.Handlers())
	one := about(score.Trace(trace), score.Source{Kind: score.SourceUser, ID: "u"}, 1, noon)
	one.By = principal.KeyActor(4)
	promise := func() {
		require.NoError(t, postgres.InTx(ctx, pg, org, func(tx postgres.Tx) error { return s.PromiseTx(ctx, tx, one) }))
	}
	stored := func() []score.Score {
		got, err := s.List(ctx, org, ofTrace(trace), 10)
		require.NoError(t, err)
		return got
	}

	// Nobody keeps the first promise.
	promise()
	n, err := outbox.Once(ctx)
	require.NoError(t, err)
	require.Zero(t, n, "whoever promised it is given time")
	require.Empty(t, stored())
	now = now.Add(time.Minute)
	n, err = outbox.Once(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, []score.Score{one}, stored())

	// The second one is kept before its time comes, and a newer score is there by
	// then.
	one.At, one.Value = now, new(0.5)
	promise()
	require.True(t, s.Keep(ctx, org, one))
	require.Equal(t, 2, rows())
	newer := one
	newer.At = now.Add(time.Second)
	require.NoError(t, s.Insert(ctx, org, newer))
	now = now.Add(time.Minute)
	n, err = outbox.Once(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, []score.Score{newer}, stored())
	require.Equal(t, 3, rows(), "what is stored is not stored again")

	// The third is taken back.
	one.At = now
	promise()
	require.NoError(t, postgres.InTx(ctx, pg, org, func(tx postgres.Tx) error { return s.WithdrawTx(ctx, tx, one.Subject, now) }))
	now = now.Add(time.Minute)
	n, err = outbox.Once(ctx)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, []score.Score{newer}, stored())
}

// TestFeedbackOfAnOlderVersionBecomesScores upgrades a database that has some.
func TestFeedbackOfAnOlderVersionBecomesScores(t *testing.T) {
	t.Parallel()
	ctx, cfg := t.Context(), postgrestest.Empty(t)
	_, err := postgres.MigrateTo(ctx, cfg, db.Postgres(), 20261115214500)
	require.NoError(t, err)
	org, conn := organization(t, cfg)
	person, at := uuid.New(), time.Now().UTC().Truncate(time.Microsecond)
	_, err = conn.Exec(ctx, `
		INSERT INTO trace_feedback (org_id, trace_id, span_id, type, value, comment, user_id, creator, created_at) VALUES
		($1, $2, NULL, 'thumbs', 'true', '', 'u-1', 'service_key/4', $3),
		($1, $2, NULL, 'thumbs', 'false', 'no', 'u-1', 'service_key/4', $3),
		($1, $2, NULL, 'rating', '0.75', '', '', $4, $3),
		($1, $2, $5, 'comment', NULL, 'fine', '', 'system', $3),
		($1, $2, NULL, 'correction', '{"Answer":null}', '', '', 'service_key/4', $3),
		($1, $2, NULL, 'rating', '1e-400', '', '', 'service_key/4', $3)`,
		uuid.UUID(org), trace[:], at, "user/"+person.String(), []byte{0, 0, 0, 0, 0, 0, 0, 1})
	require.NoError(t, err)

	_, err = postgres.Migrate(ctx, cfg, db.Postgres())
	require.NoError(t, err)
	pg, err := postgres.Open(ctx, cfg)
	require.NoError(t, err)
	t.Cleanup(pg.Close)
	log := change.New(pg, time.Now)
	s := open(t, clickhousetest.New(t), log)
	var late int64
	require.NoError(t, conn.QueryRow(ctx, `INSERT INTO trace_feedback (org_id, trace_id, type, comment, created_at)
		VALUES ($1, $2, 'comment', 'by a binary from before', $3) RETURNING id`, uuid.UUID(org), trace[:], at).Scan(&late))
	require.EqualValues(t, 7, late)
	_, err = conn.Exec(ctx, "DELETE FROM trace_feedback WHERE org_id = $1 AND trace_id = $2", uuid.UUID(org), trace[:])
	require.NoError(t, err)
	n, err := log.NewDispatcher(nil, s.Handlers()).Once(ctx)
	require.NoError(t, err)
	require.Equal(t, 7, n)

	whole := score.Score{Subject: score.Trace(trace), Separate: true, Source: score.Source{Kind: score.SourceUser}, By: principal.KeyActor(4), At: at, RetentionDays: 3650}
	var want []score.Score
	add := func(change func(*score.Score)) {
		one := whole
		one.Record = int64(len(want) + 1)
		change(&one)
		want = append(want, one)
	}
	add(func(s *score.Score) {
		s.Metric, s.Source.ID, s.Value, s.Label, s.Detail = "feedback.thumbs", "u-1", new(1.0), "up", jsontext.Value("true")
	})
	add(func(s *score.Score) {
		s.Metric, s.Source.ID, s.Value, s.Label, s.Detail, s.Comment = "feedback.thumbs", "u-1", new(0.0), "down", jsontext.Value("false"), "no"
	})
	add(func(s *score.Score) {
		s.Metric, s.Source, s.Value, s.Detail, s.By = "feedback.rating", score.Source{Kind: score.SourcePerson, ID: person.String()}, new(0.75), jsontext.Value("0.75"), principal.UserActor(person, false)
	})
	add(func(s *score.Score) {
		s.Subject, s.Metric, s.Comment, s.Detail, s.By = score.Span(trace, span.ID{7: 1}), "feedback.comment", "fine", jsontext.Value("null"), principal.Actor{Type: principal.ActorSystem}
	})
	add(func(s *score.Score) { s.Metric, s.Detail = "feedback.correction", jsontext.Value(`{"Answer":null}`) })
	add(func(s *score.Score) {
		s.Metric, s.Value, s.Detail = "feedback.rating", new(0.0), jsontext.Value("1e-400")
	})
	add(func(s *score.Score) {
		s.Metric, s.Comment, s.Detail, s.By = "feedback.comment", "by a binary from before", jsontext.Value("null"), principal.Actor{Type: principal.ActorSystem}
	})
	got, err := s.List(ctx, org, ofTrace(trace), 10)
	require.NoError(t, err)
	require.ElementsMatch(t, want, got)

	var next int64
	require.NoError(t, conn.QueryRow(ctx, "SELECT nextval('feedback_ids')").Scan(&next))
	require.EqualValues(t, 8, next)
}
