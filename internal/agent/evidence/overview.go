package evidence

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/internal/statedb"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
)

// KindCount is how many records of a kind an organization has.
type KindCount struct {
	Kind             *kind.Kind
	Records, LastDay int64
	Precision        record.Precision
	Latest           time.Time // zero if there is none
}

// Attention is what should be looked at. No more than 10,000 records of a state count.
type Attention struct {
	PendingApprovals, ExpiringApprovals, UnverifiedEffects, ConflictingEffects, UnmappedEvents, ConnectorsUnderReview, SuspendedRuntimes int64
	// OpenFailures are by severity.
	OpenFailures map[string]int64
}

// soon is when an approval expires that should be decided first.
const soon = 2 * time.Hour

// Overview counts the records of each kind and what needs attention. It takes no longer
// for many records than for some.
func (s *Service) Overview(ctx context.Context, org principal.OrgID) ([]KindCount, Attention, error) {
	day := s.now().Add(-24 * time.Hour)
	all, err := s.store.CountRecords(ctx, org, day)
	if err != nil {
		return nil, Attention{}, err
	}
	streamed, err := s.store.stream.Count(ctx, org, day)
	if err != nil {
		return nil, Attention{}, err
	}
	maps.Copy(all, streamed)
	out := make([]KindCount, len(kind.Kinds))
	for i := range kind.Kinds {
		k := &kind.Kinds[i]
		c := all[k.Name]
		out[i] = KindCount{Kind: k, Records: c.Records, LastDay: c.Recent, Precision: cmp.Or(c.Precision, record.Exact), Latest: c.Latest}
	}
	a, err := s.attention(ctx, org, streamed[kind.RawEvents].Records > 0)
	return out, a, err
}

// attention counts what should be looked at.
func (s *Service) attention(ctx context.Context, org principal.OrgID, events bool) (a Attention, err error) {
	places := map[statedb.Condition]*int64{
		{Kind: kind.Approvals, State: "pending"}:             &a.PendingApprovals,
		{Kind: kind.SideEffectLedger, State: "acknowledged"}: &a.UnverifiedEffects,
		{Kind: kind.SideEffectLedger, State: "unknown"}:      &a.UnverifiedEffects,
		{Kind: kind.SideEffectLedger, State: "conflicting"}:  &a.ConflictingEffects,
		{Kind: kind.Connectors, State: "under_review"}:       &a.ConnectorsUnderReview,
		{Kind: kind.Runtimes, State: "suspended"}:            &a.SuspendedRuntimes,
	}
	states, failures, expiring, err := s.store.CountStates(ctx, org, slices.Collect(maps.Keys(places)), s.now().Add(soon))
	if err != nil {
		return a, err
	}
	for of, n := range states {
		*places[of] += n
	}
	a.OpenFailures, a.ExpiringApprovals = failures, expiring
	if events {
		if a.UnmappedEvents, err = s.store.stream.Unmapped(ctx, org); err != nil {
			return a, fmt.Errorf("count unmapped events: %w", err)
		}
	}
	return a, nil
}
