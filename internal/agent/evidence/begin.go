package evidence

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
)

// mergeReport is a record after a report of it: as it was if the report says nothing new.
func (s *things) mergeReport(ctx context.Context, before *Record, r *report, id int64) *Record {
	if before != nil && r.Content != nil { // the same report again
		return before
	}
	after := s.newRecord(ctx, r, id)
	if before == nil {
		return &after
	}
	after, news := record.Merge(*before, after, r.policy&fillOnly != 0)
	if !news {
		return before
	}
	return &after
}

// newRecord is the record that a report is the first about.
func (s *things) newRecord(ctx context.Context, r *report, id int64) Record {
	if r.sender != nil {
		ctx = principal.With(ctx, *r.sender)
	}
	out := Record{
		Kind: r.draft.Kind, ID: id, Links: r.links, Number: r.number, IdempotencyKey: r.name, Origin: r.origin, Values: r.draft.Values, OccurredAt: r.occurred, Key: r.Key,
	}
	beginRecord(ctx, &out, s.now())
	return out
}

// beginRecord sets what only the platform sets on a new record, and what it leaves open.
func beginRecord(ctx context.Context, r *Record, now time.Time) {
	r.CreatedAt, r.UpdatedAt, r.Version, r.Actor = now, now, 1, principal.ActorOf(ctx)
	if r.OccurredAt.IsZero() {
		r.OccurredAt = now
	}
	v, k := r.Values, r.Kind
	if k.Lifecycle != "" && r.State() == "" && k.Initial != "" {
		v[k.Lifecycle] = kind.TextValue(k.Initial)
	}
	if begin := hooked[k.Name].begin; begin != nil {
		begin(ctx, r)
	}
}
