package tenancy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/postgres/postgrestest"
)

// service is a service on databases of its own, without an edge.
func service(t testing.TB) *Service {
	t.Helper()
	pg, err := postgres.Open(t.Context(), postgrestest.New(t))
	require.NoError(t, err)
	t.Cleanup(pg.Close)
	ch, err := clickhouse.Open(clickhousetest.New(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	return New(Parts{
		Stores: Stores{Postgres: pg, ClickHouse: ch}, Config: Config{Pepper: "a pepper for tests, of 32 or more characters", PepperVersion: 1, FailuresMinute: 5},
		Plans: PlanConfig{Default: "free", SelfHostedHour: 1, EnterpriseHour: 1}, Log: change.New(pg, time.Now), Now: time.Now,
	})
}
