package judge

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ErrNotFound is returned when the organization has no such judge.
var ErrNotFound = fault.New(fault.NotFound, "judge_config_not_found", "The judge does not exist.")

// ErrVersionNotFound is returned when the judge has no such version.
var ErrVersionNotFound = fault.New(fault.NotFound, "judge_version_not_found", "The judge does not have this version.")

// ErrKeyTaken is returned when another judge has the key.
var ErrKeyTaken = fault.New(fault.Conflict, "already_exists", "A judge with this key already exists. Choose another key.")

// ErrConflict is returned when the judge has changed since the caller read it.
var ErrConflict = fault.New(fault.Conflict, "version_conflict", "The judge has changed since you read it. Read it again and repeat the change.")

// Sampling says how the items that have a human label were chosen.
type Sampling string

// The ways to choose. Labels whose choice is unknown describe the labelled items and
// no others.
const (
	SamplingUnknown Sampling = "unknown"
	SamplingRandom  Sampling = "random"
)

// Config is a judge.
type Config struct {
	ID int64
	// Key names the judge among those of the organization; its metric is
	// judge:<key>.
	Key         string
	Name        string
	Description string
	// LabelKey is the label of dataset items that holds what people say.
	LabelKey string
	Sampling Sampling
	Status   Status
	// Current is the version that is used now.
	Current Version
	// CapNanoUSD is what the judge may cost in all, nil without a limit.
	CapNanoUSD *int64
	CreatedBy  principal.Actor
	CreatedAt  time.Time
	UpdatedAt  time.Time
	// Revision counts changes of the judge, of its name as well as of its spec.
	Changes int64
}

// Version is a spec that never changes.
type Version struct {
	Number    int
	Spec      Spec
	Digest    [32]byte
	CreatedBy principal.Actor
	CreatedAt time.Time

	salt []byte
}

// Metric is the name of the judge as a metric.
func (c Config) Metric() string { return MetricPrefix + c.Key }

// MetricPrefix is how the names of judges begin where metrics are named.
const MetricPrefix = "judge:"

// Filter selects judges; an empty field matches everything.
type Filter struct {
	Status        []Status
	Key           string
	Search        string
	CreatedAfter  *time.Time
	CreatedBefore *time.Time
	postgres.Page
}

// Find returns one judge.
func (s *Service) Find(ctx context.Context, org principal.OrgID, id int64) (Config, error) {
	return s.store.find(ctx, s.db.Org(org), org, id)
}

// Named returns the judges that have these keys or ids, without those that do not
// exist.
func (s *Service) Named(ctx context.Context, org principal.OrgID, keys []string, ids []int64) ([]Config, error) {
	return s.store.named(ctx, s.db.Org(org), org, keys, ids)
}

// NamedTx is Named within a transaction.
func (s *Service) NamedTx(ctx context.Context, tx postgres.Tx, keys []string, ids []int64) ([]Config, error) {
	return s.store.named(ctx, tx, tx.Org, keys, ids)
}

// List returns a page of judges, newest first, with one more than the limit if
// there is a next page.
func (s *Service) List(ctx context.Context, org principal.OrgID, f Filter) ([]Config, int64, error) {
	return s.store.list(ctx, org, f)
}

// FindVersion returns one version of a judge.
func (s *Service) FindVersion(ctx context.Context, org principal.OrgID, id int64, number int) (Version, error) {
	if _, err := s.Find(ctx, org, id); err != nil {
		return Version{}, err
	}
	return s.store.version(ctx, s.db.Org(org), org, id, number)
}

// Versions returns a page of a judge's versions, newest first, with one more than
// the limit if there is a next page, and how many there are.
func (s *Service) Versions(ctx context.Context, org principal.OrgID, id int64, p postgres.Page) ([]Version, int64, error) {
	c, err := s.Find(ctx, org, id)
	if err != nil {
		return nil, 0, err
	}
	all, err := s.store.versions(ctx, org, id, p)
	return all, int64(c.Current.Number), err
}

// Prepared is a judge whose references are found. That takes looking elsewhere, so it
// happens before the transaction.
type Prepared struct {
	Config
	asked [32]byte // digest of the spec before its references were found
}

// PrepareNew makes a new judge ready for CreateTx.
func (s *Service) PrepareNew(ctx context.Context, org principal.OrgID, c Config) (p Prepared, err error) {
	p.Config = c
	p.Current.Spec, err = s.resolved(ctx, org, c, c.Current.Spec)
	return p, err
}

// PrepareEdit makes a change of a judge ready for UpdateTx.
func (s *Service) PrepareEdit(ctx context.Context, org principal.OrgID, id int64, edit func(*Config)) (p Prepared, err error) {
	if p.Config, err = s.Find(ctx, org, id); err != nil {
		return p, err
	}
	edit(&p.Config)
	if p.asked, err = p.Current.Spec.digest(); err != nil {
		return p, err
	}
	p.Current.Spec, err = s.resolved(ctx, org, p.Config, p.Current.Spec)
	return p, err
}

