package erasure

import (
	"context"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/tenancy"
)

// Eraser removes what a domain keeps of an organization outside of the
// databases, and returns how many objects there were. It may be called again.
type Eraser func(ctx context.Context, org principal.OrgID) (int64, error)

// Service erases organizations.
type Service struct {
	organizations *tenancy.Service
	erasers       []Eraser
	store         store
}

// New makes the service. The erasers of domains come with Use.
func New(stores Stores, organizations *tenancy.Service) *Service {
	return &Service{organizations: organizations, store: store{db: stores.Postgres, ch: stores.ClickHouse}}
}

// Use registers the erasers of domains, before the service runs.
func (s *Service) Use(erasers ...Eraser) { s.erasers = append(s.erasers, erasers...) }

// eraseEvents erases what the data plane has of an organization. Once the
// organization is gone it also erases what work that was under way wrote behind
// the erasure's back; the certificate is complete then and counts none of it.
func (s *Service) eraseEvents(ctx context.Context, org principal.OrgID, beat func(string)) error {
	gone, err := s.store.gone(ctx, org)
	if err != nil {
		return err
	}
	if !gone {
		return s.store.eraseEvents(ctx, org, s.organizations.CountErasedTx, beat)
	}
	for _, erase := range s.erasers {
		if _, err := erase(ctx, org); err != nil {
			return err
		}
	}
	if err := s.store.eraseRows(ctx, org, uncounted, beat); err != nil {
		return err
	}
	return s.store.eraseEvents(ctx, org, uncounted, beat)
}

func uncounted(context.Context, postgres.Tx, string, string, func(int64) int64) error { return nil }

// eraseRows erases what domains keep elsewhere and what the control plane has,
// and last the organization itself.
func (s *Service) eraseRows(ctx context.Context, org principal.OrgID, beat func(string)) error {
	for _, erase := range s.erasers {
		n, err := erase(ctx, org)
		if err != nil {
			return err
		}
		// A run after the certificate's end finds nothing and counts nothing.
		if n == 0 {
			continue
		}
		err = postgres.InTx(ctx, s.store.db, org, func(tx postgres.Tx) error {
			return s.organizations.CountErasedTx(ctx, tx, "files", "objects", func(counted int64) int64 { return counted + n })
		})
		if err != nil {
			return err
		}
	}
	if err := s.store.eraseRows(ctx, org, s.organizations.CountErasedTx, beat); err != nil {
		return err
	}
	return postgres.InTx(ctx, s.store.db, org, func(tx postgres.Tx) error { return s.organizations.EraseOrganizationTx(ctx, tx) })
}
