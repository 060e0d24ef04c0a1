package clickhouse

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
)

// Settings are settings of a query.
type Settings = clickhouse.Settings

// orgSetting is the setting in which a query names its organization. The row
// filter of the reader's user compares it with org_id. It is one of the server's
// own settings, which goes to every shard and into the query log; the server
// knows settings of other names only if its configuration declares them.
const orgSetting = "log_comment"

// Reader reads the rows of one organization. Every query says whose rows it is
// for twice: in its own condition, and by the setting that the server's row
// filter reads. A query whose condition is missing finds the organization's rows
// and nobody else's.
type Reader struct {
	conn     driver.Conn
	turns    *admission.Turns
	org      principal.OrgID
	settings Settings
}

// Org returns what reads the rows of one organization. There is no other way to
// use the pool that reads.
func (db *DB) Org(org principal.OrgID) Reader {
	return Reader{conn: db.reader, turns: db.turns, org: org, settings: Settings{orgSetting: org.String()}}
}

// With returns the reader with settings of its queries. Settings that a context
// carries do not reach the server.
func (r Reader) With(settings Settings) Reader {
	all := maps.Clone(settings)
	maps.Copy(all, r.settings) // the organization stays
	r.settings = all
	return r
}

// Query runs a question when the organization's turn has come, and streams its
// rows. The turn ends when they are closed.
func (r Reader) Query(ctx context.Context, text string, args ...any) (driver.Rows, error) {
	nth, err := r.turns.Begin(ctx, r.org)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	rows := &turnRows{reader: r, began: time.Now(), cancel: cancel}
	if rows.Rows, err = r.conn.Query(r.named(ctx, nth), text, args...); err != nil {
		rows.end()
		return nil, err
	}
	return rows, nil
}

// Each runs a question that may take so long, and scans every row of its answer. What
// the server does not answer because it is away is ErrUnavailable.
func (r Reader) Each(ctx context.Context, within time.Duration, scan func(driver.Rows) error, text string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	rows, err := r.Query(ctx, text, args...)
	if err != nil {
		return Translate(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return Translate(rows.Err())
}

// QueryRow runs a question and scans its first row.
func (r Reader) QueryRow(ctx context.Context, text string, args ...any) Row {
	rows, err := r.Query(ctx, text, args...)
	return Row{rows: rows, err: err}
}

// longest is what a query may take. The driver asks the server for as much time as the
// context has left, and five seconds more; the server refuses readers that ask for more
// than a minute.
const longest = 55 * time.Second

// threads is how many a query may have, if it is its organization's only one.
const threads = 4

// named gives the nth query that an organization has at a time its settings. It
// has the fewer threads the more there are, and the server lets the first query
// of an organization go before the second of another, and so on.
func (r Reader) named(ctx context.Context, nth int) context.Context {
	settings := maps.Clone(r.settings)
	settings["priority"], settings["max_threads"] = nth, max(1, threads/nth)
	return clickhouse.Context(ctx, clickhouse.WithSettings(settings))
}

// turnRows are rows whose end ends a turn.
type turnRows struct {
	driver.Rows
	reader Reader
	began  time.Time
	cancel context.CancelFunc
	ended  bool
}

func (r *turnRows) Close() error {
	defer r.end()
	return r.Rows.Close()
}

func (r *turnRows) end() {
	if !r.ended {
		r.ended = true
		r.cancel()
		r.reader.turns.End(r.reader.org, time.Since(r.began))
	}
}

// Row is the first row of an answer.
type Row struct {
	rows driver.Rows
	err  error
}

// Scan reads the row, or fails with sql.ErrNoRows.
func (r Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer func() { _ = r.rows.Close() }()
	if !r.rows.Next() {
		return cmp.Or(r.rows.Err(), sql.ErrNoRows)
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	return r.rows.Close()
}
