package trace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	chgo "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
	"github.com/assayhq/assay/internal/trace/internal/db"
)

// What a caller sees when a question is too large.
var (
	ErrTooMuch = fault.New(fault.Validation, "too_much_data", "The question reads more than one request may. Narrow the time range, or add a filter.")
	errBusy    = fault.New(fault.Unavailable, "analytics_busy", "The analytics database has too much to do right now. Retry in a moment.")
)

// statement is a query of ClickHouse. Its text is a pure function of its
// fields.
type statement interface {
	sql() (string, []any)
}

// scanner is the row that a statement's result is at.
type scanner interface {
	Scan(dest ...any) error
}

// readTimeout bounds one read. It is below what the reader's user may ask for,
// whatever the time-out of a request is.
const readTimeout = 50 * time.Second

// limits bound what one read may take from the others. On a cluster a
// condition on other rows of the same trace looks at the shard that it is on:
// a trace lies on one.
var limits = chgo.Settings{
	"max_memory_usage": 1 << 30, "max_bytes_to_read": 20_000_000_000, "max_threads": 4, "max_query_size": 4 << 20,
	"distributed_product_mode": "local", "optimize_skip_unused_shards": 1,
	// Lists are short and their columns few: reading some of them later costs
	// more than it saves.
	"query_plan_optimize_lazy_materialization":    0,
	"do_not_merge_across_partitions_select_final": 1,
}

// errStop ends a read early.
var errStop = errors.New("stop")

// read runs a statement and hands its rows to each, one by one, until each
// returns an error; errStop is none.
func (s store) read(ctx context.Context, q statement, each func(scanner) error) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	text, args := q.sql()
	rows, err := s.ch.Reader().Query(chgo.Context(ctx, chgo.WithSettings(limits)), text, args...)
	if err != nil {
		return readError(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := each(rows); err != nil {
			if errors.Is(err, errStop) {
				return nil
			}
			return readError(err)
		}
	}
	return readError(rows.Err())
}

// Codes of ClickHouse for a query that asks for too much.
const (
	codeTooManyRows    = 158
	codeTimeout        = 159
	codeTooSlow        = 160
	codeTooManyQueries = 202
	codeMemory         = 241
	codeTooManyBytes   = 307
	codeResultTooLarge = 396
)

// readError tells a caller what to do about a read that was too large.
func readError(err error) error {
	var said *chgo.Exception
	if errors.As(err, &said) {
		switch said.Code {
		case codeMemory:
			if strings.Contains(said.Message, "(total)") {
				return fmt.Errorf("%w: %w", errBusy, err) // it is not this query's fault
			}
			return fmt.Errorf("%w: %w", ErrTooMuch, err)
		case codeTooManyRows, codeTimeout, codeTooSlow, codeTooManyBytes, codeResultTooLarge:
			return fmt.Errorf("%w: %w", ErrTooMuch, err)
		case codeTooManyQueries:
			return fmt.Errorf("%w: %w", errBusy, err)
		}
	}
	return clickhouse.Translate(err)
}

// allocateRef gives the trace a number, or finds the one that it has.
func (s store) allocateRef(ctx context.Context, org principal.OrgID, trace span.TraceID, at time.Time) (int64, error) {
	r, err := db.New(s.db.Org(org)).AllocateRef(ctx, db.AllocateRefParams{OrgID: org, TraceID: trace[:], CreatedAt: at})
	if err != nil {
		return 0, fmt.Errorf("give trace a number: %w", err)
	}
	return r.TraceRef, nil
}

// refs returns the numbers of those of the traces that have one.
func (s store) refs(ctx context.Context, org principal.OrgID, ids []span.TraceID) (map[span.TraceID]int64, error) {
	raw := make([][]byte, len(ids))
	for i := range ids {
		raw[i] = ids[i][:]
	}
	rows, err := db.New(s.db.Org(org)).RefsOf(ctx, db.RefsOfParams{OrgID: org, TraceIds: raw})
	if err != nil {
		return nil, fmt.Errorf("find numbers of traces: %w", err)
	}
	out := make(map[span.TraceID]int64, len(rows))
	for _, r := range rows {
		out[span.TraceID(r.TraceID)] = r.TraceRef
	}
	return out, nil
}

// countFeedback returns how often something was said about each of the traces.
func (s store) countFeedback(ctx context.Context, org principal.OrgID, ids []span.TraceID) (map[span.TraceID]int64, error) {
	raw := make([][]byte, len(ids))
	for i := range ids {
		raw[i] = ids[i][:]
	}
	rows, err := s.db.Org(org).Query(ctx, "SELECT trace_id, count(*) FROM trace_feedback WHERE org_id = $1 AND trace_id = ANY ($2::bytea[]) GROUP BY trace_id", org, raw)
	if err != nil {
		return nil, fmt.Errorf("count feedback: %w", err)
	}
	defer rows.Close()
	out := map[span.TraceID]int64{}
	for rows.Next() {
		var id []byte
		var n int64
		if err := rows.Scan(&id, &n); err != nil {
			return nil, fmt.Errorf("count feedback: %w", err)
		}
		out[span.TraceID(id)] = n
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count feedback: %w", err)
	}
	return out, nil
}
