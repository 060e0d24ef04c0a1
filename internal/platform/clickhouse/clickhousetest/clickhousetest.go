// Package clickhousetest gives each test a ClickHouse database of its own.
package clickhousetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
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
	// It keeps the name that it was made under: views remember the names of
	// their tables, and would look for them under the old one.
	name, err := ahead.Take(t.Context())
	require.NoError(t, err, "ClickHouse does not answer: run `make up`")
	require.NoError(t, server.Writer().Exec(t.Context(), "CREATE TABLE "+name+"."+claimed+" (n UInt8) ENGINE = TinyLog"))
	t.Cleanup(func() {
		defer func() { _ = server.Close() }()
		if t.Failed() {
			t.Logf("the ClickHouse database of this failed test is kept: %s", name)
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := server.Writer().Exec(ctx, "DROP DATABASE IF EXISTS "+name); err != nil {
			t.Logf("ClickHouse database %s is left behind: %v", name, err)
		}
	})
	cfg, err := at(name)
	require.NoError(t, err)
	return cfg
}

// ahead keeps the next databases ready.
var ahead = devenv.NewAhead(2, func(ctx context.Context) (string, error) {
	if err := sweep(ctx); err != nil {
		return "", err
	}
	name := devenv.AheadName(random())
	cfg, err := at(name)
	if err != nil {
		return "", err
	}
	if err := admin(func(conn driver.Conn) error { return conn.Exec(ctx, "CREATE DATABASE "+name) }); err != nil {
		return "", err
	}
	_, err = clickhouse.Migrate(ctx, cfg, db.ClickHouse())
	return name, err
})

// claimed is a table that marks a database as some test's own: it stays until
// that test drops it, or for the eyes of whoever looks at its failure.
const claimed = "claimed_by_a_test"

// sweep drops what processes that are gone made ahead and never took.
func sweep(ctx context.Context) error {
	return admin(func(conn driver.Conn) error {
		var names []struct {
			Name string `ch:"name"`
		}
		if err := conn.Select(ctx, &names, "SELECT name FROM system.databases WHERE startsWith(name, 'assay_ahead_') AND name NOT IN (SELECT database FROM system.tables WHERE name = '"+claimed+"')"); err != nil {
			return err
		}
		for _, n := range names {
			if devenv.Orphan(n.Name) {
				// Somebody else may drop it at the same time.
				_ = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+n.Name)
			}
		}
		return nil
	})
}

// admin runs fn on a pool of the server's default database.
func admin(fn func(driver.Conn) error) error {
	base, err := devenv.Get("ASSAY_CLICKHOUSE_URL")
	if err != nil {
		return err
	}
	server, err := clickhouse.Open(clickhouse.Config{URL: secret.Text(base)})
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	return fn(server.Writer())
}

// at is the configuration for one database of the development server.
func at(name string) (clickhouse.Config, error) {
	var urls [2]secret.Text
	for i, setting := range []string{"ASSAY_CLICKHOUSE_URL", "ASSAY_CLICKHOUSE_READER_URL"} {
		text, err := devenv.Get(setting)
		if err != nil {
			return clickhouse.Config{}, err
		}
		u, err := url.Parse(text)
		if err != nil {
			return clickhouse.Config{}, err
		}
		u.Path = "/" + name
		urls[i] = secret.Text(u.String())
	}
	return clickhouse.Config{URL: urls[0], ReaderURL: urls[1]}, nil
}

func random() string {
	b := make([]byte, 6)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
