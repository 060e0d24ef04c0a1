package evaluation

import (
	"context"
	"errors"
	"slices"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
)

// ErrNoExternal is returned for scores of a run that computes all of its own.
var ErrNoExternal = fault.New(fault.Conflict, "no_external_metrics", "The run has no external metric, so no score can be sent. Declare one in externalMetrics of the evaluation, and start another run.")

// ErrResultNotFound is returned for scores of a result that is not there.
var ErrResultNotFound = fault.New(fault.NotFound, "result_not_found", "The run has no result of this test case and repetition yet. Send scores once it has.")

// ErrUnanswered is returned for scores of a result without an answer.
var ErrUnanswered = fault.New(fault.Conflict, "no_answer", "The result has no answer that a score could be about: its item errored or was skipped.")

// PostScores adds scores to a result, for PutTx to accept, and returns what it is
// then. Other scores of the result stay; the same metric again replaces what it
// said before.
func (s *Service) PostScores(ctx context.Context, org principal.OrgID, evaluation, run int64, of result.Key, scores map[string]scoring.SentScore) (Posted, result.Outcome, error) {
	p := Posted{evaluation: evaluation, run: run}
	r, err := s.FindRun(ctx, org, evaluation, run)
	if err != nil {
		return p, result.Outcome{}, err
	}
	if err := s.answered(ctx, org, r, of); err != nil {
		return p, result.Outcome{}, err
	}
	if err := r.takesScores(); err != nil {
		return p, result.Outcome{}, err
	}
	measures, err := s.measuresOf(r)
	if err != nil {
		return p, result.Outcome{}, err
	}
	if err := scoring.CheckScores(measures, scores); err != nil {
		return p, result.Outcome{}, err
	}
	if err := s.announce(ctx, org, &p); err != nil {
		return p, result.Outcome{}, err
	}
	inserting, cancel := context.WithTimeout(ctx, insertTime)
	defer cancel()
	o, err := s.results.Amend(inserting, r.at(org), of, func(o *result.Outcome) error {
		if !scoring.Rescore(o, r.Request.Plan.PassRule, measures, scores) {
			return ErrUnanswered
		}
		return nil
	})
	if errors.Is(err, result.ErrNotFound) {
		err = ErrResultNotFound
	}
	return p, o, err
}

// answered returns ErrResultNotFound if a run has no result of a unit.
func (s *Service) answered(ctx context.Context, org principal.OrgID, r Run, of result.Key) error {
	if r.Resolved == nil {
		return ErrResultNotFound
	}
	found, err := s.results.Done(ctx, r.at(org), []int64{of.Item})
	if err == nil && !slices.ContainsFunc(found, func(b result.Brief) bool { return b.Key == of }) {
		err = ErrResultNotFound
	}
	return err
}

// takesScores says why a run takes no scores now.
func (r Run) takesScores() error {
	switch {
	case !r.Request.Plan.AwaitsScores():
		return ErrNoExternal
	case r.Status != StatusRunning:
		return transitions.In(ErrTransition, r.Status)
	case r.Phase != PhaseExecuting:
		return transitions.In(ErrTransition, r.Status).With("phase", r.Phase)
	}
	return nil
}
