package spandb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	chgo "github.com/ClickHouse/clickhouse-go/v2"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/clickhouse"
)

// What a caller sees when a question is too large.
var (
	ErrTooMuch = fault.New(fault.Validation, "too_much_data", "The question reads more than one request may. Narrow the time range, or add a filter.")
	errBusy    = fault.New(fault.Unavailable, "analytics_busy", "The analytics database has too much to do right now. Retry in a moment.")
)

// statement is a query of ClickHouse. Its text is a pure function of its
// fields.
type statement interface {
	sql() (string, *arguments)
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
var limits = clickhouse.Settings{
	"max_memory_usage": 1 << 30, "max_bytes_to_read": 20_000_000_000, "max_query_size": 4 << 20,
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
func (s DB) read(ctx context.Context, q statement, each func(scanner) error) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	text, n := q.sql()
	rows, err := s.ch.Org(n.org).With(limits).Query(ctx, text, n.args...)
	if err != nil {
		return readError(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := each(rows); err != nil {
			if errors.Is(err, errStop) {
				return nil
			}
			return err
		}
	}
	return readError(rows.Err())
}

// Together runs reads that do not depend on each other at the same time. The
// first error ends the others.
func Together(ctx context.Context, reads ...func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, read := range reads {
		g.Go(func() error { return read(ctx) })
	}
	return g.Wait()
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
