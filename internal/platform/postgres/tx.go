package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/assayhq/assay/internal/core/principal"
)

// Tx is an open transaction of one organization. A method that joins a
// caller's transaction takes a Tx and has a name that ends in Tx; no
// transaction travels in a context.
type Tx struct {
	Org   principal.OrgID
	on    *line
	after *[]func()
}

// AfterCommit calls fn when the transaction has committed, and never if it does
// not. A process that dies between the two does not call it either: it is for
// what only saves time.
func (tx Tx) AfterCommit(fn func()) { *tx.after = append(*tx.after, fn) }

// InTx runs fn in one transaction of the organization. It commits if fn
// returns nil and rolls back if fn fails or panics. Network calls do not
// belong in fn: the connection and its locks wait for them.
//
// The transaction begins with its first statement, in the same round trip.
func InTx(ctx context.Context, db *DB, org principal.OrgID, fn func(Tx) error) error {
	conn, err := db.pool.acquire(ctx, org)
	if err != nil {
		return err
	}
	defer conn.Release()

	on := &line{conn: conn}
	on.queue("BEGIN")
	on.queue(setClaim, "app.org", org.String())
	committed := false
	defer func() {
		if on.sent && !committed {
			rollback(ctx, conn)
		}
	}()
	var after []func()
	if err := fn(Tx{Org: org, on: on, after: &after}); err != nil {
		return err
	}
	if on.asked {
		if err := on.commit(ctx); err != nil {
			return err
		}
	}
	committed = true
	for _, fn := range after {
		fn()
	}
	return nil
}

func (l *line) commit(ctx context.Context) error {
	tag, err := l.exec(ctx, "COMMIT")
	if err != nil {
		return err
	}
	if tag.String() == "ROLLBACK" {
		// PostgreSQL answers a COMMIT of a failed transaction this way.
		return fmt.Errorf("commit: the transaction had failed and was rolled back")
	}
	return nil
}

// rollback ends the transaction even if the request is over: a connection that
// is released inside a transaction would be thrown away by the pool.
func rollback(ctx context.Context, conn *connection) {
	if conn.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, _ = conn.Exec(ctx, "ROLLBACK")
}

// Exec runs a statement in the transaction.
func (tx Tx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return tx.on.exec(ctx, sql, args...)
}

// Query runs a statement in the transaction and streams its rows.
func (tx Tx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return tx.on.query(ctx, sql, args...)
}

// QueryRow runs a statement in the transaction and scans its first row.
func (tx Tx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := tx.on.query(ctx, sql, args...)
	return firstRow{rows: rows, err: err}
}

// Together runs reads that do not depend on each other in one round trip, one after the
// other; see [Handle.Together].
func (tx Tx) Together(ctx context.Context, reads ...func(Querier) error) error {
	l, err := learn(reads)
	if err != nil {
		return err
	}
	br, err := tx.on.send(ctx, l.batch.QueuedQueries...)
	if err != nil {
		return err
	}
	return answer(br, reads)
}

// Lookups has the statements that follow planned once on each connection; see
// [Handle.Lookup]. All of them must suit that.
func (tx Tx) Lookups() { tx.on.queue("SELECT " + planOnce) }

// Later takes statements whose answers nothing waits for. They are sent in their order
// with the transaction's next statement, or with its commit, and so cost no round trip
// of their own. That statement, or InTx, returns the error of one that fails.
func (tx Tx) Later() Querier { return later{tx.on} }
