package provider

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/provider/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// spend reads a purse; one that was never used is empty.
func (s store) spend(ctx context.Context, p purse) (ledger, error) {
	r, err := db.New(s.db.Org(p.org)).FindSpend(ctx, db.FindSpendParams{OrgID: p.org, Kind: p.kind, ID: p.id, Period: p.period})
	if postgres.NoRows(err) {
		return ledger{}, nil
	}
	if err != nil {
		return ledger{}, fmt.Errorf("find spend: %w", err)
	}
	l := ledger{spent: r.SpentNanoUsd, version: r.Version}
	if err := json.Unmarshal(r.Holds, &l.holds); err != nil {
		return ledger{}, fmt.Errorf("read holds: %w", err)
	}
	return l, nil
}

// changeSpend changes a purse as nobody else does at the same time: it reads it,
// and writes it if it is still what was read. Edit may be called several times.
func (s store) changeSpend(ctx context.Context, p purse, edit func(*ledger)) (ledger, error) {
	for {
		l, err := s.spend(ctx, p)
		if err != nil {
			return l, err
		}
		edit(&l)
		holds, err := json.Marshal(l.holds, json.Deterministic(true))
		if err != nil {
			return l, fmt.Errorf("write holds: %w", err)
		}
		n, err := db.New(s.db.Org(p.org)).PutSpend(ctx, db.PutSpendParams{
			OrgID: p.org, Kind: p.kind, ID: p.id, Period: p.period, SpentNanoUsd: l.spent, Holds: holds, ExpectedVersion: l.version,
		})
		if postgres.Violates(err, "model_spends_org_id_fkey") {
			return l, nil // the organization is gone, and nothing is left to count
		}
		if err != nil {
			return l, fmt.Errorf("put spend: %w", err)
		}
		if n == 1 {
			return l, nil
		}
		// Another process was quicker. They meet less often if each waits a
		// little, and another time than the others.
		t := time.NewTimer(rand.N(5 * time.Millisecond)) //nolint:gosec // spreads writers, decides nothing
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return l, ctx.Err()
		}
	}
}

// keyCap is the cap of a key by the month; a key that is gone has none.
func (s store) keyCap(ctx context.Context, org principal.OrgID, id int64) (*uint64, error) {
	k, err := s.find(ctx, s.db.Org(org), org, id, "")
	if errors.Is(err, ErrKeyNotFound) {
		return nil, nil
	}
	return k.MonthlyCapNanoUSD, err
}
