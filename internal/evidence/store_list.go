package evidence

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/assayhq/assay/internal/evidence/internal/db"
	"github.com/assayhq/assay/internal/principal"
)

const recordColumns = "org_id, kind, id, name, idempotency_key, origin, actor, state, decision, runtime_id, runtime_key, connector_id, connector_key, " +
	"trace_id, evaluation_run_id, raw_event_id, step_id, tool_id, invocation_id, decision_id, effect_id, explanation_id, report_id, failure_key, failure_mode, " +
	"side_effect_class, body, occurred_at, created_at, updated_at, version"

// postgres is the condition of a list.
func (l List) postgres(org principal.OrgID) (where string, args []any) {
	var b strings.Builder
	b.WriteString("org_id = $1 AND kind = $2")
	args = []any{org, string(l.Kind.Name)}
	and := func(condition string, value any) {
		args = append(args, value)
		fmt.Fprintf(&b, " AND "+condition, len(args))
	}
	if l.Below > 0 {
		and("id < $%d", l.Below)
	}
	if l.CreatedAfter != nil {
		and("created_at > $%d", *l.CreatedAfter)
	}
	if l.CreatedBefore != nil {
		and("created_at < $%d", *l.CreatedBefore)
	}
	for _, f := range l.Filters {
		and("("+strings.Join(f.either("%s = ANY ($%%[1]d)"), " OR ")+")", f.values)
	}
	return b.String(), args
}

// list returns a page of records that last, newest first.
func (s store) list(ctx context.Context, org principal.OrgID, l List) ([]Record, int64, error) {
	where, args := l.postgres(org)
	q := s.db.Org(org)
	rows, err := q.Query(ctx, fmt.Sprintf("SELECT %s FROM evidence_records WHERE %s ORDER BY id DESC LIMIT %d OFFSET %d", recordColumns, where, l.Limit+1, l.Offset), args...)
	if err != nil {
		return nil, 0, fmt.Errorf("list %s: %w", l.Kind.Name, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[db.EvidenceRecord])
	if err != nil {
		return nil, 0, fmt.Errorf("list %s: %w", l.Kind.Name, err)
	}
	out, err := fromRows(found)
	if err != nil || !l.Count {
		return out, 0, err
	}
	l.Below = 0
	where, args = l.postgres(org)
	var total int64
	if err := q.QueryRow(ctx, "SELECT count(*) FROM evidence_records WHERE "+where, args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count %s: %w", l.Kind.Name, err)
	}
	return out, total, nil
}

// ofTrace returns everything that lasts and belongs to a trace.
func (s store) ofTrace(ctx context.Context, org principal.OrgID, trace []byte, limit int) ([]Record, error) {
	rows, err := s.db.Org(org).Query(ctx, "SELECT "+recordColumns+" FROM evidence_records WHERE org_id = $1 AND trace_id = $2 ORDER BY id LIMIT $3", org, trace, limit)
	if err != nil {
		return nil, fmt.Errorf("read evidence of a trace: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[db.EvidenceRecord])
	if err != nil {
		return nil, fmt.Errorf("read evidence of a trace: %w", err)
	}
	return fromRows(found)
}
