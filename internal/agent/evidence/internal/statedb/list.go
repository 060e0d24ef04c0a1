package statedb

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/assayhq/assay/internal/agent/evidence/internal/db"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

const recordColumns = "org_id, kind, id, name, idempotency_key, origin, actor, state, decision, runtime_id, runtime_key, connector_id, connector_key, " +
	"trace_id, evaluation_run_id, raw_event_id, step_id, tool_id, invocation_id, decision_id, effect_id, explanation_id, report_id, failure_key, failure_mode, " +
	"side_effect_class, body, occurred_at, created_at, updated_at, version"

// question collects the arguments of a query as its text grows.
type question struct{ args []any }

// arg is the place of one more argument.
func (q *question) arg(value any) string {
	q.args = append(q.args, value)
	return "$" + strconv.Itoa(len(q.args))
}

// where is the condition of a list, without what each selects: a filter with several
// values, of which every one has its own place in an index.
func where(l record.List, q *question, org principal.OrgID) (condition string, each *record.Filter) {
	of := "org_id = " + q.arg(org) + " AND kind = " + q.arg(string(l.Kind.Name))
	all := []string{of}
	if l.Below > 0 {
		all = append(all, "id < "+q.arg(l.Below))
	}
	if l.CreatedAfter != nil {
		at := q.arg(*l.CreatedAfter)
		all = append(all, "created_at > "+at, "id >= "+turn("low", of, at+"::timestamptz - interval '1 hour'"))
	}
	if l.CreatedBefore != nil {
		at := q.arg(*l.CreatedBefore)
		all = append(all, "created_at < "+at, "id <= "+turn("high", of, at+"::timestamptz + interval '1 hour'"))
	}
	for i := range l.Filters {
		f := &l.Filters[i]
		switch value, single := f.Single(); {
		case single:
			all = append(all, f.Either("%s = "+q.arg(value)))
		case each == nil:
			each = f
		default:
			all = append(all, f.Either("%s = ANY ("+q.arg(f.Values)+")"))
		}
	}
	return strings.Join(all, " AND "), each
}

// turn finds an id near which records begin to be newer than a time: low is below it, and
// high above. Ids and times are given in the course of one request, so that their orders
// differ by far less than the hour that callers leave between the time and what they
// ask for. It looks at a record at every step, and halves what is left.
func turn(side, of, at string) string {
	return "(WITH RECURSIVE span (low, high) AS (SELECT min(id), max(id) FROM evidence_records WHERE " + of +
		" UNION ALL SELECT CASE WHEN r.created_at < " + at + " THEN (low + high) / 2 ELSE low END, CASE WHEN r.created_at < " + at + " THEN high ELSE (low + high) / 2 END" +
		" FROM span CROSS JOIN LATERAL (SELECT created_at FROM evidence_records WHERE " + of + " AND id >= (low + high) / 2 ORDER BY id LIMIT 1) AS r" +
		" WHERE high - low > 1) SELECT " + side + " FROM span ORDER BY high - low LIMIT 1)"
}

// idsOf asks for the ids of a page and of one record more, newest first.
func idsOf(l record.List, q *question, org principal.OrgID) string {
	condition, each := where(l, q, org)
	limit, offset := q.arg(l.Limit+1), q.arg(l.Offset)
	if each == nil {
		return "SELECT id FROM evidence_records WHERE " + condition + " ORDER BY id DESC LIMIT " + limit + " OFFSET " + offset
	}
	return "SELECT r.id FROM unnest(" + q.arg(each.Values) + each.Array() + ") AS v (value) CROSS JOIN LATERAL (SELECT id FROM evidence_records WHERE " + condition +
		" AND " + each.Either("%s = v.value") + " ORDER BY id DESC LIMIT " + q.arg(l.Offset+l.Limit+1) + ") AS r ORDER BY r.id DESC LIMIT " + limit + " OFFSET " + offset
}

