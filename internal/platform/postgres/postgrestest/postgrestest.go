// Package postgrestest gives each test a PostgreSQL database of its own.
package postgrestest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/db"
	"github.com/assayhq/assay/internal/platform/devenv"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
)

// oddZone has a half-hour offset and daylight saving time: code that forgets a
// time zone does not pass by accident.
const oddZone = "Australia/Adelaide"

// New returns the configuration of a fresh, migrated database. The database of
// a test that fails is kept, and its URL is printed.
func New(t testing.TB) postgres.Config {
	t.Helper()
	made, err := ahead.Take(t.Context())
	require.NoError(t, err)
	name := "assay_test_" + random()
	require.NoError(t, rename(t.Context(), made, name))
	cfg := at(name)
	t.Cleanup(func() { drop(t, name, cfg) })
	return cfg
}

// Empty returns the configuration of a fresh database without tables.
func Empty(t testing.TB) postgres.Config {
	t.Helper()
	name := "assay_test_" + random()
	require.NoError(t, admin(t.Context(), func(c *pgx.Conn) error {
		_, err := c.Exec(t.Context(), "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
		return err
	}))
	cfg := at(name)
	t.Cleanup(func() { drop(t, name, cfg) })
	return cfg
}

func drop(t testing.TB, name string, cfg postgres.Config) {
	if t.Failed() {
		t.Logf("the database of this failed test is kept: psql %s", cfg.OwnerURL.Reveal())
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
	defer cancel()
	err := admin(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
		return err
	})
	if err != nil {
		t.Logf("database %s is left behind: %v", name, err)
	}
}

// ahead keeps the next databases ready.
var ahead = devenv.NewAhead(2, func(ctx context.Context) (string, error) {
	tmpl, err := template()
	if err != nil {
		return "", err
	}
	name := devenv.AheadName(random())
	return name, clone(ctx, tmpl, name)
})

func rename(ctx context.Context, from, to string) error {
	return admin(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, "ALTER DATABASE "+pgx.Identifier{from}.Sanitize()+" RENAME TO "+pgx.Identifier{to}.Sanitize())
		return err
	})
}

// sweep drops what processes that are gone made ahead and never took.
func sweep(ctx context.Context, c *pgx.Conn) error {
	rows, err := c.Query(ctx, "SELECT datname FROM pg_database WHERE starts_with(datname, 'assay_ahead_')")
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		if devenv.Orphan(name) {
			// Somebody else may drop it at the same time.
			_, _ = c.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
		}
	}
	return nil
}

func clone(ctx context.Context, tmpl, name string) error {
	return admin(ctx, func(c *pgx.Conn) error {
		quoted := pgx.Identifier{name}.Sanitize()
		if _, err := c.Exec(ctx, "CREATE DATABASE "+quoted+" TEMPLATE "+pgx.Identifier{tmpl}.Sanitize()); err != nil {
			return err
		}
		_, err := c.Exec(ctx, "ALTER DATABASE "+quoted+" SET timezone TO '"+oddZone+"'")
		return err
	})
}

// template makes the migrated database that the others are cloned from, once
// for each content of the migrations.
var template = sync.OnceValues(func() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	sum := sha256.New()
	names, err := fs.Glob(db.Postgres(), "*.sql")
	if err != nil {
		return "", err
	}
	for _, n := range names {
		text, err := fs.ReadFile(db.Postgres(), n)
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	name := "assay_template_" + hex.EncodeToString(sum.Sum(nil))[:12]
	return name, admin(ctx, func(c *pgx.Conn) error {
		// Test processes of several packages start at once; one makes it.
		if _, err := c.Exec(ctx, "SELECT pg_advisory_lock(hashtext($1))", name); err != nil {
			return err
		}
		if err := sweep(ctx, c); err != nil {
			return err
		}
		var exists bool
		if err := c.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", name).Scan(&exists); err != nil || exists {
			return err
		}
		building := name + "_building"
		quoted := pgx.Identifier{building}.Sanitize()
		for _, statement := range []string{"DROP DATABASE IF EXISTS " + quoted + " WITH (FORCE)", "CREATE DATABASE " + quoted} {
			if _, err := c.Exec(ctx, statement); err != nil {
				return err
			}
		}
		if _, err := postgres.Migrate(ctx, at(building), db.Postgres()); err != nil {
			return err
		}
		_, err := c.Exec(ctx, "ALTER DATABASE "+quoted+" RENAME TO "+pgx.Identifier{name}.Sanitize())
		return err
	})
})

// admin runs fn on a connection of the owner.
func admin(ctx context.Context, fn func(*pgx.Conn) error) error {
	owner, err := devenv.Get("ASSAY_POSTGRES_OWNER_URL")
	if err != nil {
		return err
	}
	c, err := pgx.Connect(ctx, owner)
	if err != nil {
		return fmt.Errorf("PostgreSQL does not answer: run `make up` (%w)", err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	return fn(c)
}

// patience is how long a test waits for a connection. Tests share two processors
// with the engines: a server that is only slow must not fail one that is about
// something else.
const patience = 30 * time.Second

// at is the configuration for one database of the development server.
func at(name string) postgres.Config {
	replace := func(setting string) secret.Text {
		text, err := devenv.Get(setting)
		if err != nil {
			return ""
		}
		u, err := url.Parse(text)
		if err != nil {
			return ""
		}
		u.Path = "/" + name
		return secret.Text(u.String())
	}
	return postgres.Config{URL: replace("ASSAY_POSTGRES_URL"), OwnerURL: replace("ASSAY_POSTGRES_OWNER_URL"), MaxConns: 10, ConnWait: patience}
}

func random() string {
	b := make([]byte, 6)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
