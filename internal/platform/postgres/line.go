package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// line is a transaction's connection, with the statements that wait for the next one:
// PostgreSQL runs them in their order, in one round trip.
type line struct {
	conn    *connection
	waiting pgx.Batch
	asked   bool // whether the transaction has a statement of its own
	sent    bool
}

func (l *line) queue(sql string, args ...any) { l.waiting.Queue(sql, args...) }

// send sends what waits, and then the statements. It returns their results when what
// waited has succeeded.
func (l *line) send(ctx context.Context, statements ...*pgx.QueuedQuery) (pgx.BatchResults, error) {
	b, first := l.waiting, l.waiting.Len()
	b.QueuedQueries = append(b.QueuedQueries, statements...)
	l.waiting, l.asked, l.sent = pgx.Batch{}, true, true
	br := l.conn.SendBatch(ctx, &b)
	for range first {
		if _, err := br.Exec(); err != nil {
			_ = br.Close()
			return nil, translate(err)
		}
	}
	return br, nil
}

func (l *line) exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if l.waiting.Len() == 0 {
		tag, err := l.conn.Exec(ctx, sql, args...)
		return tag, translate(err)
	}
	br, err := l.send(ctx, &pgx.QueuedQuery{SQL: sql, Arguments: args})
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := br.Exec()
	if cerr := br.Close(); err == nil {
		err = cerr
	}
	return tag, translate(err)
}

func (l *line) query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if l.waiting.Len() == 0 {
		rows, err := l.conn.Query(ctx, sql, args...)
		return translatedRows{rows}, translate(err)
	}
	br, err := l.send(ctx, &pgx.QueuedQuery{SQL: sql, Arguments: args})
	if err != nil {
		return nil, err
	}
	rows, err := br.Query()
	if err != nil {
		_ = br.Close()
		return nil, translate(err)
	}
	return &batchRows{Rows: rows, batch: br}, nil
}

// translatedRows translates what is seen only while rows are read: the driver
// reports most failures of a query there.
type translatedRows struct{ pgx.Rows }

func (r translatedRows) Err() error { return translate(r.Rows.Err()) }

// errAnswer is returned for a statement whose answer is asked for before it is sent.
var errAnswer = errors.New("what runs later has no answer")

// later queues statements.
type later struct{ on *line }

func (l later) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	l.on.queue(sql, args...)
	l.on.asked = true
	return pgconn.CommandTag{}, nil
}

func (l later) Query(context.Context, string, ...any) (pgx.Rows, error) { return nil, errAnswer }

func (l later) QueryRow(context.Context, string, ...any) pgx.Row { return firstRow{err: errAnswer} }
