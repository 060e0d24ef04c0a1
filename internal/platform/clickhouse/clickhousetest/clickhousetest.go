// Package clickhousetest gives each test a ClickHouse database of its own.
package clickhousetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/db"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/devenv"
	"github.com/assayhq/assay/internal/platform/secret"
)

// New returns the configuration of a fresh, migrated database. The database of
// a test that fails is kept, and its name is printed.
func New(t testing.TB) clickhouse.Config {
	t.Helper()
	base, err := devenv.Get("ASSAY_CLICKHOUSE_URL")
	require.NoError(t, err)
	server, err := clickhouse.Open(clickhouse.Config{URL: secret.Text(base)})
	require.NoError(t, err)
	raw := make([]byte, 6)
	_, _ = rand.Read(raw)
	name := "assay_test_" + hex.EncodeToString(raw)
	require.NoError(t, server.Writer().Exec(t.Context(), "CREATE DATABASE "+name), "ClickHouse does not answer: run `make up`")
	t.Cleanup(func() {
		defer func() { _ = server.Close() }()
		if t.Failed() {
			t.Logf("the ClickHouse database of this failed test is kept: %s", name)
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Writer().Exec(ctx, "DROP DATABASE IF EXISTS "+name); err != nil {
			t.Logf("ClickHouse database %s is left behind: %v", name, err)
		}
	})
	cfg := clickhouse.Config{URL: at(t, "ASSAY_CLICKHOUSE_URL", name), ReaderURL: at(t, "ASSAY_CLICKHOUSE_READER_URL", name)}
	_, err = clickhouse.Migrate(t.Context(), cfg, db.ClickHouse())
	require.NoError(t, err)
	return cfg
}

func at(t testing.TB, setting, name string) secret.Text {
	t.Helper()
	text, err := devenv.Get(setting)
	require.NoError(t, err)
	u, err := url.Parse(text)
	require.NoError(t, err)
	u.Path = "/" + name
	return secret.Text(u.String())
}
