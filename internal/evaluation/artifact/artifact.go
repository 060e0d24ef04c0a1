package artifact

import (
	"context"
	"crypto/sha256"
	"io"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ErrNotFound is returned when the evaluation has no such artifact.
var ErrNotFound = fault.New(fault.NotFound, "artifact_not_found", "The evaluation has no such artifact.")

// ErrGone is returned for an artifact whose bytes are no longer kept.
var ErrGone = fault.New(fault.NotFound, "artifact_gone", "The artifact's content is no longer available.")

// Kind is what an artifact is.
type Kind string

// The kinds of artifacts that runs leave behind.
const (
	KindReport     Kind = "report"
	KindResults    Kind = "results"
	KindComparison Kind = "comparison"
	KindAnalysis   Kind = "analysis"
	KindLog        Kind = "log"
)

// Artifact is a file that a run left behind. Its bytes are in the object
// storage.
type Artifact struct {
	ID          int64
	Evaluation  int64
	Run         int64
	Kind        Kind
	Name        string
	ContentType string
	Size        int64
	Digest      [32]byte // SHA-256
	CreatedAt   time.Time

	object string // the folder of its parts
}

// Filter selects artifacts; an empty field matches everything.
type Filter struct {
	Run           int64
	Kind          Kind
	CreatedAfter  *time.Time
	CreatedBefore *time.Time
	postgres.Page
}

// Parts are what the service is built from.
type Parts struct {
	Postgres *postgres.DB
	Blobs    *blob.Store
	Now      func() time.Time
	// Evaluation returns the refusal of requests for an evaluation that does not
	// exist.
	Evaluation func(ctx context.Context, org principal.OrgID, id int64) error
}

// Service keeps artifacts.
type Service struct {
	store      store
	blobs      *blob.Store
	now        func() time.Time
	evaluation func(ctx context.Context, org principal.OrgID, id int64) error
}

// New makes the service.
func New(p Parts) *Service {
	return &Service{store: store{p.Postgres}, blobs: p.Blobs, now: p.Now, evaluation: p.Evaluation}
}

// List returns a page of an evaluation's artifacts, newest first, with one
// artifact more than the limit if there is a next page.
func (s *Service) List(ctx context.Context, org principal.OrgID, evaluation int64, f Filter) ([]Artifact, int64, error) {
	if err := s.evaluation(ctx, org, evaluation); err != nil {
		return nil, 0, err
	}
	return s.store.list(ctx, org, evaluation, f)
}

// Find returns one artifact of an evaluation.
func (s *Service) Find(ctx context.Context, org principal.OrgID, evaluation, id int64) (Artifact, error) {
	if err := s.evaluation(ctx, org, evaluation); err != nil {
		return Artifact{}, err
	}
	return s.store.find(ctx, org, evaluation, id)
}

// Open reads an artifact's bytes. The reader fails at the end if they are not
// those that were written, and the caller closes it.
func (s *Service) Open(ctx context.Context, a Artifact) (io.ReadCloser, error) {
	return openParts(ctx, s.blobs, a)
}

// Create begins to write an artifact of a run. It replaces the one of the same
// name.
func (s *Service) Create(ctx context.Context, org principal.OrgID, evaluation, run int64, kind Kind, name, contentType string) *File {
	return &File{
		Artifact: Artifact{
			Evaluation: evaluation, Run: run, Kind: kind, Name: name, ContentType: contentType, CreatedAt: s.now(), object: runPrefix(org, run) + name,
		},
		ctx: ctx, blobs: s.blobs, hash: sha256.New(), known: func(a Artifact) error { return s.store.put(ctx, org, a) },
	}
}

// Put writes an artifact of a run whole. It replaces the one of the same name.
func (s *Service) Put(ctx context.Context, org principal.OrgID, evaluation, run int64, kind Kind, name, contentType string, content []byte) error {
	f := s.Create(ctx, org, evaluation, run, kind, name, contentType)
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Close()
}

// Erase removes the files of all artifacts of an organization and returns how
// many objects there were.
func (s *Service) Erase(ctx context.Context, org principal.OrgID) (int64, error) {
	return s.erase(ctx, prefix(org))
}

// EraseRun removes the files of a run's artifacts.
func (s *Service) EraseRun(ctx context.Context, org principal.OrgID, run int64) error {
	_, err := s.erase(ctx, runPrefix(org, run))
	return err
}

// erase removes every object under a prefix.
func (s *Service) erase(ctx context.Context, prefix string) (n int64, err error) {
	const page = 1000
	for {
		objects, err := s.blobs.List(ctx, prefix, "", page)
		if err != nil {
			return n, err
		}
		for _, o := range objects {
			if err := s.blobs.Delete(ctx, o.Key); err != nil {
				return n, err
			}
			n++
		}
		if len(objects) < page {
			return n, nil
		}
	}
}
