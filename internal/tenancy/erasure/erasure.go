package erasure

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/tenancy"
)

// Part is what a domain contributes to the erasure of an organization. Whatever
// it does not have is left out. Each function may be called again, and returns
// how much it found.
type Part struct {
	// Stop ends the work of the organization that is under way.
	Stop func(ctx context.Context, org principal.OrgID) (int64, error)
	// Workflows are the kinds of its workflows: their ids are a kind, the
	// organization and a number.
	Workflows []string
	// Erase removes what it keeps outside of the databases.
	Erase func(ctx context.Context, org principal.OrgID) (int64, error)
}

// engine lists and ends workflows.
type engine interface {
	starter
	Each(ctx context.Context, prefix string, running bool, do func(temporal.Execution) error) error
	Terminate(ctx context.Context, e temporal.Execution, why string) error
	Forget(ctx context.Context, e temporal.Execution) error
}

// Service erases organizations.
type Service struct {
	cfg           Config
	organizations *tenancy.Service
	engine        engine
	parts         []Part
	store         store
}

// New makes the service. The parts of domains come with Use.
func New(stores Stores, cfg Config, organizations *tenancy.Service, engine engine) *Service {
	return &Service{cfg: cfg, organizations: organizations, engine: engine, store: store{db: stores.Postgres, ch: stores.ClickHouse}}
}

// Use registers the parts of domains, before the service runs.
func (s *Service) Use(parts ...Part) { s.parts = append(s.parts, parts...) }

// look erases everything that it finds of an organization, and returns how much
// that was. What it finds after the certificate is complete is not counted there.
func (s *Service) look(ctx context.Context, org principal.OrgID, beat func(string)) (found int64, err error) {
	gone, err := s.store.gone(ctx, org)
	if err != nil {
		return 0, err
	}
	count := s.organizations.CountErasedTx
	if gone {
		count = uncounted
	}
	for _, step := range []func() (int64, error){
		func() (int64, error) { return s.stop(ctx, org, beat) },
		func() (int64, error) { return s.eraseElsewhere(ctx, org, count, beat) },
		func() (int64, error) { return s.store.eraseEvents(ctx, org, count, beat) },
		func() (int64, error) { return s.store.eraseRows(ctx, org, count, beat) },
		func() (int64, error) { return s.forget(ctx, org, count, beat) },
	} {
		n, err := step()
		found += n
		if err != nil {
			return found, err
		}
		failpoint.Hit(Stepped)
	}
	return found, nil
}

func uncounted(context.Context, postgres.Tx, string, string, func(int64) int64) error { return nil }

// stop ends the work of the organization: what domains do, then every workflow
// of theirs. A worker that is busy with one notices when it next beats.
func (s *Service) stop(ctx context.Context, org principal.OrgID, beat func(string)) (found int64, err error) {
	for _, p := range s.parts {
		if p.Stop == nil {
			continue
		}
		beat("work")
		n, err := p.Stop(ctx, org)
		found += n
		if err != nil {
			return found, fmt.Errorf("stop the organization's work: %w", err)
		}
	}
	n, err := s.workflows(ctx, org, true, beat, func(e temporal.Execution) error {
		return s.engine.Terminate(ctx, e, "the organization is deleted")
	})
	return found + n, err
}

// forget deletes the histories of the organization's workflows: a reason why one
// failed may quote what the organization sent.
func (s *Service) forget(ctx context.Context, org principal.OrgID, count counter, beat func(string)) (int64, error) {
	n, err := s.workflows(ctx, org, false, beat, func(e temporal.Execution) error { return s.engine.Forget(ctx, e) })
	if err != nil || n == 0 {
		return n, err
	}
	return n, s.store.count(ctx, org, count, "temporal", "histories", n)
}

// workflows calls do for every workflow of the organization that is under way, or
// that has ended.
func (s *Service) workflows(ctx context.Context, org principal.OrgID, running bool, beat func(string), do func(temporal.Execution) error) (n int64, err error) {
	for _, p := range s.parts {
		for _, kind := range p.Workflows {
			err := s.engine.Each(ctx, kind+":"+org.String()+":", running, func(e temporal.Execution) error {
				beat(kind)
				n++
				return do(e)
			})
			if err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// eraseElsewhere erases what domains keep outside of the databases.
func (s *Service) eraseElsewhere(ctx context.Context, org principal.OrgID, count counter, beat func(string)) (found int64, err error) {
	for _, p := range s.parts {
		if p.Erase == nil {
			continue
		}
		beat("files")
		n, err := p.Erase(ctx, org)
		found += n
		if err != nil {
			return found, err
		}
		if n == 0 {
			continue
		}
		if err := s.store.count(ctx, org, count, "files", "objects", n); err != nil {
			return found, err
		}
	}
	return found, nil
}

// complete erases the organization itself and completes its certificate. It is
// called when a look has found nothing.
func (s *Service) complete(ctx context.Context, org principal.OrgID) error {
	gone, err := s.store.gone(ctx, org)
	if err != nil || gone {
		return err
	}
	return postgres.InTx(ctx, s.store.db, org, func(tx postgres.Tx) error { return s.organizations.EraseOrganizationTx(ctx, tx) })
}
