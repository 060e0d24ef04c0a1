package gate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Decide holds a run against requirements. It reads results and computes, so it
// happens outside of transactions; PutTx keeps what it returns.
func (s *Service) Decide(ctx context.Context, org principal.OrgID, evaluationID, runID int64, asked Asked) (Decision, error) {
	d := Decision{Evaluation: evaluationID, Run: runID, Asked: asked}
	all, err := asked.parse()
	if err != nil {
		return d, err
	}
	e, err := s.evaluations.Find(ctx, org, evaluationID)
	if err != nil {
		return d, err
	}
	run, err := s.evaluations.FindRun(ctx, org, evaluationID, runID)
	if err != nil {
		return d, err
	}
	b := bench{Service: s, org: org, evaluation: e, run: run, asked: asked, requirements: all, margin: asked.Margin}
	if b.margin == 0 && run.Request.Margin != nil {
		b.margin = *run.Request.Margin
	}
	if err := b.check(ctx); err != nil {
		return d, err
	}
	switch {
	case run.Outcome == nil:
		return d, evaluation.ErrNotEnded
	case run.Status != evaluation.StatusCompleted:
		d.Problem = fmt.Sprintf("run %d is %s, not completed", run.ID, run.Status)
		if run.Error != nil {
			d.Problem += ": " + run.Error.Message
		}
		for _, r := range all {
			d.Rulings = append(d.Rulings, b.ruling(r.Skip(requirement.ReasonNotChecked)))
		}
	default:
		if d.Rulings, err = b.judge(ctx); err != nil {
			return d, err
		}
		if d.Drift, err = b.drift(ctx); err != nil {
			return d, err
		}
		d.Baseline = b.baseline
	}
	verdicts := make([]requirement.Verdict, len(d.Rulings))
	for i, r := range d.Rulings {
		verdicts[i] = r.Verdict
	}
	d.Verdict, _, _ = requirement.Sum(verdicts)
	return d, nil
}

// bench is one gate at work.
type bench struct {
	*Service
	org          principal.OrgID
	evaluation   evaluation.Evaluation
	run          evaluation.Run
	asked        Asked
	requirements []requirement.Requirement
	margin       float64
	baseline     int64
}

// check refuses what cannot be asked of the run.
func (b *bench) check(ctx context.Context) error {
	metrics := slices.Clone(b.run.Request.Plan.Metrics)
	if b.run.Outcome != nil {
		metrics = slices.AppendSeq(metrics, maps.Keys(b.run.Outcome.Statistics.Metrics))
	}
	for i, r := range b.requirements {
		if err := r.CheckFigure(metrics); err != nil {
			return fault.Invalid("body", fmt.Sprintf("/requirements/%d", i), "unknown_reference", "names a figure that the run does not have: "+err.Error())
		}
		if r.Claim.NeedsMargin() && b.margin == 0 {
			return fault.Invalid("body", "/margin", "required", fmt.Sprintf("is required by requirement %d: send the largest loss that does not matter, such as 0.02", i+1))
		}
	}
	if b.asked.BaselineRun == 0 {
		return nil
	}
	_, err := b.evaluations.FindRun(ctx, b.org, b.evaluation.ID, b.asked.BaselineRun)
	switch {
	case errors.Is(err, evaluation.ErrRunNotFound):
		return evaluation.ErrBaseline
	case b.asked.BaselineRun == b.run.ID:
		return fault.Invalid("body", "/baselineRunId", "unknown_reference", "is the run itself: use another one")
	}
	return err
}

// judge answers every requirement.
func (b *bench) judge(ctx context.Context) ([]Ruling, error) {
	figures, err := b.figures(ctx)
	if err != nil {
		return nil, err
	}
	differences, missing, err := b.differences(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Ruling, len(b.requirements))
	for i, r := range b.requirements {
		switch {
		case r.Claim == "":
			all[i] = b.ruling(r.Decide(figures[ask(r)], b.asked.MaxMissing))
			if all[i].Reason == requirement.ReasonStale {
				all[i].Reasons = all[i].Estimate.Warnings
			}
		case missing != "":
			all[i] = b.ruling(r.Skip(requirement.ReasonNoBaseline))
			all[i].Reasons = []string{missing}
		default:
			d := differences[r.Figure]
			all[i] = b.ruling(r.DecideClaim(d, b.asked.MaxMissing))
			if d != nil {
				all[i].Matched, all[i].Reasons = d.Alone.Matched, d.Alone.Reasons
				if res := d.Alone.Resolution; res != nil {
					all[i].Help = res.Sentence
				}
			}
		}
	}
	return all, nil
}

// figures are those that thresholds are for, at both levels.
func (b *bench) figures(ctx context.Context) (map[evaluation.Ask]*requirement.Figure, error) {
	var asks []evaluation.Ask
	for _, r := range b.requirements {
		if one := ask(r); r.Claim == "" && !slices.Contains(asks, one) {
			asks = append(asks, one)
		}
	}
	if len(asks) == 0 {
		return nil, nil
	}
	return b.evaluations.Figures(ctx, b.org, b.run, len(b.requirements), asks)
}