// CreateTx makes a judge with its first version.
func (s *Service) CreateTx(ctx context.Context, tx postgres.Tx, p Prepared) (c Config, err error) {
	c = p.Config
	spec := c.Current.Spec
	at, by := s.now(), principal.ActorOf(ctx)
	c.CreatedBy, c.CreatedAt, c.UpdatedAt, c.Changes = by, at, at, 1
	if c.Current, err = newVersion(1, spec, by, at); err != nil {
		return Config{}, err
	}
	if c.ID, err = s.store.insertTx(ctx, tx, c); err != nil {
		return Config{}, err
	}
	if err := s.store.insertVersionTx(ctx, tx, c.ID, c.Current); err != nil {
		return Config{}, err
	}
	return c, change.RecordTx(ctx, s.log, tx, eventCreated, c.ID, nil, &c)
}

// UpdateTx changes a judge. Edit gets the judge as it is and changes it in place; a
// spec that differs from the current one becomes a new version. A judge that changed
// since it was prepared is ErrConflict.
func (s *Service) UpdateTx(ctx context.Context, tx postgres.Tx, expected int64, p Prepared, edit func(*Config)) (Config, error) {
	id := p.ID
	return change.Update(change.Edit[Config]{
		Expected: expected, Conflict: ErrConflict,
		Lock:  func() (Config, error) { return s.store.lockTx(ctx, tx, id) },
		Apply: func(c *Config) error { edit(c); return nil },
		Save: func(before Config, after *Config) error {
			if err := move(before.Status, after.Status); err != nil {
				return err
			}
			if before.Status == StatusRetired && after.Status == StatusRetired {
				return transitions.In(ErrRetired, before.Status)
			}
			if asked, err := after.Current.Spec.digest(); err != nil || asked != p.asked {
				return cmp.Or(err, error(ErrConflict))
			}
			spec := p.Current.Spec
			after.UpdatedAt, after.Changes = s.now(), before.Changes+1
			next, err := newVersion(before.Current.Number+1, spec, principal.ActorOf(ctx), after.UpdatedAt)
			if err != nil {
				return err
			}
			if next.Digest == before.Current.Digest {
				after.Current = before.Current
			} else {
				after.Current = next
				if err := s.store.insertVersionTx(ctx, tx, id, next); err != nil {
					return err
				}
			}
			return s.store.updateTx(ctx, tx, before, *after)
		},
		Audit: func(before, after Config) error {
			return change.RecordTx(ctx, s.log, tx, eventUpdated, id, &before, &after)
		},
	})
}

// newVersion makes a version of a spec.
func newVersion(number int, spec Spec, by principal.Actor, at time.Time) (Version, error) {
	v := Version{Number: number, Spec: spec, CreatedBy: by, CreatedAt: at, salt: make([]byte, 16)}
	_, _ = rand.Read(v.salt) // never fails
	var err error
	v.Digest, err = spec.digest()
	return v, err
}

// resolved is a spec with its references found: the key of the provider, and the
// items of examples as they are now.
func (s *Service) resolved(ctx context.Context, org principal.OrgID, c Config, spec Spec) (Spec, error) {
	if err := spec.check(); err != nil {
		return spec, err
	}
	var err error
	if spec.KeyID, err = s.keyOf(ctx, org, spec); err != nil {
		return spec, err
	}
	spec.Examples, err = s.examples(ctx, org, c, spec)
	return spec, err
}

// keyOf is the provider key that a spec names, or the only active one of its
// provider.
func (s *Service) keyOf(ctx context.Context, org principal.OrgID, spec Spec) (int64, error) {
	if spec.KeyID != 0 {
		k, err := s.provider.Find(ctx, org, spec.KeyID)
		if err != nil {
			return 0, fault.Invalid("body", "/providerKeyId", "unknown_reference", "is not the id of a provider key")
		}
		if k.Provider != spec.Provider {
			return 0, fault.Invalid("body", "/providerKeyId", "format", fmt.Sprintf("is a key of the provider %s, and the judge's is %s", k.Provider, spec.Provider))
		}
		return k.ID, nil
	}
	if !s.provider.NeedsKey(spec.Provider) {
		return 0, nil
	}
	keys, _, err := s.provider.List(ctx, org, provider.KeyFilter{
		Provider: spec.Provider, Status: []provider.KeyStatus{provider.KeyActive}, Page: postgres.Page{Below: 1 << 62, Limit: 2},
	})
	switch {
	case err != nil:
		return 0, err
	case len(keys) == 1:
		return keys[0].ID, nil
	case len(keys) == 0:
		return 0, fault.New(fault.Conflict, "precondition_missing", fmt.Sprintf("The organization has no active provider key of %s. Create one, and then the judge.", spec.Provider))
	}
	return 0, fault.New(fault.Conflict, "precondition_missing", fmt.Sprintf("The organization has several active provider keys of %s. Name one as providerKeyId.", spec.Provider))
}

// versionOf is a version of a judge, the current one for zero.
func (s *Service) versionOf(ctx context.Context, org principal.OrgID, c Config, number int) (Version, error) {
	if number == 0 || number == c.Current.Number {
		return c.Current, nil
	}
	return s.store.version(ctx, s.db.Org(org), org, c.ID, number)
}
