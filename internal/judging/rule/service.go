package rule

import (
	"context"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/tenancy"
)

// Parts are what the service is built from.
type Parts struct {
	Postgres *postgres.DB
	Tenancy  *tenancy.Service
	Provider *provider.Service
	Traces   *trace.Service
	Scores   *score.Service
	Judges   *judge.Service
	Config   Config
	Log      *change.Log
	Now      func() time.Time
}

// Service keeps rules and executes them.
type Service struct {
	db       *postgres.DB
	store    store
	tenancy  *tenancy.Service
	provider *provider.Service
	traces   *trace.Service
	scores   *score.Service
	judges   *judge.Service
	cfg      Config
	log      *change.Log
	now      func() time.Time
	clock    func() time.Time // now, not rounded to what is shown
}

// New makes the service.
func New(p Parts) *Service {
	// The interface shows milliseconds; what is stored is what is shown.
	shown := func() time.Time { return p.Now().Truncate(time.Millisecond) }
	return &Service{
		db: p.Postgres, store: store{p.Postgres}, tenancy: p.Tenancy, provider: p.Provider, traces: p.Traces, scores: p.Scores, judges: p.Judges,
		cfg: p.Config, log: p.Log, now: shown, clock: p.Now,
	}
}

// startTx makes sure that an active rule is executed. Each activation has a workflow
// of its own, so that one that is about to end cannot be taken for the new one.
func (s *Service) startTx(ctx context.Context, tx postgres.Tx, r Rule) error {
	if r.Status != StatusActive {
		return nil
	}
	return s.log.PublishTx(ctx, tx, TopicActivated, strconv.FormatInt(r.ID, 10), Ticket{Org: tx.Org, Rule: r.ID, Activation: r.activation})
}

// Find returns one rule with its counts.
func (s *Service) Find(ctx context.Context, org principal.OrgID, id int64) (Rule, error) {
	r, err := s.store.find(ctx, s.db.Org(org), org, id)
	if err != nil {
		return Rule{}, err
	}
	all, err := s.store.tallies(ctx, org, []int64{id}, []int64{0})
	r.Tally = all[holder{rule: id}]
	return r, err
}

// List returns a page of rules, newest first, with one more than the limit if there
// is a next page.
func (s *Service) List(ctx context.Context, org principal.OrgID, l List) ([]Rule, int64, error) {
	rules, total, err := s.store.list(ctx, org, l)
	if err != nil || len(rules) == 0 {
		return rules, total, err
	}
	ids := make([]int64, len(rules))
	for i, r := range rules {
		ids[i] = r.ID
	}
	all, err := s.store.tallies(ctx, org, ids, []int64{0})
	for i := range rules {
		rules[i].Tally = all[holder{rule: rules[i].ID}]
	}
	return rules, total, err
}

// CreateTx makes a rule. An active one judges traces that arrive from now on.
func (s *Service) CreateTx(ctx context.Context, tx postgres.Tx, r Rule) (Rule, error) {
	if err := s.judgeTx(ctx, tx, r); err != nil {
		return Rule{}, err
	}
	if err := s.roomTx(ctx, tx, r.Status); err != nil {
		return Rule{}, err
	}
	r.CreatedBy, r.CreatedAt = principal.ActorOf(ctx), s.now()
	r.UpdatedAt, r.Changes, r.activation = r.CreatedAt, 1, 1
	var err error
	if r.ID, err = s.store.insertTx(ctx, tx, r); err != nil {
		return Rule{}, err
	}
	if err := s.store.putCursorTx(ctx, tx, r.ID, s.now()); err != nil {
		return Rule{}, err
	}
	if err := s.startTx(ctx, tx, r); err != nil {
		return Rule{}, err
	}
	return r, change.RecordTx(ctx, s.log, tx, eventCreated, r.ID, nil, &r)
}

// UpdateTx changes a rule. Changes apply to traces that are looked at from now on.
func (s *Service) UpdateTx(ctx context.Context, tx postgres.Tx, expected, id int64, edit func(*Rule)) (Rule, error) {
	return change.Update(change.Edit[Rule]{
		Expected: expected, Conflict: ErrConflict,
		Lock:  func() (Rule, error) { return s.store.lockTx(ctx, tx, id) },
		Apply: func(r *Rule) error { edit(r); return nil },
		Save: func(before Rule, after *Rule) error {
			if err := move(before.Status, after.Status); err != nil {
				return err
			}
			if err := s.judgeTx(ctx, tx, *after); err != nil {
				return err
			}
			after.UpdatedAt, after.Changes = s.now(), before.Changes+1
			activated := before.Status == StatusPaused && after.Status == StatusActive
			if activated {
				if err := s.roomTx(ctx, tx, after.Status); err != nil {
					return err
				}
				after.activation++
				if err := s.store.putCursorTx(ctx, tx, id, s.now()); err != nil {
					return err
				}
				if err := s.startTx(ctx, tx, *after); err != nil {
					return err
				}
			}
			return s.store.updateTx(ctx, tx, before, *after)
		},
		Audit: func(before, after Rule) error {
			return change.RecordTx(ctx, s.log, tx, eventUpdated, id, &before, &after)
		},
	})
}

// DeleteTx removes a rule with its back-fills and counts. The results of its judge
// stay.
func (s *Service) DeleteTx(ctx context.Context, tx postgres.Tx, id int64) error {
	r, err := s.store.lockTx(ctx, tx, id)
	if err != nil {
		return err
	}
	running, err := s.store.runningTx(ctx, tx, id)
	if err != nil {
		return err
	}
	if running > 0 {
		return ErrInUse
	}
	if err := s.store.deleteTx(ctx, tx, id); err != nil {
		return err
	}
	return change.RecordTx(ctx, s.log, tx, eventDeleted, id, &r, nil)
}

// judgeTx makes sure that the rule's judge exists, and that it can be used if the
// rule is active.
func (s *Service) judgeTx(ctx context.Context, tx postgres.Tx, r Rule) error {
	found, err := s.judges.NamedTx(ctx, tx, nil, []int64{r.Config})
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return fault.Invalid("body", "/configId", "unknown_reference", "is not the id of a judge")
	case found[0].Current.Spec.Pairwise:
		return fault.Invalid("body", "/configId", "format", "is a judge that compares two answers, and a trace has one")
	case r.Status == StatusActive && found[0].Status != judge.StatusActive:
		return ErrInactive.With("judgeStatus", found[0].Status)
	}
	return nil
}

// roomTx refuses one more active rule than there may be.
func (s *Service) roomTx(ctx context.Context, tx postgres.Tx, status Status) error {
	if status != StatusActive {
		return nil
	}
	if err := s.store.lockLimitsTx(ctx, tx); err != nil {
		return err
	}
	n, err := s.store.countTx(ctx, tx, StatusActive)
	if err == nil && n >= maxActive {
		return ErrManyRules
	}
	return err
}
