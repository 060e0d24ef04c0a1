package evidence

import (
	"context"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// occurrences are failures as a transaction leaves them. An envelope may show the same few
// failures hundreds of times: they are locked by one statement and counted by another.
type occurrences struct {
	failures map[int64]Record
	counted  map[int64]bool // those whose count is not written yet
}

// occurrencesTx locks the failures among reports that were claimed before.
func (s *Service) occurrencesTx(ctx context.Context, tx postgres.Tx, reports []*report, claims map[key]claim) (*occurrences, error) {
	var ids []int64
	for _, r := range reports {
		if c := claims[r.Key]; r.draft.Kind.Name == "failures" && !c.Fresh {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	found, err := s.store.LockAllTx(ctx, tx, kind.Must("failures"), slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	var traces []span.TraceID
	for _, r := range found {
		if r.Trace != (span.TraceID{}) {
			traces = append(traces, r.Trace)
		}
	}
	numbers, err := s.traces.NumbersTx(ctx, tx, traces)
	for id, r := range found {
		r.Number = numbers[r.Trace]
		found[id] = r
	}
	return &occurrences{failures: found, counted: map[int64]bool{}}, err
}

// keep notes what became of a record, if it is a failure.
func (o *occurrences) keep(r Record) {
	if r.Kind.Name == "failures" {
		o.failures[r.ID] = r
	}
}

// writeTx writes the counts.
func (o *occurrences) writeTx(ctx context.Context, tx postgres.Tx, s *Service) error {
	var rows []Record
	for _, id := range slices.Sorted(maps.Keys(o.counted)) {
		rows = append(rows, o.failures[id])
	}
	return s.store.TouchTx(ctx, tx, kind.Must("failures"), rows...)
}

// recurTx counts another occurrence of a failure. One that was fixed is open again.
func (s *Service) recurTx(ctx context.Context, tx postgres.Tx, before, after Record, r *report, seen *occurrences) (Record, error) {
	at := r.occurred
	if at.IsZero() {
		at = after.UpdatedAt
	}
	after.Values["occurrences"] = kind.IntegerValue(before.Values.Integer("occurrences") + 1)
	if at.After(before.Values.Time("last_seen_at")) {
		after.Values["last_seen_at"] = kind.TimeValue(at)
	}
	if was := before.State(); was != "fixed" && was != "verified" {
		seen.counted[after.ID] = true
		return after, nil
	}
	after.Values["state"], after.Values["regressed"] = kind.TextValue("open"), jsontext.Value("true")
	return after, s.saveTx(ctx, tx, before, &after, eventRegressed)
}
