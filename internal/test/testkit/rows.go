package testkit

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/secret"
)

// Owner connects to PostgreSQL as the owner of the tables, with the claim of an
// organization.
func (k *Kit) Owner(t testing.TB, org principal.OrgID) *pgx.Conn {
	t.Helper()
	return claiming(t, k.App.Config.Postgres.OwnerURL, org)
}

// Runtime connects to PostgreSQL as the application does, with the claim of an
// organization.
func (k *Kit) Runtime(t testing.TB, org principal.OrgID) *pgx.Conn {
	t.Helper()
	return claiming(t, k.App.Config.Postgres.URL, org)
}

// Exec executes a statement on the rows of an organization as the application could.
func (k *Kit) Exec(t testing.TB, org principal.OrgID, statement string, args ...any) {
	t.Helper()
	_, err := k.Runtime(t, org).Exec(t.Context(), statement, args...)
	require.NoError(t, err)
}

func claiming(t testing.TB, url secret.Text, org principal.OrgID) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	_, err = c.Exec(t.Context(), "SELECT set_config('app.org', $1, false)", org.String())
	require.NoError(t, err)
	return c
}
