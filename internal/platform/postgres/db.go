package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// DB is the pool of the runtime role. It has no query methods of its own: a
// query is made through Org, Claim or InTx, which say whose rows it may see.
type DB struct {
	pool *pgxpool.Pool
}

// Open prepares the pool. It does not wait for the server: a process starts
// without its database and becomes ready when the database is there.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	pc, err := pgxpool.ParseConfig(cfg.URL.Reveal())
	if err != nil {
		return nil, errors.New("postgres url cannot be read")
	}
	pc.MaxConns = int32(cfg.MaxConns)
	pc.HealthCheckPeriod = 5 * time.Second
	pc.ConnConfig.ConnectTimeout = 5 * time.Second
	pc.ConnConfig.RuntimeParams["application_name"] = "assay"
	pc.ConnConfig.Tracer = otelpgx.NewTracer(otelpgx.WithDisableConnectionDetailsInAttributes())
	// Every connection is checked, so that no statement ever runs under a role
	// that row-level security does not bind.
	pc.AfterConnect = checkRole
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("open postgres pool: %w", err)
	}
	return &DB{pool: pool}, nil
}

// Close returns when every connection is closed.
func (db *DB) Close() { db.pool.Close() }

// Ping reports whether the server answers.
func (db *DB) Ping(ctx context.Context) error { return translate(db.pool.Ping(ctx)) }

// Pool exposes the pool's counters to metrics.
func (db *DB) Pool() *pgxpool.Stat { return db.pool.Stat() }

// ErrUnsafeRole is why a connection under a privileged role is not used.
var ErrUnsafeRole = errors.New("the runtime role could see every organization's rows")

// checkRole fails unless row-level security binds the connection's role: not a
// superuser, not exempt, and not the owner of any table of the schema.
func checkRole(ctx context.Context, conn *pgx.Conn) error {
	var role string
	var super, bypass, owner bool
	err := conn.QueryRow(ctx, `
		SELECT r.rolname, r.rolsuper, r.rolbypassrls,
		       EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		               WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND pg_has_role(r.oid, c.relowner, 'MEMBER'))
		FROM pg_roles r WHERE r.rolname = current_user`).Scan(&role, &super, &bypass, &owner)
	if err != nil {
		return fmt.Errorf("read runtime role: %w", err)
	}
	if super || bypass || owner {
		return fmt.Errorf("%w: role %q has superuser=%t bypassrls=%t owner=%t; connect as a plain role such as assay_app and keep the owner for `assay migrate`",
			ErrUnsafeRole, role, super, bypass, owner)
	}
	return nil
}