// sized asks for records by their ids, newest first, until they have so many bytes. More
// says of each whether another follows.
func sized(q *question, org principal.OrgID, ids, body string, bytes int) string {
	columns := strings.Replace("r."+strings.ReplaceAll(recordColumns, ", ", ", r."), "r.body", body+" AS body", 1)
	return "SELECT " + recordColumns + ", more FROM (SELECT *, lead(id) OVER newest IS NOT NULL AS more, sum(octet_length(body::text)) OVER newest - octet_length(body::text) AS before" +
		" FROM (SELECT " + columns + " FROM (" + ids + ") AS p JOIN evidence_records r ON r.org_id = " + q.arg(org) + " AND r.id = p.id) AS page WINDOW newest AS (ORDER BY id DESC)) AS all_of_them" +
		" WHERE before < " + q.arg(bytes) + " ORDER BY id DESC"
}

// pageRow is a record on a page.
type pageRow struct {
	db.EvidenceRecord
	More bool
}

// ask runs a query that PostgreSQL plans for its arguments.
func ask(ctx context.Context, h postgres.Handle, text string, args []any, read func(pgx.Rows) error) error {
	rows, err := h.Search().Query(ctx, text, args...)
	if err != nil {
		return err
	}
	return read(rows)
}

// read reads what sized asks for.
func (s DB) read(ctx context.Context, org principal.OrgID, text string, args []any) (all []record.Record, more bool, err error) {
	err = ask(ctx, s.db.Org(org), text, args, func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, pgx.RowToStructByName[pageRow])
		if err != nil {
			return err
		}
		all = make([]record.Record, len(found))
		for i, r := range found {
			if all[i], err = fromRow(r.EvidenceRecord); err != nil {
				return err
			}
			more = r.More
		}
		return nil
	})
	return all, more, err
}

// List returns a page of records that last, newest first, and whether others follow.
func (s DB) List(ctx context.Context, org principal.OrgID, l record.List) (page []record.Record, more bool, err error) {
	var q question
	page, more, err = s.read(ctx, org, sized(&q, org, idsOf(l, &q, org), "r.body", record.PageBytes), q.args)
	if err != nil {
		return nil, false, fmt.Errorf("list %s: %w", l.Kind.Name, err)
	}
	if len(page) > l.Limit {
		page, more = page[:l.Limit], true
	}
	return page, more, nil
}

// Total returns how many records a list selects, on all pages.
func (s DB) Total(ctx context.Context, org principal.OrgID, l record.List) (n int64, err error) {
	var q question
	l.Below = 0
	condition, each := where(l, &q, org)
	if each != nil {
		condition += " AND " + each.Either("%s = ANY ("+q.arg(each.Values)+")")
	}
	err = ask(ctx, s.db.Org(org), "SELECT count(*) FROM evidence_records WHERE "+condition, q.args, func(rows pgx.Rows) error {
		n, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64])
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", l.Kind.Name, err)
	}
	return n, nil
}

// OfTrace returns what lasts and belongs to a trace, newest first, as a timeline needs it,
// and whether there is more than it may show.
func (s DB) OfTrace(ctx context.Context, org principal.OrgID, trace []byte) (all []record.Record, more bool, err error) {
	var q question
	ids := "SELECT id FROM evidence_records WHERE org_id = " + q.arg(org) + " AND trace_id = " + q.arg(trace) + " ORDER BY id DESC LIMIT " + q.arg(record.MaxOfTrace+1)
	// Only the members are read that a timeline shows.
	body := "(SELECT coalesce(json_object_agg(key, value), '{}') FROM json_each(r.body) WHERE key <> ALL (" + q.arg(record.Unshown) + "))"
	all, more, err = s.read(ctx, org, sized(&q, org, ids, body, record.PageBytes), q.args)
	if err != nil {
		return nil, false, fmt.Errorf("read evidence of a trace: %w", err)
	}
	if len(all) > record.MaxOfTrace {
		all, more = all[:record.MaxOfTrace], true
	}
	return all, more, nil
}

// NewestID is an id that no record is newer than, but for those that are being made.
func (s DB) NewestID(ctx context.Context, org principal.OrgID) (id int64, err error) {
	if err := s.db.Org(org).QueryRow(ctx, "SELECT coalesce(pg_sequence_last_value('evidence_ids'), 0)").Scan(&id); err != nil {
		return 0, fmt.Errorf("read the newest id: %w", err)
	}
	return id, nil
}
