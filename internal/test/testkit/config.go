package testkit

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/platform/config"
	"github.com/assayhq/assay/internal/platform/devenv"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/postgres/postgrestest"
	"github.com/assayhq/assay/internal/platform/secret"
)

// Pepper is the key pepper of every test.
const Pepper = "a pepper for tests, of 32 or more characters"

// Config is the configuration of an application with databases of its own. The
// product's loader reads it, so that what a test does not set has the default
// that users get.
func Config(t testing.TB) app.Config {
	t.Helper()
	// The two databases are made side by side.
	var g errgroup.Group
	var ch clickhouse.Config
	g.Go(func() error { ch = clickhousetest.New(t); return nil })
	pg := postgrestest.New(t)
	require.NoError(t, g.Wait())
	var cfg app.Config
	_, err := config.Load(&cfg, nil, environ(t, pg, ch))
	require.NoError(t, err)
	cfg.Trace.Announce = 25 * time.Second
	// Requests of many megabytes take long on a busy machine.
	cfg.HTTP.RequestTimeout, cfg.Trace.InsertTimeout = 5*time.Minute, 25*time.Second
	return cfg
}

// environ are the settings of a test: addresses of its own, and no waiting
// where the product waits to save work.
func environ(t testing.TB, pg postgres.Config, ch clickhouse.Config) []string {
	t.Helper()
	return []string{
		"ASSAY_HTTP_ADDR=127.0.0.1:0",
		"ASSAY_HTTP_INTERNAL_ADDR=",
		"ASSAY_POSTGRES_URL=" + pg.URL.Reveal(),
		"ASSAY_POSTGRES_OWNER_URL=" + pg.OwnerURL.Reveal(),
		"ASSAY_POSTGRES_MAX_CONNS=" + strconv.Itoa(pg.MaxConns),
		"ASSAY_POSTGRES_CONN_WAIT=" + pg.ConnWait.String(),
		"ASSAY_CLICKHOUSE_URL=" + ch.URL.Reveal(),
		"ASSAY_CLICKHOUSE_READER_URL=" + ch.ReaderURL.Reveal(),
		"ASSAY_TEMPORAL_ADDRESS=" + engine(t, "ASSAY_TEMPORAL_ADDRESS"),
		"ASSAY_TEMPORAL_NAMESPACE=" + engine(t, "ASSAY_TEMPORAL_NAMESPACE"),
		"ASSAY_TEMPORAL_QUEUE_PREFIX=test-" + random(),
		"ASSAY_KEY_PEPPER=" + Pepper,
		"ASSAY_SECRET_MASTER_KEY=" + masterKey(t),
		"ASSAY_EGRESS_ALLOW=127.0.0.0/8",    // where providers and applications of tests are
		"ASSAY_KEY_FAILURES_MINUTE=1000000", // tests fail on purpose, and from one address
		"ASSAY_PAGES_ATTEMPTS_MINUTE=1000000",
		"ASSAY_PLAN_SPANS_HOUR=1000000", // which a test can exhaust
		"ASSAY_PLAN_BYTES_HOUR=1000000000",
		"ASSAY_BLOB_URL=file://" + t.TempDir(),
		"ASSAY_DATASET_KEEP_DELETED=0s",
		"ASSAY_EVALUATION_KEEP_DELETED=0s",
		"ASSAY_RULE_POLL=100ms",
		"ASSAY_RULE_SETTLE=3s", // as long as a write takes on a busy machine
		"ASSAY_EVIDENCE_POLL=100ms",
		"ASSAY_EVIDENCE_SETTLE=3s",
		"ASSAY_ERASURE_SETTLE=2s",
		"ASSAY_ERASURE_PURGE_INTERVAL=2s",
		"ASSAY_TRACE_GROUP_INTERVAL=0s",
		"ASSAY_TRACE_GRPC_ADDR=",
	}
}

func masterKey(t testing.TB) string {
	t.Helper()
	key, err := secret.NewMasterKey()
	require.NoError(t, err)
	return key.Reveal()
}

// engine is the address of an engine of this checkout.
func engine(t testing.TB, name string) string {
	t.Helper()
	v, err := devenv.Get(name)
	require.NoError(t, err)
	return v
}
