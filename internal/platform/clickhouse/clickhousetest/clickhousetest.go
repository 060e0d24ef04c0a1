// Package clickhousetest gives each test a ClickHouse database of its own.
package clickhousetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"testing"
	"time"

	chgo "github.com/ClickHouse/clickhouse-go/v2"
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
	server, err := clickhouse.Connect(secret.Text(base))
	require.NoError(t, err)
	// It keeps the name that it was made under: views remember the names of
	// their tables, and would look for them under the old one.
	name, err := ahead.Take(t.Context())
	require.NoError(t, err, "ClickHouse does not answer: run `make up`")
	require.NoError(t, server.Exec(t.Context(), "CREATE TABLE "+name+"."+claimed+" (n UInt8) ENGINE = TinyLog"))
	t.Cleanup(func() {
		defer func() { _ = server.Close() }()
		if t.Failed() {
			t.Logf("the ClickHouse database of this failed test is kept: %s", name)
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := server.Exec(ctx, "DROP DATABASE IF EXISTS "+name); err != nil {
			t.Logf("ClickHouse database %s is left behind: %v", name, err)
		}
	})
	cfg, err := at(name)
	require.NoError(t, err)
	return cfg
}

// ahead keeps the next databases ready.
var ahead = devenv.NewAhead(2, func(ctx context.Context) (name string, err error) {
	if err := sweep(ctx); err != nil {
		return "", err
	}
	if err := admin(func(conn driver.Conn) error { name, err = create(ctx, conn); return err }); err != nil {
		return "", err
	}
	cfg, err := at(name)
	if err != nil {
		return "", err
	}
	_, err = clickhouse.Migrate(ctx, cfg, db.ClickHouse())
	return name, err
})

// databases is how many names there are for databases of tests. The engine reads
// row filters when it starts, and a filter names its database, so the launcher
// writes one for each of these names.
const databases = 1000

// create makes an empty database under a name that is free. Its comment says
// which process made it.
func create(ctx context.Context, conn driver.Conn) (string, error) {
	const exists = 82 // ClickHouse's code for a database that is there already
	for range databases {
		drawn, err := rand.Int(rand.Reader, big.NewInt(databases))
		if err != nil {
			return "", err
		}
		name := fmt.Sprintf("assay_test_%03d", drawn)
		err = conn.Exec(ctx, "CREATE DATABASE "+name+" COMMENT '"+devenv.AheadName(random())+"'")
		var said *chgo.Exception
		if errors.As(err, &said) && said.Code == exists {
			continue
		}
		return name, err
	}
	return "", errors.New("every database of tests is taken by a failed one: drop those that you have looked at (SHOW DATABASES LIKE 'assay_test_%')")
}

// claimed is a table that marks a database as some test's own: it stays until
// that test drops it, or for the eyes of whoever looks at its failure.
const claimed = "claimed_by_a_test"

// sweep drops what processes that are gone made ahead and never took.
func sweep(ctx context.Context) error {
	return admin(func(conn driver.Conn) error {
		var names []struct {
			Name    string `ch:"name"`
			Comment string `ch:"comment"`
		}
		if err := conn.Select(ctx, &names, "SELECT name, comment FROM system.databases WHERE startsWith(name, 'assay_test_') AND name NOT IN (SELECT database FROM system.tables WHERE name = '"+claimed+"')"); err != nil {
			return err
		}
		for _, n := range names {
			if devenv.Orphan(n.Comment) {
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
	server, err := clickhouse.Connect(secret.Text(base))
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	return fn(server)
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
