package evidence

import (
	"context"

	"github.com/assayhq/assay/internal/agent/evidence/internal/ledger"
	"github.com/assayhq/assay/internal/agent/evidence/internal/statedb"
	"github.com/assayhq/assay/internal/agent/evidence/internal/streamdb"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Stores are where evidence is kept.
type Stores struct {
	Postgres   *postgres.DB
	ClickHouse *clickhouse.DB
	Inserter   *clickhouse.Inserter
}

// store is PostgreSQL, which knows keys and what lasts, and the stream in ClickHouse.
type store struct {
	statedb.DB
	stream streamdb.DB
}

// ledger completes side effects.
func (s store) ledger() ledger.Store { return ledger.Store{DB: s.DB} }

func newStore(s Stores) store {
	return store{statedb.New(s.Postgres), streamdb.New(s.ClickHouse, s.Inserter)}
}

type (
	want  = statedb.Want
	claim = statedb.Claim
)

// list returns a page of records, newest first, whether others follow, and, if the list
// asks for it, how many there are on all pages.
func (s store) list(ctx context.Context, org principal.OrgID, l List) (page []Record, more bool, total int64, err error) {
	count := s.Total
	if l.Kind.Class == kind.Stream {
		count = s.stream.Total
		page, more, err = s.stream.List(ctx, org, l, s.NewestID)
	} else {
		page, more, err = s.List(ctx, org, l)
	}
	if err == nil && l.Count {
		total, err = count(ctx, org, l)
	}
	return page, more, total, err
}
