package evidence

import (
	"context"
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

// lockFailuresTx locks the failures among reports that were claimed before: an envelope may
// show the same few failures hundreds of times.
func (s *things) lockFailuresTx(ctx context.Context, tx postgres.Tx, reports []*report, claims map[key]claim) (map[int64]Record, error) {
	var ids []int64
	for _, r := range reports {
		if c := claims[r.Key]; r.draft.Kind.Name == kind.Failures && !c.Fresh {
			ids = append(ids, c.ID)
		}
	}
	return s.lockAllTx(ctx, tx, kind.Must(kind.Failures), ids)
}
