package policy

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// What callers are refused with.
var (
	ErrNotFound = fault.New(fault.NotFound, "policy_not_found", "The policy does not exist.")
	ErrKeyTaken = fault.New(fault.Conflict, "already_exists", "A policy with this key already exists. Change it, or choose another key.")
	ErrConflict = fault.New(fault.Conflict, "version_conflict", "The policy has changed since you read it. Read it again and repeat the change.")
	ErrTooLarge = fault.New(fault.Conflict, "policy_set_too_large", "With this policy, the organization's active policies would exceed the limits: 2,000 policies, 409,600 bytes of sources and keys together, and 100 different facts. Retire some, or shorten them.")
	ErrTooMany  = fault.New(fault.Conflict, "too_many_policies", "The organization has 5,000 policies, drafts and retired ones included, or the policy has 1,000 versions. Delete drafts, or replace the policy.")
)

// What an organization may keep.
const (
	maxPolicies = 5000
	maxVersions = 1000
)

// Policy is rules about what agents may do.
type Policy struct {
	ID    int64
	Key   string // names the policy among those of the organization
	Name  string
	State State
	Spec
	Number    int64 // of the current version
	CreatedBy principal.Actor
	CreatedAt time.Time
	UpdatedAt time.Time
	Changes   int64

	used bool // it is or was active
}

// Spec is what a version keeps.
type Spec struct {
	Mode      Mode
	Source    string
	AppliesTo AppliesTo
	Tests     []Test
}

// AppliesTo restricts a policy; an empty list restricts nothing.
type AppliesTo struct {
	RuntimeKeys   []string `json:"runtime_keys"`
	ConnectorKeys []string `json:"connector_keys"`
	Environments  []string `json:"environments"`
}

// Version is a spec that a policy had.
type Version struct {
	Number int64
	Spec
	CreatedBy principal.Actor
	CreatedAt time.Time
}

// enforces reports whether the policy allows or denies what agents do.
func (p Policy) enforces() bool { return p.State == StateActive && p.Mode == ModeEnforce }

// decides reports whether the policy is part of the set.
func (p Policy) decides() bool { return p.State == StateActive && p.Mode != ModeDisabled }

// List selects policies; an empty field matches everything.
type List struct {
	States []State
	Modes  []Mode
	Key    string
	postgres.Page
}

// List returns a page of policies, newest first, with one more than the limit if there
// is a next page.
func (s *Service) List(ctx context.Context, org principal.OrgID, l List) ([]Policy, int64, error) {
	if err := s.ensure(ctx, org); err != nil {
		return nil, 0, err
	}
	return s.store.list(ctx, org, l)
}

// Find returns one policy.
func (s *Service) Find(ctx context.Context, org principal.OrgID, id int64) (Policy, error) {
	return s.store.find(ctx, org, id)
}

// Versions returns a page of a policy's versions, newest first, with one more than the
// limit if there is a next page.
func (s *Service) Versions(ctx context.Context, org principal.OrgID, id int64, p postgres.Page) ([]Version, int64, error) {
	if _, err := s.Find(ctx, org, id); err != nil {
		return nil, 0, err
	}
	return s.store.versions(ctx, org, id, p)
}

// CreateTx makes a policy. What it says was checked before. Only people make one that is enforced at
// once.
func (s *Service) CreateTx(ctx context.Context, tx postgres.Tx, p Policy) (Policy, error) {
	if p.enforces() {
		if err := principal.RequirePerson(ctx); err != nil {
			return Policy{}, err
		}
	}
	if err := s.lockTx(ctx, tx); err != nil {
		return Policy{}, err
	}
	return s.insertTx(ctx, tx, p)
}

// insertTx makes a policy while no other one changes.
func (s *Service) insertTx(ctx context.Context, tx postgres.Tx, p Policy) (Policy, error) {
	if n, err := s.store.countTx(ctx, tx); err != nil || n >= maxPolicies {
		return Policy{}, cmp.Or(err, error(ErrTooMany))
	}
	p.CreatedBy, p.CreatedAt = principal.ActorOf(ctx), s.now()
	p.UpdatedAt, p.Changes, p.Number, p.used = p.CreatedAt, 1, 1, p.State == StateActive
	var err error
	if p.ID, err = s.store.insertTx(ctx, tx, p); err != nil {
		return Policy{}, err
	}
	if err := s.store.insertVersionTx(ctx, tx, p); err != nil {
		return Policy{}, err
	}
	if p.decides() {
		if err := s.changedTx(ctx, tx); err != nil {
			return Policy{}, err
		}
	}
	return p, change.RecordTx(ctx, s.log, tx, eventCreated, p.ID, nil, &p)
}

