package evidence

import (
	"context"
	"maps"
	"slices"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// occurrences are failures as a transaction leaves them. An envelope may show the same few
// failures hundreds of times: they are locked by one statement and counted by another.
type occurrences struct {
	failures map[int64]Record
	counted  map[int64]bool // those whose count is not written yet
}

// occurrencesTx locks the failures among reports that were claimed before.
func (s *things) occurrencesTx(ctx context.Context, tx postgres.Tx, reports []*report, claims map[key]claim) (*occurrences, error) {
	var ids []int64
	for _, r := range reports {
		if c := claims[r.Key]; r.draft.Kind.Name == "failures" && !c.Fresh {
			ids = append(ids, c.ID)
		}
	}
	found, err := s.lockAllTx(ctx, tx, kind.Must("failures"), ids)
	return &occurrences{failures: found, counted: map[int64]bool{}}, err
}

// keep notes what became of a record, if it is a failure.
func (o *occurrences) keep(r Record) {
	if r.Kind.Name == "failures" {
		o.failures[r.ID] = r
	}
}

// writeTx writes the counts.
func (o *occurrences) writeTx(ctx context.Context, tx postgres.Tx, s *things) error {
	var rows []Record
	for _, id := range slices.Sorted(maps.Keys(o.counted)) {
		rows = append(rows, o.failures[id])
	}
	return s.store.TouchTx(ctx, tx, kind.Must("failures"), rows...)
}
