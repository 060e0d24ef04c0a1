package clickhouse

import (
	"context"
	"maps"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/assayhq/assay/internal/principal"
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
	settings Settings
}

// Org returns what reads the rows of one organization. There is no other way to
// use the pool that reads.
func (db *DB) Org(org principal.OrgID) Reader {
	return Reader{conn: db.reader, settings: Settings{orgSetting: org.String()}}
}

// With returns the reader with settings of its queries. Settings that a context
// carries do not reach the server.
func (r Reader) With(settings Settings) Reader {
	all := maps.Clone(settings)
	maps.Copy(all, r.settings) // the organization stays
	return Reader{conn: r.conn, settings: all}
}

// Query runs a question and streams its rows.
func (r Reader) Query(ctx context.Context, text string, args ...any) (driver.Rows, error) {
	return r.conn.Query(r.named(ctx), text, args...)
}

// QueryRow runs a question and scans its first row.
func (r Reader) QueryRow(ctx context.Context, text string, args ...any) driver.Row {
	return r.conn.QueryRow(r.named(ctx), text, args...)
}

func (r Reader) named(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(r.settings))
}
