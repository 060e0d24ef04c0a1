package evaluation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/report"
)

// ErrArtifactNotFound is returned when the evaluation has no such artifact.
var ErrArtifactNotFound = fault.New(fault.NotFound, "artifact_not_found", "The evaluation has no such artifact.")

// ErrArtifactGone is returned for an artifact whose bytes are no longer kept.
var ErrArtifactGone = fault.New(fault.NotFound, "artifact_gone", "The artifact's content is no longer available.")

// ArtifactKind is what an artifact is.
type ArtifactKind string

// The kinds of artifacts that runs leave behind.
const (
	KindReport     ArtifactKind = "report"
	KindResults    ArtifactKind = "results"
	KindComparison ArtifactKind = "comparison"
	KindLog        ArtifactKind = "log"
)

// Artifact is a file that a run left behind. Its bytes are in the object
// storage.
type Artifact struct {
	ID          int64
	Evaluation  int64
	Run         int64
	Kind        ArtifactKind
	Name        string
	ContentType string
	Size        int64
	Digest      [32]byte // SHA-256
	CreatedAt   time.Time

	object string // the folder of its parts
}

// ArtifactFilter selects artifacts; an empty field matches everything.
type ArtifactFilter struct {
	Run           int64
	Kind          ArtifactKind
	CreatedAfter  *time.Time
	CreatedBefore *time.Time
	Limit, Offset int
}

// Artifacts returns a page of an evaluation's artifacts, newest first, and how
// many there are.
func (s *Service) Artifacts(ctx context.Context, org principal.OrgID, evaluation int64, f ArtifactFilter) ([]Artifact, int64, error) {
	if _, err := s.Find(ctx, org, evaluation); err != nil {
		return nil, 0, err
	}
	return s.store.listArtifacts(ctx, org, evaluation, f)
}

// FindArtifact returns one artifact of an evaluation.
func (s *Service) FindArtifact(ctx context.Context, org principal.OrgID, evaluation, id int64) (Artifact, error) {
	if _, err := s.Find(ctx, org, evaluation); err != nil {
		return Artifact{}, err
	}
	return s.store.findArtifact(ctx, org, evaluation, id)
}

// OpenArtifact reads an artifact's bytes. The reader fails at the end if they
// are not those that were written, and the caller closes it.
func (s *Service) OpenArtifact(ctx context.Context, a Artifact) (io.ReadCloser, error) {
	return openParts(ctx, s.blobs, a)
}

// writeArtifacts makes the files of a run that has ended. They are made from
// what is stored and from no clock, so that making them again changes nothing;
// a failure on the way leaves each file whole, old or new, and the caller
// tries again.
func (s *Service) writeArtifacts(ctx context.Context, t Ticket) error {
	r, err := s.store.findRun(ctx, s.db.Org(t.Org), t.Org, t.Run)
	if errors.Is(err, ErrRunNotFound) {
		return nil // erased meanwhile
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
	metrics := toReportMetrics(definitions)
	found := report.NewFindings(r.ID, r.Request.ClusterKey, metrics)
	err = s.writeResults(ctx, t.Org, r, definitions, found)
	if err != nil {
		return fmt.Errorf("write results: %w", err)
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
	return nil
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
	f := s.create(ctx, org, r, KindComparison, "comparison.json", "application/json")
	if _, err := f.Write(append(encode(toComparisonBody(c)), '\n')); err != nil {
		return nil, err
	}
	return &c, f.Close()
}

// maxLogLines is far above what runs note, which is a line for each kind of
// event and not for each event.
const maxLogLines = 100_000

// writeLog writes the notes of a run, oldest first.
func (s *Service) writeLog(ctx context.Context, org principal.OrgID, r Run) error {
	notes, err := s.store.notes(ctx, org, r.ID, maxLogLines)
	if err != nil {
		return err
	}
	f := s.create(ctx, org, r, KindLog, "log.jsonl", "application/x-ndjson")
	for i := len(notes) - 1; i >= 0; i-- {
		if _, err := f.Write(append(encode(toNoteBody(notes[i])), '\n')); err != nil {
			return err
		}
	}
	return f.Close()
}
