package streamdb

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
)

// unsized is how many records are read without a look at their sizes before.
const unsized = record.PageBytes / kind.MaxBody

// picked is a record of the stream that belongs on a page.
type picked struct {
	id    int64
	bytes uint64
}

// fitting are the ids of as many records as fit on a page, and whether others follow. It
// ends with the record that fills it.
func fitting(found []picked, limit int) (ids []int64, more bool) {
	var sum uint64
	for _, p := range found {
		if len(ids) == limit || sum >= record.PageBytes {
			return ids, true
		}
		ids = append(ids, p.id)
		sum += p.bytes
	}
	return ids, false
}

// pointed reports whether a filter names something that few records belong to, wherever
// they are.
func pointed(l record.List) bool {
	return slices.ContainsFunc(l.Filters, func(f record.Filter) bool {
		switch f.Column {
		case "id", "trace_id", "raw_event_id", "invocation_id", "idempotency_key", "evaluation_run_id", "step_id", "decision_id":
			return true
		}
		return false
	})
}

// candidates are the newest ids, from one on, of records of which a row matches the list.
func (s DB) candidates(ctx context.Context, org principal.OrgID, l record.List, from int64, limit int) (ids []int64, err error) {
	where, args := condition(l, org)
	err = s.each(ctx, org, func(rows driver.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, "SELECT id FROM evidence WHERE "+where+" AND id >= ? ORDER BY id DESC LIMIT 1 BY id LIMIT ?", append(args, from, limit)...)
	return ids, err
}

// verified are those of the candidates that match the list as they are now: what a row
// says that has been replaced does not count.
func (s DB) verified(ctx context.Context, org principal.OrgID, l record.List, ids []int64) (found []picked, err error) {
	having, values := late(l)
	if len(ids) == 0 || having == "" && len(ids) <= unsized {
		for _, id := range ids {
			found = append(found, picked{id: id})
		}
		return found, nil
	}
	err = s.each(ctx, org, func(rows driver.Rows) error {
		var p picked
		err := rows.Scan(&p.id, &p.bytes)
		found = append(found, p)
		return err
	}, "SELECT id, argMax(length(body), replaces) FROM evidence WHERE org_id = ? AND kind = ? AND id IN (?) GROUP BY id"+having+" ORDER BY id DESC",
		append([]any{uuid.UUID(org), string(l.Kind.Name), ids}, values...)...)
	return found, err
}

// late is the part of the condition that later reports of a record can change, on the row
// that replaces the others.
func late(l record.List) (having string, args []any) {
	var all []string
	for _, f := range l.Filters {
		if slices.ContainsFunc(f.Columns(), changes) {
			match, values := match(f, "argMax(%s, replaces)")
			all, args = append(all, match), append(args, values...)
		}
	}
	if len(all) == 0 {
		return "", nil
	}
	return " HAVING " + strings.Join(all, " AND "), args
}

// changes reports whether later reports of a record can change a column. The others keep
// the value of the first report that has one.
func changes(column string) bool {
	switch column {
	case "id", "trace_id", "raw_event_id", "idempotency_key", "evaluation_run_id", "runtime_id", "connector_id":
		return false
	}
	return true
}

// Total returns how many records a list selects, on all pages.
func (s DB) Total(ctx context.Context, org principal.OrgID, l record.List) (n int64, err error) {
	l.Below = 0
	where, args := condition(l, org)
	text := "SELECT toInt64(uniqExact(id)) FROM evidence WHERE " + where
	if having, values := late(l); having != "" {
		text = "SELECT toInt64(count()) FROM (SELECT id FROM evidence WHERE org_id = ? AND kind = ? AND id IN (SELECT id FROM evidence WHERE " + where + ") GROUP BY org_id, kind, id" + having + ")"
		args = slices.Concat(args[:2], args, values)
	}
	err = s.each(ctx, org, func(rows driver.Rows) error { return rows.Scan(&n) }, text, args...)
	return n, err
}

// condition is that of a list on a row.
func condition(l record.List, org principal.OrgID) (where string, args []any) {
	all := []string{"org_id = ?", "kind = ?"}
	args = []any{uuid.UUID(org), string(l.Kind.Name)}
	and := func(condition string, values ...any) { all, args = append(all, condition), append(args, values...) }
	if l.Below > 0 {
		and("id < ?", l.Below)
	}
	if l.CreatedAfter != nil {
		and("created_at > fromUnixTimestamp64Milli(?)", l.CreatedAfter.UnixMilli())
	}
	if l.CreatedBefore != nil {
		and("created_at < fromUnixTimestamp64Milli(?)", l.CreatedBefore.Add(time.Millisecond-1).UnixMilli())
	}
	for _, f := range l.Filters {
		match, values := match(f, "%s")
		and(match, values...)
	}
	return strings.Join(all, " AND "), args
}

// match is the condition on what is made of each column.
func match(f record.Filter, of string) (match string, args []any) {
	is, values := of+" IN (?)", f.Values
	if raw, ok := values.([][]byte); ok { // one trace
		is, values = of+" = unhex(?)", any(hex.EncodeToString(raw[0]))
	}
	for range f.Columns() {
		args = append(args, values)
	}
	return f.Either(is), args
}
