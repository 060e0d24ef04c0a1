package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/assayhq/assay/db"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/postgres"
)

type migrateCommand struct{}

// Run applies what is missing and says what it did.
func (migrateCommand) Run(e *environment) error {
	cfg, err := e.load()
	if err != nil {
		return err
	}
	pg, err := postgres.Migrate(e.ctx, cfg.Postgres, db.Postgres())
	for _, m := range pg {
		fmt.Fprintf(e.out, "postgres    %-24s %s\n", m.Name, m.Took.Round(time.Millisecond))
	}
	if err != nil {
		return err
	}
	ch, err := clickhouse.Migrate(e.ctx, cfg.ClickHouse, db.ClickHouse())
	for _, m := range ch {
		fmt.Fprintf(e.out, "clickhouse  %-24s %s\n", m.Name, m.Took.Round(time.Millisecond))
	}
	if err != nil {
		return err
	}
	if len(pg)+len(ch) == 0 {
		fmt.Fprintln(e.out, "The schemas are up to date.")
	}
	return warnUnfiltered(e, cfg.ClickHouse)
}

// warnUnfiltered says what to install if ClickHouse has no row filter. It is no
// error: processes of a release before the filter would read nothing under it,
// so it is installed after the last of them has ended.
func warnUnfiltered(e *environment, cfg clickhouse.Config) error {
	ch, err := clickhouse.Open(cfg)
	if err != nil {
		return err
	}
	defer func() { _ = ch.Close() }()
	err = ch.Filtered(e.ctx)
	if errors.Is(err, clickhouse.ErrUnfiltered) {
		fmt.Fprintln(e.errOut, "warning:", err)
		return nil
	}
	return err
}

// migrateEvery is how often a migration is tried that could not be applied.
const migrateEvery = time.Second

// runMigrations brings the tables up to date, first those of PostgreSQL, as soon as each
// engine answers. A process without the owner's password leaves PostgreSQL to
// `assay migrate`.
func (a *App) runMigrations(ctx context.Context) error {
	if a.Config.Postgres.OwnerURL != "" {
		a.migrate(ctx, "postgres", func() (names []string, err error) {
			applied, err := postgres.Migrate(ctx, a.Config.Postgres, db.Postgres())
			for _, m := range applied {
				names = append(names, m.Name)
			}
			return names, err
		})
	}
	if ctx.Err() != nil {
		return nil
	}
	a.migrating.Store(false)
	close(a.migrated)
	a.migrate(ctx, "clickhouse", func() (names []string, err error) {
		applied, err := clickhouse.Migrate(ctx, a.Config.ClickHouse, db.ClickHouse())
		for _, m := range applied {
			names = append(names, m.Name)
		}
		return names, err
	})
	return nil
}

// migrate tries until it has succeeded or ctx ends.
func (a *App) migrate(ctx context.Context, engine string, try func() ([]string, error)) {
	for {
		applied, err := try()
		if len(applied) > 0 {
			slog.InfoContext(ctx, "migrated", "engine", engine, "migrations", applied)
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		slog.WarnContext(ctx, "not migrated yet", "engine", engine, "retry_in", migrateEvery.String(), "error", err)
		select {
		case <-time.After(migrateEvery):
		case <-ctx.Done():
			return
		}
	}
}