// UpdateTx changes a policy. A change of what decisions depend on, or of the tests, makes
// a new version. What comes out is checked, unless it is what was checked before the
// transaction. Only people change what is enforced.
func (s *Service) UpdateTx(ctx context.Context, tx postgres.Tx, expected, id int64, checked Spec, edit func(*Policy)) (Policy, error) {
	if err := s.lockTx(ctx, tx); err != nil {
		return Policy{}, err
	}
	return change.Update(change.Edit[Policy]{
		Expected: expected, Conflict: ErrConflict,
		Lock:  func() (Policy, error) { return s.store.lockPolicyTx(ctx, tx, id) },
		Apply: func(p *Policy) error { edit(p); return nil },
		Save:  func(before Policy, after *Policy) error { return s.saveTx(ctx, tx, checked, before, after) },
		Audit: func(before, after Policy) error {
			return change.RecordTx(ctx, s.log, tx, eventUpdated, id, &before, &after)
		},
	})
}

func (s *Service) saveTx(ctx context.Context, tx postgres.Tx, checked Spec, before Policy, after *Policy) error {
	if before.State == StateRetired {
		return ErrRetired
	}
	if err := move(before.State, after.State); err != nil {
		return err
	}
	after.UpdatedAt, after.Changes, after.used = s.now(), before.Changes+1, before.used || after.State == StateActive
	differs := !before.Spec.equal(after.Spec)
	if before.enforces() != after.enforces() || differs && after.enforces() {
		if err := principal.RequirePerson(ctx); err != nil {
			return err
		}
	}
	if differs {
		if !after.Spec.equal(checked) { // somebody changed the rest of it meanwhile
			if err := passed(run(after.Spec)); err != nil {
				return err
			}
		}
		if after.Number++; after.Number > maxVersions {
			return ErrTooMany
		}
	}
	if err := s.store.updateTx(ctx, tx, *after); err != nil {
		return err
	}
	if differs {
		if err := s.store.insertVersionTx(ctx, tx, *after); err != nil {
			return err
		}
	}
	if before.decides() != after.decides() || differs && after.decides() {
		return s.changedTx(ctx, tx)
	}
	return nil
}

// DeleteTx removes a policy that was never active.
func (s *Service) DeleteTx(ctx context.Context, tx postgres.Tx, id int64) error {
	if err := s.lockTx(ctx, tx); err != nil {
		return err
	}
	p, err := s.store.lockPolicyTx(ctx, tx, id)
	if err != nil {
		return err
	}
	if p.used {
		return ErrInUse
	}
	if err := s.store.deleteTx(ctx, tx, id); err != nil {
		return err
	}
	return change.RecordTx(ctx, s.log, tx, eventDeleted, id, &p, nil)
}

// equal reports whether two specs say the same.
func (s Spec) equal(other Spec) bool {
	if s.Mode != other.Mode || s.Source != other.Source || !s.AppliesTo.equal(other.AppliesTo) || len(s.Tests) != len(other.Tests) {
		return false
	}
	for i, t := range s.Tests {
		o := other.Tests[i]
		if t.Name != o.Name || t.Expect != o.Expect || t.RuleID != o.RuleID || !bytes.Equal(t.Input, o.Input) {
			return false
		}
	}
	return true
}

func (a AppliesTo) equal(b AppliesTo) bool {
	return slices.Equal(a.RuntimeKeys, b.RuntimeKeys) && slices.Equal(a.ConnectorKeys, b.ConnectorKeys) && slices.Equal(a.Environments, b.Environments)
}

// source is the policy as the engine reads it.
func (p Policy) source() engine.Source {
	return engine.Source{Key: p.Key, Version: p.Number, Mode: engine.Mode(p.Mode), AppliesTo: engine.AppliesTo(p.AppliesTo), Text: p.Source}
}
