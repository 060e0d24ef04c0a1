package tenancy

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy/price"
)

// Proposal is a laxer separation of duties that one person has asked for and another one
// has to agree to.
type Proposal struct {
	Value string    `json:"value"`
	By    uuid.UUID `json:"by"`
	At    time.Time `json:"at"`
}

// ErrVersionConflict is returned when a resource has changed since the caller
// read it.
var ErrVersionConflict = fault.New(fault.Conflict, "version_conflict", "The resource has changed since you read it. Read it again and repeat the change.")

// ErrOrganizationNotFound is returned when there is no such organization.
var ErrOrganizationNotFound = fault.New(fault.NotFound, "organization_not_found", "The organization does not exist.")

// Organization is a tenant: everything else belongs to one.
type Organization struct {
	ID          principal.OrgID
	Name        string
	Status      Status
	Plan        Plan
	HourlyLimit int
	Settings    Settings
	Version     int64
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Settings are what an organization decides for itself.
type Settings struct {
	// RetentionDays is how long traces are kept; zero means the deployment's
	// default.
	RetentionDays int `json:"retention_days,omitzero"`
	// SeparationOfDuties says who counts as the requester of an approval:
	// requester, key_owner or off.
	SeparationOfDuties string `json:"separation_of_duties,omitzero"`
	// SeparationProposal is a laxer one that waits for a second person.
	SeparationProposal *Proposal `json:"separation_proposal,omitzero"`
	// RedactionRules remove content before it is stored.
	RedactionRules []RedactionRule `json:"redaction_rules,omitzero"`
	// PriceOverrides replace the price table, by model.
	PriceOverrides map[string]Price `json:"price_overrides,omitzero"`
	// ModelSpendCapUSD is what calls of models may cost in a calendar month; nil
	// sets no cap.
	ModelSpendCapUSD *float64 `json:"model_spend_cap_usd,omitzero"`
}

// RedactionRule removes the value of a field, or the text that a pattern
// matches.
type RedactionRule struct {
	Name    string `json:"name"`
	Key     string `json:"key,omitempty"`
	Pattern string `json:"pattern,omitempty"`
}

// Price is what a million tokens of a model cost, in US dollars.
type Price struct {
	InputPerMillion  float64 `json:"input_per_million"`
	OutputPerMillion float64 `json:"output_per_million"`
}

// Prices is the table of what models cost the organization.
func (s Settings) Prices() *price.Table {
	overrides := make(map[string]price.Price, len(s.PriceOverrides))
	for model, p := range s.PriceOverrides {
		overrides[model] = price.Price{Input: p.InputPerMillion, CachedInput: p.InputPerMillion, CacheWrite: p.InputPerMillion, Output: p.OutputPerMillion}
	}
	return price.NewTable(overrides)
}

// FirstMember is the person that an organization begins with.
type FirstMember struct {
	Email, Name string
}

// Bootstrapped is what a new organization's operator must keep.
type Bootstrapped struct {
	Org   principal.OrgID
	Owner uuid.UUID
	// Key is shown here and can never be read again.
	Key secret.Text
}

// Bootstrap makes an organization with its owner and its first key, a service
// key with the given scopes.
func (s *Service) Bootstrap(ctx context.Context, name string, owner FirstMember, first NewKey) (Bootstrapped, error) {
	b := Bootstrapped{Org: principal.NewOrgID()}
	err := postgres.InTx(ctx, s.db, b.Org, func(tx postgres.Tx) error {
		org := Organization{ID: b.Org, Name: name, Plan: s.plans.Plan()}
		if err := s.store.insertOrganizationTx(ctx, tx, org, s.now()); err != nil {
			return err
		}
		m, err := s.addMemberTx(ctx, tx, Member{Email: owner.Email, Name: owner.Name, Role: principal.Owner, Status: MemberActive})
		if err != nil {
			return err
		}
		b.Owner = m.UserID
		_, b.Key, err = s.createKeyTx(ctx, tx, first)
		if err != nil {
			return err
		}
		if org, err = s.store.organization(ctx, tx, b.Org); err != nil {
			return err
		}
		return s.log.AuditTx(ctx, tx, change.Entry{Event: eventOrganizationCreated, ID: b.Org.String(), After: org})
	})
	return b, err
}

// Organization returns the caller's organization.
func (s *Service) Organization(ctx context.Context, org principal.OrgID) (Organization, error) {
	o, err := s.store.organization(ctx, s.db.Org(org), org)
	if err != nil {
		return Organization{}, err
	}
	o.HourlyLimit = s.plans.limit(o.Plan, o.HourlyLimit)
	return o, nil
}

// OrganizationTx is Organization within a transaction.
func (s *Service) OrganizationTx(ctx context.Context, tx postgres.Tx) (Organization, error) {
	return s.store.organization(ctx, tx, tx.Org)
}

// Active reports whether work may be done for an organization: it is neither
// suspended nor being deleted.
func (s *Service) Active(ctx context.Context, org principal.OrgID) (bool, error) {
	o, err := s.Organization(ctx, org)
	return o.Status == StatusActive, err
}

// UpdateOrganizationTx changes the name and the settings.
func (s *Service) UpdateOrganizationTx(ctx context.Context, tx postgres.Tx, expected int64, edit func(*Organization) error) (Organization, error) {
	o, err := change.Update(change.Edit[Organization]{
		Expected: expected, Conflict: ErrVersionConflict,
		Lock:  func() (Organization, error) { return s.store.lockOrganizationTx(ctx, tx) },
		Apply: edit,
		Save: func(before Organization, after *Organization) error {
			after.UpdatedAt, after.Version = s.now(), before.Version+1
			return s.store.updateOrganizationTx(ctx, tx, before.Version, *after)
		},
		Audit: func(before, after Organization) error {
			return s.log.AuditTx(ctx, tx, change.Entry{Event: eventOrganizationUpdated, ID: tx.Org.String(), Before: before, After: after})
		},
	})
	o.HourlyLimit = s.plans.limit(o.Plan, o.HourlyLimit)
	return o, err
}

// SetPlan grants a plan, and a limit of its own if hourly is not zero. Only
// the operator of the deployment calls it.
func (s *Service) SetPlan(ctx context.Context, org principal.OrgID, plan Plan, hourly int) error {
	return s.operate(ctx, org, eventOrganizationPlan, func(tx postgres.Tx) error {
		return s.store.setPlanTx(ctx, tx, plan, hourly, s.now())
	})
}

// TopicOrganizationSuspended is published when an organization is suspended, for
// whoever works for it.
const TopicOrganizationSuspended = "organization.suspended"

// Suspended names an organization that was suspended.
type Suspended struct {
	Org principal.OrgID `json:"org"`
}

// Suspend stops an organization from using the platform, and Resume lets it
// use it again. Only the operator of the deployment calls them.
func (s *Service) Suspend(ctx context.Context, org principal.OrgID) error {
	return s.operate(ctx, org, eventOrganizationSuspended, func(tx postgres.Tx) error {
		if err := s.store.setStatusTx(ctx, tx, StatusActive, StatusSuspended, s.now()); err != nil {
			return err
		}
		return s.log.PublishTx(ctx, tx, TopicOrganizationSuspended, org.String(), Suspended{Org: org})
	})
}

// Resume ends a suspension.
func (s *Service) Resume(ctx context.Context, org principal.OrgID) error {
	return s.operate(ctx, org, eventOrganizationResumed, func(tx postgres.Tx) error {
		return s.store.setStatusTx(ctx, tx, StatusSuspended, StatusActive, s.now())
	})
}

// operate makes one change of an organization and forgets what the cache knows
// of its keys.
func (s *Service) operate(ctx context.Context, org principal.OrgID, happened event.Type, fn func(postgres.Tx) error) error {
	err := postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		before, err := s.store.lockOrganizationTx(ctx, tx)
		if err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		after, err := s.store.organization(ctx, tx, org)
		if err != nil {
			return err
		}
		return s.log.AuditTx(ctx, tx, change.Entry{Event: happened, ID: org.String(), Before: before, After: after})
	})
	s.cache.forgetOrg(org)
	return err
}
