package statedb_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/internal/statedb"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/postgres/postgrestest"
)

// TestKeysAreNotHeldForAnOrganizationThatIsGone holds keys after an organization was erased. Keys
// do not refer to their organization; the lease that is made with them does.
func TestKeysAreNotHeldForAnOrganizationThatIsGone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cfg := postgrestest.New(t)
	db, err := postgres.Open(ctx, cfg)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	store, gone := statedb.New(db), principal.NewOrgID()

	claimed := false
	err = postgres.InTx(ctx, db, gone, func(tx postgres.Tx) error {
		_, err := store.ClaimTx(ctx, tx, map[record.Key]statedb.Want{record.Hashed("a"): {}}, time.Now())
		require.NoError(t, err)
		claimed = true
		_, _, _, err = store.HoldTx(ctx, tx, map[record.Key]statedb.Want{record.Hashed("b"): {}}, record.Key{}, time.Minute, time.Now())
		return err
	})

	require.True(t, claimed, "a claim alone does not notice")
	require.ErrorContains(t, err, "evidence_leases_org_id_fkey")
	owner, err := pgx.Connect(ctx, cfg.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = owner.Close(context.WithoutCancel(ctx)) })
	_, err = owner.Exec(ctx, "SELECT set_config('app.org', $1, false)", gone.String())
	require.NoError(t, err)
	var left int
	require.NoError(t, owner.QueryRow(ctx, "SELECT count(*) FROM evidence_keys").Scan(&left))
	require.Zero(t, left)
}
