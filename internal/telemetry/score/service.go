package score

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// TopicPromised is published with scores that are to be stored.
const TopicPromised = "score.promised"

// promiseDelay is how long the promise of a score waits for whoever gave it to
// store the score themselves.
const promiseDelay = 10 * time.Second

// keepWithin is how long a caller waits for ClickHouse before the promise has to
// do.
const keepWithin = 5 * time.Second

// Service keeps scores.
type Service struct {
	log   *change.Log
	store store
}

// New makes the service.
func New(stores Stores, log *change.Log) *Service {
	return &Service{log: log, store: newStore(stores)}
}

// Insert stores scores. They can be read when it returns. After an error some of
// them may be stored: a caller that needs them repeats the call.
func (s *Service) Insert(ctx context.Context, org principal.OrgID, scores ...Score) error {
	return s.store.insert(ctx, org, scores)
}

// PromiseTx makes sure that a score is stored if the transaction commits. The
// caller calls Keep after the commit, so that the score can be read at once.
func (s *Service) PromiseTx(ctx context.Context, tx postgres.Tx, one Score) error {
	return s.log.PublishLaterTx(ctx, tx, promiseDelay, TopicPromised, one.Subject.whole(), promise{Score: one, By: one.By.String()})
}

// promise is a score as a message carries it.
type promise struct {
	Score `json:",inline"`
	By    string `json:"by"`
}

// Keep stores a score that was promised. It reports false if that has to wait:
// the promise is kept later.
func (s *Service) Keep(ctx context.Context, org principal.OrgID, one Score) bool {
	ctx, cancel := context.WithTimeout(ctx, keepWithin)
	defer cancel()
	err := s.Insert(ctx, org, one)
	if err != nil {
		slog.WarnContext(ctx, "a promised score is stored later", "org_id", org.String(), "error", err)
	}
	return err == nil
}

// Handlers store promised scores that are not stored yet.
func (s *Service) Handlers() map[string]change.Handler {
	return map[string]change.Handler{TopicPromised: func(ctx context.Context, m change.Message) error {
		var p promise
		if err := json.Unmarshal(m.Payload, &p); err != nil {
			return fmt.Errorf("read score: %w", err)
		}
		p.Score.By = principal.ParseActor(p.By)
		stored, err := s.store.has(ctx, m.Org, p.Score)
		if err != nil || stored {
			return err
		}
		return s.Insert(ctx, m.Org, p.Score)
	}}
}

// List returns scores, newest first.
func (s *Service) List(ctx context.Context, org principal.OrgID, f Filter, limit int) ([]Score, error) {
	return s.store.list(ctx, org, f, limit)
}

// Page returns scores of a source, the newest record first.
func (s *Service) Page(ctx context.Context, org principal.OrgID, p Page) ([]Score, error) {
	return s.store.page(ctx, org, p)
}

// Every hands over the scores that a page selects, in any order and up to its limit.
func (s *Service) Every(ctx context.Context, org principal.OrgID, p Page, take func(Score) error) error {
	return s.store.every(ctx, org, p, take)
}

// Total returns how many scores a page selects, on all pages.
func (s *Service) Total(ctx context.Context, org principal.OrgID, p Page) (int64, error) {
	return s.store.total(ctx, org, p)
}

// Count returns how many scores there are of each subject that has some, parts
// included, by the subject's ID.
func (s *Service) Count(ctx context.Context, org principal.OrgID, f Filter) (map[string]int64, error) {
	return s.store.count(ctx, org, f)
}

// Hide makes the scores of subjects unreadable: those from before a time, or all
// of them if it is zero. They leave the disks with the next round of purges.
func (s *Service) Hide(ctx context.Context, org principal.OrgID, f Filter, before time.Time) error {
	return s.store.hide(ctx, org, f, before)
}

// Left counts scores of the subjects that are still on the disks and must not be.
func (s *Service) Left(ctx context.Context, org principal.OrgID, f Filter, before time.Time) (uint64, error) {
	return s.store.left(ctx, org, f, before)
}

// WithdrawTx takes back the scores of a subject, and of its parts, that were
// promised until it was deleted. One that is being stored at this moment still
// arrives.
func (s *Service) WithdrawTx(ctx context.Context, tx postgres.Tx, of Subject, until time.Time) error {
	return s.log.WithdrawTx(ctx, tx, TopicPromised, of.whole(), until)
}
