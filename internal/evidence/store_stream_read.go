package evidence

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/principal"
)

// answerTime is how long a question may take.
const answerTime = 20 * time.Second

// readLimits bound what one question may take from the others.
var readLimits = clickhouse.Settings{"max_memory_usage": 1 << 30, "max_bytes_to_read": 20_000_000_000, "optimize_read_in_order": 1}

func (s stream) each(ctx context.Context, org principal.OrgID, scan func(driver.Rows) error, text string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	rows, err := s.ch.Org(org).With(readLimits).Query(ctx, text, args...)
	if err != nil {
		return fmt.Errorf("read evidence: %w", clickhouse.Translate(err))
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("read evidence: %w", clickhouse.Translate(err))
		}
	}
	return clickhouse.Translate(rows.Err())
}

const streamColumns = "kind, id, key, version, idempotency_key, origin, actor, runtime_id, runtime_key, connector_id, connector_key, trace_id, " +
	"evaluation_run_id, raw_event_id, occurred_at, created_at, updated_at, body"

// newest keeps the row of each record that replaces the others.
const newest = " ORDER BY id DESC, replaces DESC LIMIT 1 BY id"

// some returns those of the records of the stream that exist, newest first. Kinds are
// all that they can be of.
func (s stream) some(ctx context.Context, org principal.OrgID, kinds []kind.Name, ids []int64) (all []Record, err error) {
	if len(ids) == 0 || len(kinds) == 0 {
		return nil, nil
	}
	err = s.each(ctx, org, func(rows driver.Rows) error {
		r, err := scanRecord(rows)
		all = append(all, r)
		return err
	}, "SELECT "+streamColumns+" FROM evidence WHERE org_id = ? AND kind IN (?) AND id IN (?)"+newest, uuid.UUID(org), kinds, ids)
	return all, err
}

func scanRecord(rows driver.Rows) (Record, error) {
	var name, origin, actor, id, trace, body string
	var r Record
	err := rows.Scan(&name, &r.ID, &id, &r.Version, &r.IdempotencyKey, &origin, &actor, &r.RuntimeID, &r.RuntimeKey, &r.ConnectorID, &r.ConnectorKey, &trace,
		&r.EvaluationRunID, &r.RawEventID, &r.OccurredAt, &r.CreatedAt, &r.UpdatedAt, &body)
	if err != nil {
		return Record{}, err
	}
	r.Kind, r.Origin, r.Actor = kind.Must(kind.Name(name)), Origin(origin), principal.ParseActor(actor)
	copy(r.key[:], id)
	copy(r.Trace[:], trace)
	r.Values, err = readBody([]byte(body))
	return r, err
}

// page returns records of the stream that a list selects, newest first.
func (s stream) page(ctx context.Context, org principal.OrgID, l List) ([]Record, error) {
	// The ids come first: bodies are read of the page alone.
	where, after, args := l.clickhouse(org)
	text := "SELECT id FROM (SELECT id, state FROM evidence WHERE " + where + newest + ")"
	if after != "" {
		text += " WHERE " + after
	}
	var ids []int64
	err := s.each(ctx, org, func(rows driver.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, text+" ORDER BY id DESC LIMIT ? OFFSET ?", append(args, l.Limit+1, l.Offset)...)
	if err != nil {
		return nil, err
	}
	return s.some(ctx, org, []kind.Name{l.Kind.Name}, ids)
}

// total returns how many records a list selects, on all pages.
func (s stream) total(ctx context.Context, org principal.OrgID, l List) (n int64, err error) {
	l.Below = 0
	where, after, args := l.clickhouse(org)
	text := "SELECT toInt64(uniqExact(id)) FROM evidence WHERE " + where
	if after != "" {
		text = "SELECT toInt64(count()) FROM (SELECT id, argMax(state, replaces) AS state FROM evidence WHERE " + where + " GROUP BY id) WHERE " + after
	}
	err = s.each(ctx, org, func(rows driver.Rows) error { return rows.Scan(&n) }, text, args...)
	return n, err
}

// clickhouse is the condition of a list: on what does not change from report to report,
// and on what does. The latter applies to the row that replaces the others.
func (l List) clickhouse(org principal.OrgID) (where, after string, args []any) {
	var b strings.Builder
	b.WriteString("org_id = ? AND kind = ?")
	args = []any{uuid.UUID(org), string(l.Kind.Name)}
	if l.Below > 0 {
		b.WriteString(" AND id < ?")
		args = append(args, l.Below)
	}
	if l.CreatedAfter != nil {
		b.WriteString(" AND created_at > ?")
		args = append(args, *l.CreatedAfter)
	}
	if l.CreatedBefore != nil {
		b.WriteString(" AND created_at < ?")
		args = append(args, *l.CreatedBefore)
	}
	var late []any
	for _, f := range l.Filters {
		if f.column == "state" {
			after = "state IN (?)"
			late = append(late, f.values)
			continue
		}
		match, values := "%s IN (?)", f.values
		if raw, ok := f.values.([][]byte); ok { // one trace
			match, values = "%s = unhex(?)", hex.EncodeToString(raw[0])
		}
		fmt.Fprintf(&b, " AND (%s)", strings.Join(f.either(match), " OR "))
		for range f.columns() {
			args = append(args, values)
		}
	}
	return b.String(), after, append(args, late...)
}

// counted is how many records of a kind there are.
type counted struct {
	Records, Recent int64
	Latest          time.Time
}

// count returns how many records of each kind of the stream there are.
func (s stream) count(ctx context.Context, org principal.OrgID, since time.Time) (map[kind.Name]counted, error) {
	out := map[kind.Name]counted{}
	err := s.each(ctx, org, func(rows driver.Rows) error {
		var name string
		var c counted
		err := rows.Scan(&name, &c.Records, &c.Recent, &c.Latest)
		out[kind.Name(name)] = c
		return err
	}, "SELECT kind, toInt64(uniqCombined64(20)(id)), toInt64(uniqCombined64If(20)(id, created_at > ?)), max(created_at) FROM evidence WHERE org_id = ? GROUP BY kind", since, uuid.UUID(org))
	return out, err
}

// unmapped returns how many events were received that no normalizer understands.
func (s stream) unmapped(ctx context.Context, org principal.OrgID) (n int64, err error) {
	err = s.each(ctx, org, func(rows driver.Rows) error { return rows.Scan(&n) },
		"SELECT toInt64(count()) FROM (SELECT argMax(state, replaces) AS state FROM evidence WHERE org_id = ? AND kind = 'raw-events' AND id IN (SELECT id FROM evidence WHERE org_id = ? AND kind = 'raw-events' AND state = 'unmapped') GROUP BY id) WHERE state = 'unmapped'",
		uuid.UUID(org), uuid.UUID(org))
	return n, err
}
