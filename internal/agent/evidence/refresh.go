package evidence

import (
	"context"
	"maps"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/internal/review"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/change"
	catalogue "github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// refreshTx applies a report to a thing that is there already, and returns the failures
// that this shows. What was decided about the thing stays: no report lifts a suspension or
// makes a connector trusted.
func (s *Service) refreshTx(ctx context.Context, tx postgres.Tx, before Record, r *report, seen *occurrences) (after Record, found []*report, err error) {
	after = before
	after.Values = maps.Clone(before.Values)
	after.UpdatedAt = s.now()
	switch before.Kind.Name {
	case "failures":
		if r.fills { // it counted then
			return before, nil, nil
		}
		after, err = s.recurTx(ctx, tx, before, after, r, seen)
		return after, nil, err
	case "runtimes", "connectors":
		if r.fills { // what it was some time ago
			return before, nil, nil
		}
	default:
		return before, nil, nil // the same report again
	}
	said := r.draft.Values
	switch {
	case before.Kind.Name == "connectors":
		said = review.Kept(before.Values, said)
	case before.Values.Text("environment") != "":
		// Policies depend on it: a runtime does not choose which ones it is under.
		said = maps.Clone(said)
		delete(said, "environment")
	}
	maps.Copy(after.Values, said)
	record.Join(before.Values, after.Values)
	record.Fit(before.Values, after.Values)
	if before.Kind.Name == "runtimes" {
		after.Values["last_seen_at"] = kind.TimeValue(after.UpdatedAt)
	}
	if record.Same(before.Values, after.Values, "last_seen_at") {
		// Being heard of is not a change; it is noted once a minute.
		if before.Kind.Name == "connectors" || after.UpdatedAt.Sub(before.Values.Time("last_seen_at")) < heardEvery {
			return before, nil, nil
		}
		return after, nil, s.store.TouchTx(ctx, tx, after.Kind, after)
	}
	did := happened(&before, &after)
	if before.Kind.Name == "connectors" && review.Drifted(before.Values, after.Values) {
		if before.State() == "approved" {
			after.Values["state"] = kind.TextValue("under_review")
		}
		after.Values["trust_level"] = kind.TextValue("untrusted")
		found, did = []*report{driftFailure(after)}, eventDrifted
	}
	return after, found, s.saveTx(ctx, tx, before, &after, did)
}

// heardEvery is how often it is noted that a runtime was heard of.
const heardEvery = time.Minute

// saveTx writes a changed thing, keeps what it was, and records what happened to it.
func (s *Service) saveTx(ctx context.Context, tx postgres.Tx, before Record, after *Record, did catalogue.Type) error {
	after.Version = before.Version + 1
	if err := s.store.MoveTx(ctx, tx, before, *after, principal.ActorOf(ctx)); err != nil {
		return err
	}
	return change.RecordTx(ctx, s.log, tx, did, after.ID, &before, after)
}
