// Package postgres is the control plane's database: the pool, the handles that
// carry an organization for row-level security, transactions and migrations.
package postgres

import (
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/assayhq/assay/internal/platform/secret"
)

// Config says how to reach PostgreSQL.
type Config struct {
	URL      secret.Text `setting:"url" help:"Connection URL of the runtime role. The role must not own the tables, be a superuser or bypass row-level security."`
	OwnerURL secret.Text `setting:"owner_url" help:"Connection URL of the role that owns the tables. Only migrations use it."`
	MaxConns int         `setting:"max_conns" default:"20" help:"Maximum connections per process. A fifth of them, up to 4, only look up API keys."`
	// Somebody else's transactions hold all connections when the wait is this
	// long, and a caller does better to come again.
	ConnWait time.Duration `setting:"conn_wait" default:"2s" help:"Maximum wait for a connection. A request that waits longer is answered with 503."`
}

// reserved is how many of the connections only look up API keys.
func (c Config) reserved() int { return max(1, min(4, c.MaxConns/5)) }

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	var errs []error
	if c.URL == "" {
		errs = append(errs, errors.New("url is empty: give the connection URL of the runtime role, for example postgres://assay_app:PASSWORD@localhost:5432/assay"))
	} else if _, err := pgxpool.ParseConfig(c.URL.Reveal()); err != nil {
		// The driver's own words may quote the URL, password included.
		errs = append(errs, errors.New("url cannot be read: it should look like postgres://USER:PASSWORD@HOST:PORT/DATABASE"))
	}
	if c.OwnerURL != "" {
		if _, err := pgxpool.ParseConfig(c.OwnerURL.Reveal()); err != nil {
			errs = append(errs, errors.New("owner_url cannot be read: it should look like postgres://USER:PASSWORD@HOST:PORT/DATABASE"))
		}
	}
	if c.MaxConns < 2 {
		errs = append(errs, fmt.Errorf("max_conns is %d: it must be at least 2", c.MaxConns))
	}
	if c.ConnWait <= 0 {
		errs = append(errs, fmt.Errorf("conn_wait is %s: it must be more than 0", c.ConnWait))
	}
	return errors.Join(errs...)
}
