package judge

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Condition is what watching a version of a judge showed. A version never changes;
// the model behind it may. The zero value is that of a version that is not watched.
type Condition struct {
	// SettledAt is when the answers were given that later ones are compared with; nil if
	// there are none.
	SettledAt *time.Time
	// QuietAt is when the verdicts were last seen to be the same as before; nil if
	// they never were.
	QuietAt *time.Time
	// DriftedAt is when they were seen to be others; nil if they were not.
	DriftedAt *time.Time
	Message   string
}

// Same reports whether the judge was seen to give the same verdicts all the time from
// one time to another.
func (c Condition) Same(from, to time.Time) bool {
	return c.DriftedAt == nil && c.SettledAt != nil && c.SettledAt.Before(from) && c.QuietAt != nil && c.QuietAt.After(to)
}

// Suspect says why verdicts that were given until a time cannot be held against
// others; it is empty if nothing speaks against that. When exactly a judge changed is
// unknown: everything since it was last seen to be the same is suspect.
func (c Condition) Suspect(until time.Time) string {
	if c.DriftedAt == nil || c.QuietAt != nil && until.Before(*c.QuietAt) {
		return ""
	}
	return c.Message
}

// Condition returns what is known about a version.
func (s *Service) Condition(ctx context.Context, org principal.OrgID, id int64, version int) (Condition, error) {
	return s.store.condition(ctx, s.db.Org(org), org, id, version)
}

// SetConditionTx records what a watch showed. With SettledAt it begins anew. A version
// that drifted stays so.
func (s *Service) SetConditionTx(ctx context.Context, tx postgres.Tx, id int64, version int, c Condition) error {
	return s.store.setConditionTx(ctx, tx, id, version, c)
}

// RenewTx gives a judge a new version with the same spec: it accepts the judge as its
// model is now, and nothing that the former version said counts for the new one.
func (s *Service) RenewTx(ctx context.Context, tx postgres.Tx, id int64) (Config, error) {
	before, err := s.store.lockTx(ctx, tx, id)
	if err != nil {
		return Config{}, err
	}
	if before.Status == StatusRetired {
		return Config{}, transitions.In(ErrRetired, before.Status)
	}
	after := before
	after.UpdatedAt, after.Changes = s.now(), before.Changes+1
	if after.Current, err = newVersion(before.Current.Number+1, before.Current.Spec, principal.ActorOf(ctx), after.UpdatedAt); err != nil {
		return Config{}, err
	}
	if err := s.store.insertVersionTx(ctx, tx, id, after.Current); err != nil {
		return Config{}, err
	}
	if err := s.store.updateTx(ctx, tx, before, after); err != nil {
		return Config{}, err
	}
	return after, change.RecordTx(ctx, s.log, tx, eventUpdated, id, &before, &after)
}

// FindTx returns one judge within a transaction.
func (s *Service) FindTx(ctx context.Context, tx postgres.Tx, id int64) (Config, error) {
	return s.store.find(ctx, tx, tx.Org, id)
}

// ConditionTx is Condition within a transaction.
func (s *Service) ConditionTx(ctx context.Context, tx postgres.Tx, id int64, version int) (Condition, error) {
	return s.store.condition(ctx, tx, tx.Org, id, version)
}

// HumanPass is whether people let the output of an item pass; ok is false if its
// labels do not say.
func (j *Judge) HumanPass(i dataset.Item) (pass, ok bool) {
	r, ok := labelOf(i, j.config.LabelKey, j.Version.Spec)
	return r.Score >= j.Version.Spec.PassThreshold, ok
}
