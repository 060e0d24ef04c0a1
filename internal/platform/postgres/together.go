package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Querier is what generated queries run on: a Handle, a Tx, or a part of what Together
// sends.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Together runs reads that do not depend on each other under one claim, in one round
// trip. Each read asks one query of what it is given and returns its error. It is called
// twice: first to learn the statement, which fails, and then with its rows. The first
// error of a read is returned.
func (h Handle) Together(ctx context.Context, reads ...func(Querier) error) error {
	l, err := learn(reads)
	if err != nil {
		return err
	}
	conn, err := h.from.acquire(ctx, h.org)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(h.claim, h.name, h.value)
	b.QueuedQueries = append(b.QueuedQueries, l.batch.QueuedQueries...)
	p := &pipeline{BatchResults: conn.SendBatch(ctx, b), conn: conn}
	if _, err := p.Exec(); err != nil {
		_ = p.Close()
		return translate(err)
	}
	return answer(p, reads)
}

// learn finds out what reads ask.
func learn(reads []func(Querier) error) (*learner, error) {
	l := &learner{}
	for i, read := range reads {
		if err := read(l); !errors.Is(err, errLater) || l.batch.Len() != i+1 {
			return nil, fmt.Errorf("read %d of several asks no query, or more than one: %w", i, err)
		}
	}
	return l, nil
}

// answer gives each read its rows.
func answer(from pgx.BatchResults, reads []func(Querier) error) error {
	for _, read := range reads {
		if err := read(part{from}); err != nil {
			_ = from.Close()
			return err
		}
	}
	return translate(from.Close())
}

// errLater is how queries fail that are only learned.
var errLater = errors.New("the statement is sent later")

// errNotRead is returned for a statement that is not a query.
var errNotRead = errors.New("only queries run together")

// learner learns statements.
type learner struct{ batch pgx.Batch }

func (l *learner) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, errNotRead
}

func (l *learner) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	l.batch.Queue(sql, args...)
	return nil, errLater
}

func (l *learner) QueryRow(_ context.Context, sql string, args ...any) pgx.Row {
	l.batch.Queue(sql, args...)
	return firstRow{err: errLater}
}

// part is the next result of statements that were sent together.
type part struct{ results pgx.BatchResults }

func (p part) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, errNotRead
}

func (p part) Query(context.Context, string, ...any) (pgx.Rows, error) {
	rows, err := p.results.Query()
	if err != nil {
		return nil, translate(err)
	}
	return partRows{rows}, nil
}

func (p part) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := p.Query(ctx, sql, args...)
	return firstRow{rows: rows, err: err}
}

type partRows struct{ pgx.Rows }

func (r partRows) Err() error { return translate(r.Rows.Err()) }
