package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/assayhq/assay/internal/core/principal"
)

// Handle runs single statements under one claim, in one round trip each.
//
// The claim is a transaction-local setting that the row-level security
// policies read. It is sent in the same pipeline as the statement, and
// PostgreSQL runs a pipeline as one transaction, so the setting ends with the
// statement: a connection never goes back to the pool with a claim on it.
//
// Handle satisfies the interface that generated queries ask for.
type Handle struct {
	from  *connections
	org   principal.OrgID // whose turn it is to use a connection
	name  string
	value string
	claim string // the statement that sets it
}

const (
	setClaim = "SELECT set_config($1, $2, true)"
	planOnce = "set_config('plan_cache_mode', 'force_generic_plan', true)"
	planEach = "set_config('plan_cache_mode', 'force_custom_plan', true)"
)

// Lookup returns the handle for statements that find rows by a whole key: they are planned
// once on each connection. PostgreSQL would plan one that reads a partitioned table for each
// key anew, which takes several times as long as reading the row.
func (h Handle) Lookup() Handle {
	h.claim = setClaim + ", " + planOnce
	return h
}

// Search returns the handle for statements that are planned for their values each time: a
// plan that suits every value looks at all rows of a common one to find the few that have a
// rare one too.
func (h Handle) Search() Handle {
	h.claim = setClaim + ", " + planEach
	return h
}

// Org returns a handle that sees the rows of one organization.
func (db *DB) Org(org principal.OrgID) Handle {
	return Handle{from: db.pool, org: org, name: "app.org", value: org.String(), claim: setClaim}
}

// Claim returns a handle under another claim that policies of the schema know,
// such as that of a sweep. Claims that reach across organizations are listed by
// the catalog test.
func (db *DB) Claim(name, value string) Handle {
	return Handle{from: db.pool, name: name, value: value, claim: setClaim}
}

// Key returns a handle that sees the API key of a public id, its organization and
// its owner. Its connections are only for this, so that no slow transaction keeps
// a caller from being recognised.
func (db *DB) Key(keyID string) Handle {
	return Handle{from: db.keys, name: "app.api_key", value: keyID, claim: setClaim}
}

// Exec runs a statement and returns when it is committed.
func (h Handle) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	br, err := h.send(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	if _, err := br.Exec(); err != nil {
		_ = br.Close()
		return pgconn.CommandTag{}, translate(err)
	}
	tag, err := br.Exec()
	if cerr := br.Close(); err == nil {
		err = cerr // the commit happens here
	}
	return tag, translate(err)
}

// Query runs a statement and streams its rows; the connection is held until
// the rows are read to the end or closed.
func (h Handle) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	br, err := h.send(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	if _, err := br.Exec(); err != nil {
		_ = br.Close()
		return nil, translate(err)
	}
	rows, err := br.Query()
	if err != nil {
		_ = br.Close()
		return nil, translate(err)
	}
	return &batchRows{Rows: rows, batch: br}, nil
}

// QueryRow runs a statement and scans its first row. Scan returns only after
// the statement is committed.
func (h Handle) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := h.Query(ctx, sql, args...)
	return firstRow{rows: rows, err: err}
}

func (h Handle) send(ctx context.Context, sql string, args []any) (*pipeline, error) {
	conn, err := h.from.acquire(ctx, h.org)
	if err != nil {
		return nil, err
	}
	b := &pgx.Batch{}
	b.Queue(h.claim, h.name, h.value)
	b.Queue(sql, args...)
	return &pipeline{BatchResults: conn.SendBatch(ctx, b), conn: conn}, nil
}

// pipeline is the results of statements, with the connection that Close returns.
type pipeline struct {
	pgx.BatchResults
	conn *connection
}

func (p *pipeline) Close() error {
	err := p.BatchResults.Close()
	if p.conn != nil {
		p.conn.Release()
		p.conn = nil
	}
	return err
}

// batchRows closes the pipeline when its rows end, so that an error of the
// commit is seen by Err and the connection is returned.
type batchRows struct {
	pgx.Rows
	batch pgx.BatchResults
	done  bool
	err   error
}

func (r *batchRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *batchRows) Close() {
	if r.done {
		return
	}
	r.done = true
	r.Rows.Close()
	r.err = r.Rows.Err()
	if err := r.batch.Close(); r.err == nil {
		r.err = err
	}
	r.err = translate(r.err)
}

func (r *batchRows) Err() error {
	if r.done {
		return r.err
	}
	return translate(r.Rows.Err())
}

type firstRow struct {
	rows pgx.Rows
	err  error
}

func (r firstRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
