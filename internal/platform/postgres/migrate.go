package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver that the migration engine uses
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
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
	db, err := sql.Open("pgx", cfg.OwnerURL.Reveal())
	if err != nil {
		return nil, errors.New("owner_url cannot be read")
	}
	defer func() { _ = db.Close() }()
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, fmt.Errorf("prepare migration lock: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, migrations, goose.WithSessionLocker(locker))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	results, err := up(p, ctx)
	var applied []Applied
	for _, r := range results {
		applied = append(applied, Applied{Version: r.Source.Version, Name: r.Source.Path, Took: r.Duration})
	}
	if err != nil {
		return applied, fmt.Errorf("migrate postgres: %w", err)
	}
	return applied, nil
}

// ErrSchemaBehind is returned by CheckSchema.
var ErrSchemaBehind = errors.New("the database schema is older than this binary")

// CheckSchema fails if the schema is older than want. A newer schema is fine:
// migrations only add, so that the old binary keeps working during an upgrade.
func (db *DB) CheckSchema(ctx context.Context, want int64) error {
	var have int64
	err := db.pool.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&have)
	if err != nil {
		return fmt.Errorf("read schema version (has `assay migrate` run?): %w", translate(err))
	}
	if have < want {
		return fmt.Errorf("%w: it is at %d and this binary needs %d; run `assay migrate`", ErrSchemaBehind, have, want)
	}
	return nil
}
