package evaluation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/artifact"
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/measure/report"
)

// EraseFiles removes the artifacts' files of an organization and returns how many
// objects there were.
func (s *Service) EraseFiles(ctx context.Context, org principal.OrgID) (int64, error) {
	return s.artifacts.Erase(ctx, org)
}

// writeArtifacts makes the files of a run that has ended. They are made from
// what is stored and from no clock, so that making them again changes nothing;
// a failure on the way leaves each file whole, old or new, and the caller
// tries again.
func (s *Service) writeArtifacts(ctx context.Context, t Ticket) error {
	r, err := s.store.findRun(ctx, s.db.Org(t.Org), t.Org, t.Run)
	if errors.Is(err, ErrRunNotFound) {
		return s.artifacts.EraseRun(ctx, t.Org, t.Run) // what an earlier attempt wrote after the run was erased
	}
	if err != nil {
		return err
	}
	if r.Status == StatusRunning || r.Outcome == nil {
		return fmt.Errorf("write artifacts: run %d has not been concluded", r.ID)
	}
	e, err := s.Find(ctx, t.Org, r.Evaluation)
	if errors.Is(err, ErrNotFound) {
		return nil // deleted meanwhile: a purge removes the run
	}
	if err != nil {
		return err
	}
	definitions, err := s.definitions(r)
	if err != nil {
		return err
	}
	metrics := runstat.Reported(definitions)
	found := report.NewFindings(r.ID, r.Request.ClusterKey, metrics)
	err = s.writeResults(ctx, t.Org, r, definitions, found)
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	if err := s.writeSlices(ctx, t.Org, r, found); err != nil {
		return fmt.Errorf("write slices: %w", err)
	}
	comparison, err := s.writeComparison(ctx, t.Org, r)
	if err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	if err := s.writeLog(ctx, t.Org, r); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	if err := s.writeReport(ctx, t.Org, e, r, metrics, found, comparison); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	// Whoever erased the run in the meantime has not seen these files.
	if _, err := s.store.findRun(ctx, s.db.Org(t.Org), t.Org, t.Run); errors.Is(err, ErrRunNotFound) {
		return s.artifacts.EraseRun(ctx, t.Org, t.Run)
	}
	return nil
}

// writeSlices writes the pass rates of a run by the labels of its items.
func (s *Service) writeSlices(ctx context.Context, org principal.OrgID, r Run, found *report.Findings) error {
	all, err := found.Slices()
	if err != nil || r.Resolved == nil {
		return err
	}
	return s.artifacts.Put(ctx, org, r.Evaluation, r.ID, artifact.KindAnalysis, "slices.json", "application/json", append(encode(all), '\n'))
}

// writeComparison compares a run with its baseline. It is nil if the run has
// none, or none that has ended.
func (s *Service) writeComparison(ctx context.Context, org principal.OrgID, r Run) (*Comparison, error) {
	if r.Request.BaselineRun == 0 || r.Resolved == nil {
		return nil, nil
	}
	c, err := s.Compare(ctx, org, r.Evaluation, Versus{Baseline: r.Request.BaselineRun, Candidate: r.ID})
	if errors.Is(err, ErrNotEnded) || errors.Is(err, ErrRunNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &c, s.artifacts.Put(ctx, org, r.Evaluation, r.ID, artifact.KindComparison, "comparison.json", "application/json", append(encode(c.body()), '\n'))
}

// maxLogLines is far above what runs note, which is a line for each kind of
// event and not for each event.
const maxLogLines = 100_000

// writeLog writes the notes of a run, oldest first.
func (s *Service) writeLog(ctx context.Context, org principal.OrgID, r Run) error {
	notes, err := s.progress.Notes(ctx, org, r.ID, maxLogLines)
	if err != nil {
		return err
	}
	var lines []byte
	for _, note := range slices.Backward(notes) {
		lines = append(append(lines, encode(note.Body())...), '\n')
	}
	return s.artifacts.Put(ctx, org, r.Evaluation, r.ID, artifact.KindLog, "log.jsonl", "application/x-ndjson", lines)
}
