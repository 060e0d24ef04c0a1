package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy"
)

// Asked is what a gate asks of a run.
type Asked struct {
	Requirements []string `json:"requirements"`
	// Margin is the largest difference that does not matter, as a share of a
	// figure's range; zero takes that of the run.
	Margin float64 `json:"margin,omitzero"`
	// MaxMissing is the largest share of scores that may be left out.
	MaxMissing float64 `json:"max_missing"`
	// Baseline names the run to compare with by its place, BaselineRun by its id.
	// Without either it is the baseline of the run, or the last that passed.
	Baseline    requirement.Baseline `json:"baseline,omitzero"`
	BaselineRun int64                `json:"baseline_run,omitzero"`
}

// Ruling is the answer to one requirement, with what it rests on.
type Ruling struct {
	Requirement string              `json:"requirement"`
	Figure      string              `json:"figure"`
	Verdict     requirement.Verdict `json:"verdict"`
	Reason      requirement.Reason  `json:"reason"`
	// Side is where the figure must be: above or below the threshold, or, for a
	// claim, above the margin's lower end or within it.
	Side string `json:"side"`
	// Alpha is how often a figure that misses the requirement passes at most.
	Alpha    float64        `json:"alpha"`
	Margin   *float64       `json:"margin"`
	Estimate *stat.Estimate `json:"estimate"`
	Together *stat.Interval `json:"together"`
	Matched  int            `json:"matched"`
	Reasons  []string       `json:"reasons"`
	// Reach is how far from a threshold the truth has to be for four of five such
	// runs to decide it; nil if it is decided, or nobody can tell.
	Reach *float64 `json:"reach"`
	// Help says how small a difference the runs can show.
	Help string `json:"help"`
}

// Drift is how a figure differs from that of the pinned run.
type Drift struct {
	Figure     string        `json:"figure"`
	Run        int64         `json:"run"`
	Difference stat.Estimate `json:"difference"`
}

// Decision is what a gate decided about a run.
type Decision struct {
	ID         int64
	Evaluation int64
	Run        int64
	Baseline   int64 // zero if nothing was compared
	Asked      Asked
	Verdict    requirement.Verdict
	decided
	CreatedBy principal.Actor
	CreatedAt time.Time
}

// decided is what is stored of the answers.
type decided struct {
	Rulings []Ruling `json:"rulings"`
	Drift   []Drift  `json:"drift"`
	// Problem says why nothing could be decided at all.
	Problem string `json:"problem,omitzero"`
}

// Revision is that of something that never changes.
func (d Decision) Revision() int64 { return 1 }

// Parts are what the service is built from.
type Parts struct {
	Postgres    *postgres.DB
	Evaluations *evaluation.Service
	Tenancy     *tenancy.Service
	Log         *change.Log
	Now         func() time.Time
}

// Service decides and keeps decisions.
type Service struct {
	store       store
	evaluations *evaluation.Service
	tenancy     *tenancy.Service
	log         *change.Log
	now         func() time.Time
}

// New makes the service.
func New(p Parts) *Service {
	return &Service{
		store: store{p.Postgres}, evaluations: p.Evaluations, tenancy: p.Tenancy, log: p.Log,
		now: func() time.Time { return p.Now().Truncate(time.Millisecond) },
	}
}

// PutTx keeps a decision, and the run has its verdict from now on.
func (s *Service) PutTx(ctx context.Context, tx postgres.Tx, d Decision) (Decision, error) {
	d.CreatedBy, d.CreatedAt = principal.ActorOf(ctx), s.now()
	if err := s.evaluations.SetVerdictTx(ctx, tx, d.Run, d.Verdict); err != nil {
		return d, err
	}
	var err error
	if d.ID, err = s.store.insertTx(ctx, tx, d); err != nil {
		return d, err
	}
	return d, change.RecordTx(ctx, s.log, tx, eventDecided, d.ID, nil, &d)
}

// List returns a page of the decisions on a run, newest first, with one more than
// the limit if there is a next page.
func (s *Service) List(ctx context.Context, org principal.OrgID, evaluation, run int64, p postgres.Page) ([]Decision, int64, error) {
	if _, err := s.evaluations.FindRun(ctx, org, evaluation, run); err != nil {
		return nil, 0, err
	}
	return s.store.list(ctx, org, run, p)
}

// parse reads the requirements of a gate.
func (a Asked) parse() ([]requirement.Requirement, error) {
	all := make([]requirement.Requirement, len(a.Requirements))
	for i, text := range a.Requirements {
		r, err := requirement.Parse(text)
		if err != nil {
			return nil, fault.Invalid("body", fmt.Sprintf("/requirements/%d", i), "format", "must be a requirement: "+err.Error())
		}
		all[i] = r
	}
	return all, nil
}
