package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
)

// DB is the connections of the runtime role. It has no query methods of its own:
// a query is made through Org, Claim, Key or InTx, which say whose rows it may
// see. Key has connections that nobody else can take, so that callers are
// recognised however busy the others are. The organizations share the rest.
type DB struct {
	pool, keys *connections
}

// Open prepares the connections. It does not wait for the server: a process starts
// without its database and becomes ready when the database is there.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	pc, err := pgxpool.ParseConfig(cfg.URL.Reveal())
	if err != nil {
		return nil, errors.New("postgres url cannot be read")
	}
	pc.HealthCheckPeriod = 5 * time.Second
	pc.ConnConfig.ConnectTimeout = max(5*time.Second, cfg.ConnWait)
	pc.ConnConfig.RuntimeParams["application_name"] = "assay"
	pc.ConnConfig.Tracer = otelpgx.NewTracer(otelpgx.WithDisableConnectionDetailsInAttributes())
	// Every connection is checked, so that no statement ever runs under a role
	// that row-level security does not bind.
	pc.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		sendIDs(conn)
		return checkRole(ctx, conn)
	}
	reserved := cfg.reserved()
	keys, err := openPool(ctx, pc, reserved)
	if err != nil {
		return nil, err
	}
	pool, err := openPool(ctx, pc, cfg.MaxConns-reserved)
	if err != nil {
		keys.Close()
		return nil, err
	}
	return &DB{pool: &connections{pool, admission.NewTurns(int(pool.Config().MaxConns)), cfg.ConnWait}, keys: &connections{keys, nil, cfg.ConnWait}}, nil
}

func openPool(ctx context.Context, pc *pgxpool.Config, conns int) (*pgxpool.Pool, error) {
	pc = pc.Copy()
	pc.MaxConns = int32(max(1, conns))
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("open postgres pool: %w", err)
	}
	return pool, nil
}

// Close returns when every connection is closed.
func (db *DB) Close() {
	db.pool.Close()
	db.keys.Close()
}

// ErrBusy is what a caller sees who waited for a connection in vain.
var ErrBusy = fault.New(fault.Unavailable, "database_busy", "All connections to the database are in use. Retry in a moment; a write repeated with the same Idempotency-Key happens once.")

// connections is a pool that organizations share. Without turns whoever comes
// first is served first.
type connections struct {
	*pgxpool.Pool
	turns *admission.Turns
	wait  time.Duration
}

type pooled = pgxpool.Conn

// connection is one that is in use.
type connection struct {
	*pooled
	from  *connections
	org   principal.OrgID
	began time.Time
}

// acquire takes a connection for an organization, or for none, when its turn has
// come, and waits no longer for one than the configuration says.
func (c *connections) acquire(ctx context.Context, org principal.OrgID) (*connection, error) {
	if c.turns != nil {
		limit, cancel := context.WithTimeout(ctx, c.wait)
		defer cancel()
		if _, err := c.turns.Begin(limit, org); err != nil {
			if ctx.Err() != nil {
				return nil, translate(err)
			}
			return nil, fmt.Errorf("%w: %w", ErrBusy, err)
		}
	}
	held := &connection{from: c, org: org, began: time.Now()}
	limit, cancel := context.WithTimeout(ctx, c.wait)
	defer cancel()
	var err error
	if held.pooled, err = c.Acquire(limit); err == nil {
		return held, nil
	}
	held.pass()
	switch {
	case ctx.Err() != nil || limit.Err() == nil:
		return nil, translate(err)
	case c.Stat().AcquiredConns() < c.Stat().MaxConns():
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err) // it is the server that does not answer
	}
	return nil, fmt.Errorf("%w: %w", ErrBusy, err)
}

// Release gives the connection back.
func (c *connection) Release() {
	c.pooled.Release()
	c.pass()
}

// pass gives the turn to the next.
func (c *connection) pass() {
	if c.from.turns != nil {
		c.from.turns.End(c.org, time.Since(c.began))
	}
}

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
