package evaluation

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/internal/progress"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Progress is how far a run is.
type Progress struct {
	Run   Run
	Count result.Count
	Total int
	// Percent is of the units; ETA is nil when nobody can tell.
	Percent float64
	ETA     *time.Duration
	// Estimate is the pass rate so far, with an interval that holds however
	// often one looks. It is made from the first units of the random order only,
	// because units that happen to be done first are not a fair sample.
	Estimate *stat.Estimate
	Notes    []progress.Note
}

// recentNotes is how many notes a progress shows.
const recentNotes = 20

// Progress returns how far a run is. It asks no workflow engine.
func (s *Service) Progress(ctx context.Context, org principal.OrgID, evaluation, id int64) (Progress, error) {
	r, err := s.FindRun(ctx, org, evaluation, id)
	if err != nil {
		return Progress{}, err
	}
	p := Progress{Run: r}
	if r.Resolved != nil {
		p.Total = r.Resolved.Units
	}
	chunks, err := s.progress.Chunks(ctx, org, id)
	if err != nil {
		return Progress{}, err
	}
	for _, c := range chunks {
		p.Count = p.Count.Plus(c)
	}
	if r.Request.Plan.Target.Type == scoring.TargetClient && r.Resolved != nil {
		if p.Count, err = s.received(ctx, org, r, p.Count); err != nil {
			return Progress{}, err
		}
	}
	if r.Outcome != nil {
		p.Count.Passed, p.Count.Failed, p.Count.Errored, p.Count.Skipped = r.Outcome.Passed, r.Outcome.Failed, r.Outcome.Errored, r.Outcome.Skipped
		p.Count.Done = r.Outcome.Items + r.Outcome.Skipped
		p.Count.CostNanoUSD = r.Outcome.CostNanoUSD
	}
	if p.Total > 0 {
		p.Percent = 100 * float64(min(p.Count.Done, p.Total)) / float64(p.Total)
	}
	if p.Estimate, err = soFar(r, chunks); err != nil {
		return Progress{}, err
	}
	if left := p.Total - p.Count.Done; r.Status == StatusRunning && p.Count.Done > 0 && left >= 0 && r.Request.Plan.Target.Type != scoring.TargetClient {
		eta := s.now().Sub(r.StartedAt) / time.Duration(p.Count.Done) * time.Duration(left)
		p.ETA = &eta
	}
	p.Notes, err = s.progress.Notes(ctx, org, id, recentNotes)
	return p, err
}

// received is how far a client's run is. Where judges or services are asked, no result
// has passed or failed before its scores are complete: what its chunks have scored.
func (s *Service) received(ctx context.Context, org principal.OrgID, r Run, scored result.Count) (result.Count, error) {
	sent, err := s.recount(ctx, org, r)
	if err != nil || !r.Request.Plan.Asks() {
		return sent, err
	}
	if r.Phase != PhaseScoring && scored.Size == 0 {
		scored.Done = sent.Done // nobody has been asked
	}
	scored.CostNanoUSD = sent.CostNanoUSD
	return scored, nil
}

// recount adds a run up from its results.
func (s *Service) recount(ctx context.Context, org principal.OrgID, r Run) (c result.Count, err error) {
	tallies, err := s.results.Tallies(ctx, r.at(org))
	for _, t := range tallies {
		c.AddAll(t)
	}
	return c, err
}

// soFar is the pass rate of the finished chunks that come first in the random
// order. Nil before there is one.
func soFar(r Run, chunks []result.Count) (*stat.Estimate, error) {
	if r.Outcome != nil {
		return &r.Outcome.Statistics.PassRate, nil
	}
	prefix := progress.Prefix(chunks)
	n := prefix.Passed + prefix.Failed
	// Neither repetitions nor clusters say as much as so many items.
	if n == 0 || r.Request.Repetitions > 1 || r.Request.ClusterKey != "" {
		return nil, nil
	}
	return runstat.SoFar(prefix.Passed, n)
}