// differences are those that claims are about, at both levels. Missing says why
// there is no baseline.
func (b *bench) differences(ctx context.Context) (all map[string]*requirement.Difference, missing string, err error) {
	names := b.claimed()
	if len(names) == 0 {
		return nil, "", nil
	}
	var none *requirement.NoBaseline
	if b.baseline, err = b.against(ctx); errors.As(err, &none) {
		return nil, none.Error(), nil
	} else if err != nil {
		return nil, "", err
	}
	if b.baseline == b.run.ID {
		b.baseline = 0
		return nil, "The run is the baseline itself.", nil
	}
	v := evaluation.Versus{Baseline: b.baseline, Candidate: b.run.ID, Confidence: requirement.Level, Margin: b.margin, Figures: names}
	alone, err := b.evaluations.Compare(ctx, b.org, b.evaluation.ID, v)
	if err != nil {
		return nil, "", err
	}
	together := alone
	if len(b.requirements) > 1 {
		v.Confidence = requirement.Together(len(b.requirements))
		if together, err = b.evaluations.Compare(ctx, b.org, b.evaluation.ID, v); err != nil {
			return nil, "", err
		}
	}
	all = make(map[string]*requirement.Difference, len(names))
	for _, name := range names {
		if c, ok := find(alone, name); ok {
			t, _ := find(together, name)
			all[name] = &requirement.Difference{Alone: c, Together: t}
		}
	}
	return all, "", nil
}

// ask is the figure that a threshold is for.
func ask(r requirement.Requirement) evaluation.Ask {
	return evaluation.Ask{Figure: r.Figure, At: runstat.At{Quantile: r.Quantile, Below: side(r) == "upper"}}
}

// claimed are the figures that claims are about.
func (b *bench) claimed() (names []string) {
	for _, r := range b.requirements {
		if r.Claim != "" && !slices.Contains(names, r.Figure) {
			names = append(names, r.Figure)
		}
	}
	return names
}

// against is the run that claims are decided against.
func (b *bench) against(ctx context.Context) (int64, error) {
	switch {
	case b.asked.BaselineRun != 0:
		return b.asked.BaselineRun, nil
	case b.asked.Baseline != "":
		return b.evaluations.Baseline(ctx, b.org, b.evaluation, b.run, b.asked.Baseline)
	case b.run.Request.BaselineRun != 0:
		return b.run.Request.BaselineRun, nil
	}
	return b.evaluations.Baseline(ctx, b.org, b.evaluation, b.run, requirement.BaselinePassed)
}

// drift is how far the figures of claims are from those of the pinned run.
func (b *bench) drift(ctx context.Context) ([]Drift, error) {
	pinned, names := b.evaluation.Baseline, b.claimed()
	if pinned == 0 || pinned == b.baseline || pinned == b.run.ID || len(names) == 0 {
		return nil, nil
	}
	c, err := b.evaluations.Compare(ctx, b.org, b.evaluation.ID, evaluation.Versus{Baseline: pinned, Candidate: b.run.ID, Confidence: requirement.Level, Margin: b.margin, Figures: names})
	if err != nil {
		return nil, err
	}
	var all []Drift
	for _, name := range names {
		if one, ok := find(c, name); ok {
			all = append(all, Drift{Figure: name, Run: pinned, Difference: one.Difference})
		}
	}
	return all, nil
}

// find is the comparison of a figure that a run has.
func find(c evaluation.Comparison, name string) (stat.Comparison, bool) {
	for _, one := range append([]runstat.Compared{c.Overall, c.PassRate}, c.Metrics...) {
		if one.Name == name {
			return one.Comparison, true
		}
	}
	return stat.Comparison{}, false
}

// ruling is a decision on a requirement with the terms that it was made on.
func (b *bench) ruling(d requirement.Decision) Ruling {
	r := Ruling{
		Requirement: d.Text, Figure: d.Figure, Verdict: d.Verdict, Reason: d.Reason, Side: side(d.Requirement), Alpha: (1 - requirement.Level) / 2, Margin: d.Margin,
		Estimate: d.Estimate, Together: d.Together, Reasons: []string{},
	}
	if d.Reach > 0 && !math.IsInf(d.Reach, 0) {
		r.Reach = &d.Reach
	}
	if d.Claim.NeedsMargin() {
		r.Alpha = 1 - requirement.Level
	}
	return r
}

// side is the end of the interval that must clear the requirement.
func side(r requirement.Requirement) string {
	switch {
	case r.Claim == requirement.ClaimEquivalent:
		return "both"
	case r.Operator == "<" || r.Operator == "<=":
		return "upper"
	}
	return "lower"
}
