package evidence

import (
	"context"
	"maps"
	"slices"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// lockAllTx keeps records of a kind from changing until the transaction ends, and returns
// those that are there by their ids.
func (s *things) lockAllTx(ctx context.Context, tx postgres.Tx, k *kind.Kind, ids []int64) (map[int64]Record, error) {
	slices.Sort(ids)
	found, err := s.store.LockAllTx(ctx, tx, k, slices.Compact(ids))
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
	return found, err
}

// lockTx keeps a record from changing until the transaction ends, if it is there.
func (s *things) lockTx(ctx context.Context, tx postgres.Tx, k *kind.Kind, id int64) (r Record, there bool, err error) {
	found, err := s.lockAllTx(ctx, tx, k, []int64{id})
	r, there = found[id]
	return r, there, err
}

// left are records as a transaction leaves them. An envelope may show the same few failures
// hundreds of times: they are locked by one statement and counted by another.
type left struct {
	records map[int64]Record
	noted   map[int64]bool // those on which something is noted that is not written yet
}

// failuresTx locks the failures among reports that were claimed before.
func (s *things) failuresTx(ctx context.Context, tx postgres.Tx, reports []*report, claims map[key]claim) (left, error) {
	var ids []int64
	for _, r := range reports {
		if c := claims[r.Key]; r.draft.Kind.Name == "failures" && !c.Fresh {
			ids = append(ids, c.ID)
		}
	}
	found, err := s.lockAllTx(ctx, tx, kind.Must("failures"), ids)
	return left{records: found, noted: map[int64]bool{}}, err
}

// noteTx writes what is noted. What is noted in one transaction is of one kind.
func (s *things) noteTx(ctx context.Context, tx postgres.Tx, l left) error {
	var rows []Record
	for _, id := range slices.Sorted(maps.Keys(l.noted)) {
		rows = append(rows, l.records[id])
	}
	if len(rows) == 0 {
		return nil
	}
	return s.store.TouchTx(ctx, tx, rows[0].Kind, rows...)
}
