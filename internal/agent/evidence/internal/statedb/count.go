package statedb

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// CountRecords returns how many things that last there are of each kind. It stops counting
// at record.MaxCounted.
func (s DB) CountRecords(ctx context.Context, org principal.OrgID, since time.Time) (map[kind.Name]record.Count, error) {
	var kinds []string
	for i := range kind.Kinds {
		if kind.Kinds[i].Class == kind.State {
			kinds = append(kinds, string(kind.Kinds[i].Name))
		}
	}
	var q question
	names := q.arg(kinds)
	of, at, most := "org_id = "+q.arg(org)+" AND kind = k.kind", q.arg(since), q.arg(record.MaxCounted+1)
	out := map[kind.Name]record.Count{}
	err := ask(ctx, s.db.Org(org), "SELECT k.kind, c.records, d.recent, l.created_at FROM unnest("+names+"::text[]) AS k (kind)"+
		" CROSS JOIN LATERAL (SELECT created_at FROM evidence_records WHERE "+of+" ORDER BY id DESC LIMIT 1) AS l"+
		" CROSS JOIN LATERAL (SELECT count(*) AS records FROM (SELECT FROM evidence_records WHERE "+of+" LIMIT "+most+") AS r) AS c"+
		" CROSS JOIN LATERAL (SELECT count(*) AS recent FROM (SELECT FROM evidence_records WHERE "+of+" AND created_at > "+at+
		" AND id >= "+turn("low", of, at+"::timestamptz - interval '1 hour'")+" LIMIT "+most+") AS r) AS d", q.args,
		func(rows pgx.Rows) error {
			var name string
			var c record.Count
			_, err := pgx.ForEachRow(rows, []any{&name, &c.Records, &c.Recent, &c.Latest}, func() error {
				c.Precision = record.Exact
				if c.Records > record.MaxCounted {
					c.Precision = record.AtLeast
				}
				c.Records, c.Recent = min(c.Records, record.MaxCounted), min(c.Recent, record.MaxCounted)
				out[kind.Name(name)] = c
				return nil
			})
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("count records: %w", err)
	}
	return out, nil
}

// Condition is a state of records of a kind.
type Condition struct {
	Kind  kind.Name
	State string
}

// CountStates returns how many records are in each of some states, how many failures that
// are open or triaged there are by severity, and how many approvals wait that expire before
// a time. It stops counting at record.MaxAttention of a state.
func (s DB) CountStates(ctx context.Context, org principal.OrgID, of []Condition, before time.Time) (states map[Condition]int64, failures map[string]int64, expiring int64, err error) {
	var kinds, names []string
	for _, c := range of {
		kinds, names = append(kinds, string(c.Kind)), append(names, c.State)
	}
	states, failures = map[Condition]int64{}, map[string]int64{}
	err = s.db.Org(org).Together(ctx, func(q postgres.Querier) error {
		rows, err := q.Query(ctx, `SELECT w.kind, w.state, c.records FROM unnest($2::text[], $3::text[]) AS w (kind, state)
			CROSS JOIN LATERAL (SELECT count(*) AS records FROM (SELECT FROM evidence_records WHERE org_id = $1 AND kind = w.kind AND state = w.state LIMIT $4) AS r) AS c`, org, kinds, names, record.MaxAttention)
		if err != nil {
			return err
		}
		var c Condition
		var n int64
		_, err = pgx.ForEachRow(rows, []any{&c.Kind, &c.State, &n}, func() error {
			states[c] = n
			return nil
		})
		return err
	}, func(q postgres.Querier) error {
		rows, err := q.Query(ctx, `SELECT r.severity, count(*) FROM unnest(ARRAY['open', 'triaged']) AS w (state)
			CROSS JOIN LATERAL (SELECT coalesce(body ->> 'severity', '') AS severity FROM evidence_records WHERE org_id = $1 AND kind = 'failures' AND state = w.state ORDER BY id DESC LIMIT $2) AS r
			GROUP BY 1`, org, record.MaxAttention)
		if err != nil {
			return err
		}
		var severity string
		var n int64
		_, err = pgx.ForEachRow(rows, []any{&severity, &n}, func() error {
			failures[severity] = n
			return nil
		})
		return err
	}, func(q postgres.Querier) error {
		return q.QueryRow(ctx, `SELECT count(*) FROM (SELECT body ->> 'expires_at' AS until FROM evidence_records WHERE org_id = $1 AND kind = 'approvals' AND state = 'pending' ORDER BY id DESC LIMIT $2) AS r
			WHERE until::timestamptz < $3`, org, record.MaxAttention, before).Scan(&expiring)
	})
	if err != nil {
		return nil, nil, 0, fmt.Errorf("count what needs attention: %w", err)
	}
	return states, failures, expiring, nil
}
