package trace

import (
	"time"

	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/actdb"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// Stores are where traces are kept.
type Stores struct {
	Postgres   *postgres.DB
	ClickHouse *clickhouse.DB
	Inserter   *clickhouse.Inserter
	Blobs      *blob.Store
}

// store is PostgreSQL, which knows the numbers of traces and feedback and the
// deletions, and the database of spans.
type store struct {
	db *postgres.DB
	spandb.DB
	acts actdb.DB
}

func newStore(p Stores, cfg Config, now func() time.Time) store {
	spans := spandb.New(p.ClickHouse, p.Inserter, p.Blobs, spandb.Config{InsertTimeout: cfg.InsertTimeout, GroupInterval: cfg.GroupInterval}, now)
	return store{db: p.Postgres, DB: spans, acts: actdb.New(p.ClickHouse, spans)}
}
