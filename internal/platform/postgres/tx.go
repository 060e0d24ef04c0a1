package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/assayhq/assay/internal/principal"
)

// Tx is an open transaction of one organization. A method that joins a
// caller's transaction takes a Tx and has a name that ends in Tx; no
// transaction travels in a context.
type Tx struct {
	Org   principal.OrgID
	conn  *connection
	after *[]func()
}

// AfterCommit calls fn when the transaction has committed, and never if it does
// not. A process that dies between the two does not call it either: it is for
// what only saves time.
func (tx Tx) AfterCommit(fn func()) { *tx.after = append(*tx.after, fn) }

// InTx runs fn in one transaction of the organization. It commits if fn
// returns nil and rolls back if fn fails or panics. Network calls do not
// belong in fn: the connection and its locks wait for them.
func InTx(ctx context.Context, db *DB, org principal.OrgID, fn func(Tx) error) error {
	conn, err := db.pool.acquire(ctx, org)
	if err != nil {
		return err
	}
	defer conn.Release()

	// One round trip opens the transaction and sets its claim.
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	b.Queue(setClaim, "app.org", org.String())
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		rollback(ctx, conn)
		return translate(err)
	}
	committed := false
	defer func() {
		if !committed {
			rollback(ctx, conn)
		}
	}()
	var after []func()
	if err := fn(Tx{Org: org, conn: conn, after: &after}); err != nil {
		return err
	}
	tag, err := conn.Exec(ctx, "COMMIT")
	if err != nil {
		return translate(err)
	}
	committed = true
	if tag.String() == "ROLLBACK" {
		// PostgreSQL answers a COMMIT of a failed transaction this way.
		return fmt.Errorf("commit: the transaction had failed and was rolled back")
	}
	for _, fn := range after {
		fn()
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
	tag, err := tx.conn.Exec(ctx, sql, args...)
	return tag, translate(err)
}

// Query runs a statement in the transaction and streams its rows.
func (tx Tx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	rows, err := tx.conn.Query(ctx, sql, args...)
	return translatedRows{rows}, translate(err)
}

// QueryRow runs a statement in the transaction and scans its first row.
func (tx Tx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return translatedRow{tx.conn.QueryRow(ctx, sql, args...)}
}

// SendBatch runs several statements in one round trip.
func (tx Tx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	return tx.conn.SendBatch(ctx, b)
}

// translatedRows translates what is seen only while rows are read: the driver
// reports most failures of a query there.
type translatedRows struct{ pgx.Rows }

func (r translatedRows) Err() error { return translate(r.Rows.Err()) }

type translatedRow struct{ row pgx.Row }

func (r translatedRow) Scan(dest ...any) error { return translate(r.row.Scan(dest...)) }
