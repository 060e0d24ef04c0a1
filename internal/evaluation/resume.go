package evaluation

import (
	"context"
	"errors"
	"slices"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ErrNotResumable is returned for a run that cannot be resumed.
var ErrNotResumable = fault.New(fault.Conflict, "run_not_resumable", "The run cannot be resumed. Only a run that had begun and then failed or was cancelled can, and where a client sends the results only if judges or services score them. Start another run instead.")

// resumedTx is the request of a run that goes on where another stopped: the same
// items under the same conditions. What was answered is copied when it begins, so
// that only the rest is executed, or sent by the client, and no score is paid twice.
func (s *Service) resumedTx(ctx context.Context, tx postgres.Tx, evaluation int64, want Request) (Request, error) {
	r, err := s.store.findRun(ctx, tx, tx.Org, want.Resumes)
	switch {
	case errors.Is(err, ErrRunNotFound) || err == nil && r.Evaluation != evaluation:
		return want, fault.Invalid("body", "/resumeRunId", "unknown_reference", "does not name a run of this evaluation: use the id of one of its runs")
	case err != nil:
		return want, err
	case r.Status == StatusRunning || r.Status == StatusCompleted || r.Resolved == nil || r.Request.Plan.Target.Type == scoring.TargetClient && !r.Request.Plan.Asks():
		return want, transitions.In(ErrNotResumable, r.Status)
	case r.Outcome == nil:
		return want, transitions.In(ErrNotEnded, r.Status) // its last answers may be on their way
	}
	same := r.Request
	same.Resumes, same.DatasetVersion, same.Seed = r.ID, r.Resolved.Version, &r.Resolved.Seed
	if want.BudgetUSD != nil {
		same.BudgetUSD = want.BudgetUSD
	}
	if want.Concurrency > 0 {
		same.Concurrency = want.Concurrency
	}
	return same, nil
}

// copyAnswers stores what the run that another resumes has answered as results of
// the other. Items without an answer are left out: they are tried again. Answers that
// cost nothing are made again.
func (s *Service) copyAnswers(ctx context.Context, org principal.OrgID, r Run, items []int64) error {
	if !r.Request.Plan.Paid() && !r.Request.Plan.AwaitsScores() {
		return nil
	}
	from, err := s.resumed(ctx, org, r)
	if err != nil || from == nil {
		return err
	}
	for some := range slices.Chunk(slices.Sorted(slices.Values(items)), max(1, maxPage/r.Request.Repetitions)) {
		if err := s.results.Copy(ctx, *from, r.at(org), some); err != nil {
			return err
		}
	}
	return nil
}

// resumed is where the results of the run are that another resumes, nil if there is
// none.
func (s *Service) resumed(ctx context.Context, org principal.OrgID, r Run) (*result.Run, error) {
	if r.Request.Resumes == 0 {
		return nil, nil
	}
	from, err := s.store.findRun(ctx, s.db.Org(org), org, r.Request.Resumes)
	if errors.Is(err, ErrRunNotFound) {
		return nil, nil // erased meanwhile
	}
	if err != nil {
		return nil, err
	}
	at := from.at(org)
	return &at, nil
}
