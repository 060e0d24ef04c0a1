package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/assayhq/assay/internal/core/principal"
)

// Applied is one migration that Migrate ran.
type Applied struct {
	Version int64
	Name    string
	Took    time.Duration
}

// Migrate brings the schema to the newest of the given migrations, as the
// owner of the tables. Two processes may call it at once: one waits.
func Migrate(ctx context.Context, cfg Config, migrations fs.FS) ([]Applied, error) {
	return migrate(ctx, cfg, migrations, (*goose.Provider).Up)
}

// MigrateTo brings the schema up to one version and no further.
func MigrateTo(ctx context.Context, cfg Config, migrations fs.FS, version int64) ([]Applied, error) {
	return migrate(ctx, cfg, migrations, func(p *goose.Provider, ctx context.Context) ([]*goose.MigrationResult, error) {
		return p.UpTo(ctx, version)
	})
}

func migrate(ctx context.Context, cfg Config, migrations fs.FS, up func(*goose.Provider, context.Context) ([]*goose.MigrationResult, error)) ([]Applied, error) {
	if cfg.OwnerURL == "" {
		return nil, errors.New("migrations run as the owner of the tables: set ASSAY_POSTGRES_OWNER_URL")
	}
	owner, err := pgx.ParseConfig(cfg.OwnerURL.Reveal())
	if err != nil {
		return nil, errors.New("owner_url cannot be read")
	}
	owner.RuntimeParams["lock_timeout"] = strconv.FormatInt(lockTimeout.Milliseconds(), 10)
	db := stdlib.OpenDB(*owner)
	defer func() { _ = db.Close() }()
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, fmt.Errorf("prepare migration lock: %w", err)
	}
	// A branch that is merged late brings a migration older than the newest.
	p, err := goose.NewProvider(goose.DialectPostgres, db, migrations, goose.WithSessionLocker(locker), goose.WithAllowOutofOrder(true))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	var applied []Applied
	for tries := 1; ; tries++ {
		results, err := up(p, ctx)
		var partial *goose.PartialError
		if errors.As(err, &partial) {
			results = partial.Applied
		}
		for _, r := range results {
			applied = append(applied, Applied{Version: r.Source.Version, Name: r.Source.Path, Took: r.Duration})
		}
		if err == nil {
			return applied, nil
		}
		if !locked(err) {
			return applied, fmt.Errorf("migrate postgres: %w", err)
		}
		if tries == lockTries {
			return applied, fmt.Errorf("migrate postgres: a table stayed locked over %d tries; see pg_stat_activity for a transaction that does not end, and run the migrations again: %w", tries, err)
		}
		slog.WarnContext(ctx, "a migration waits for a table that is in use", "error", err, "tries", tries, "retry_in", lockPause.String())
		select {
		case <-ctx.Done():
			return applied, ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// A migration that waits for a table makes everybody else wait for it too. It
// gives up soon, lets the others through, and begins again.
const (
	lockTimeout = time.Second
	lockPause   = 2 * time.Second
	lockTries   = 100
)

// locked reports whether a statement gave up waiting for a lock.
func locked(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "55P03"
}

// ErrSchemaBehind is returned by CheckSchema.
var ErrSchemaBehind = errors.New("the database schema is older than this binary")

// CheckSchema fails unless every given migration has been applied. A newer
// schema is fine: migrations only add, so that the old binary keeps working
// during an upgrade. Versions are times, and a branch that is merged late brings
// an older one, so the newest version alone says nothing.
func (db *DB) CheckSchema(ctx context.Context, migrations fs.FS) error {
	want, err := Versions(migrations)
	if err != nil {
		return err
	}
	conn, err := db.keys.acquire(ctx, principal.OrgID{}) // readiness is not about how busy the others are
	if err != nil {
		return err
	}
	defer conn.Release()
	var missing []int64
	err = conn.QueryRow(ctx, `
		SELECT coalesce(array_agg(want ORDER BY want), '{}') FROM unnest($1::bigint[]) AS want
		WHERE want NOT IN (SELECT version_id FROM goose_db_version WHERE is_applied)`, want).Scan(&missing)
	if err != nil {
		return fmt.Errorf("read schema version (has `assay migrate` run?): %w", translate(err))
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: it lacks %d migrations, the first is %d; run `assay migrate`", ErrSchemaBehind, len(missing), missing[0])
	}
	return nil
}

// Versions are the numbers that the names of migrations begin with, in order.
func Versions(migrations fs.FS) ([]int64, error) {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(names))
	for i, name := range names {
		if out[i], err = goose.NumericComponent(name); err != nil {
			return nil, fmt.Errorf("migration %s: %w", name, err)
		}
	}
	slices.Sort(out)
	return out, nil
}
