package rule

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

// What callers are refused with.
var (
	ErrNotFound  = fault.New(fault.NotFound, "judge_rule_not_found", "The rule does not exist.")
	ErrKeyTaken  = fault.New(fault.Conflict, "already_exists", "A rule with this key already exists. Choose another key.")
	ErrConflict  = fault.New(fault.Conflict, "version_conflict", "The rule has changed since you read it. Read it again and repeat the change.")
	ErrInactive  = fault.New(fault.Conflict, "judge_not_active", "The rule's judge is not active. Set the status of the judge to active first.")
	ErrInUse     = fault.New(fault.Conflict, "in_use", "A back-fill of the rule is running. Cancel it first.")
	ErrManyRules = fault.New(fault.Conflict, "rule_limit", fmt.Sprintf("The organization has %d active rules, which is the limit. Pause one first.", maxActive))
)

// maxActive bounds the active rules of an organization: each one looks for traces
// every few seconds.
const maxActive = 50

// Period is the time that a rule's cap is for.
type Period string

// The periods.
const (
	PeriodMonth Period = "month" // each calendar month in UTC
	PeriodTotal Period = "total"
)

// Rule has a judge assess a share of the traces that match a filter.
type Rule struct {
	ID          int64
	Key         string // names the rule among those of the organization
	Name        string
	Description string
	Config      int64 // the judge
	Filter      Filter
	// SamplingKey and SampleRate decide which traces are chosen; rules with the same
	// key choose the same ones.
	SamplingKey string
	SampleRate  float64
	Status      Status
	CapNanoUSD  *int64 // nil without a limit
	CapPeriod   Period
	CreatedBy   principal.Actor
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Changes     int64

	activation int64
	cursor     cursor
	// Tally is what became of the traces; it is not part of what is audited.
	Tally Tally
}

// cursor is how far a rule has read the arrivals of traces.
type cursor struct {
	step        int64
	ended, idle trace.Arrival
	blocked     *Blocked
}

// Blocked is why the judge of an active rule cannot be asked.
type Blocked struct {
	Code, Message string
	At            time.Time
}

// Filter says which traces are meant, in the words of the list of traces.
type Filter struct {
	Status         []trace.Status `json:"status,omitzero"`
	Search         string         `json:"search,omitzero"`
	ConversationID string         `json:"conversation_id,omitzero"`
	UserID         string         `json:"user_id,omitzero"`
	Environment    string         `json:"environment,omitzero"`
	AgentName      string         `json:"agent_name,omitzero"`
	ReleaseID      string         `json:"release_id,omitzero"`
	Tag            string         `json:"tag,omitzero"`
	HasError       *bool          `json:"has_error,omitzero"`
	MinDurationMS  *float64       `json:"min_duration_ms,omitzero"`
}

// of is the filter as traces know it. Traces that run are never meant.
func (f Filter) of() trace.Filter {
	out := trace.Filter{
		Status: f.Status, Search: f.Search, ConversationID: f.ConversationID, UserID: f.UserID, Environment: f.Environment, AgentName: f.AgentName,
		ReleaseID: f.ReleaseID, Tag: f.Tag, HasError: f.HasError,
	}
	if f.MinDurationMS != nil {
		least := time.Duration(*f.MinDurationMS * float64(time.Millisecond))
		out.MinDuration = &least
	}
	return out
}

// purse is what the calls of a rule are paid from. A cap for a month is one on a
// purse of the month.
func (r Rule) purse(now time.Time) provider.Purse {
	p := provider.Purse{Kind: "judge_rule", ID: strconv.FormatInt(r.ID, 10), Name: fmt.Sprintf("the rule %q", r.Key), CapNanoUSD: unsigned(r.CapNanoUSD)}
	if r.CapPeriod == PeriodMonth {
		p.ID += "/" + now.UTC().Format("2006-01")
	}
	return p
}

func unsigned(n *int64) *uint64 {
	if n == nil {
		return nil
	}
	u := uint64(*n)
	return &u
}

// List selects rules; an empty field matches everything.
type List struct {
	Status        []Status
	Key           string
	Config        int64
	Below         int64
	Limit, Offset int
	Count         bool
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
	return r, s.auditTx(ctx, tx, "judge_rule.created", nil, &r)
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
			return s.auditTx(ctx, tx, "judge_rule.updated", &before, &after)
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
	return s.auditTx(ctx, tx, "judge_rule.deleted", &r, nil)
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

func (s *Service) auditTx(ctx context.Context, tx postgres.Tx, action string, before, after *Rule) error {
	e := change.Entry{Action: action, Resource: "judge_rule"}
	if before != nil {
		e.ID, e.Before = strconv.FormatInt(before.ID, 10), *before
	}
	if after != nil {
		e.ID, e.After = strconv.FormatInt(after.ID, 10), *after
	}
	return s.log.AuditTx(ctx, tx, e)
}
