package evidence

import (
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/principal"
)

// KindCount is how many records of a kind an organization has.
type KindCount struct {
	Kind             *kind.Kind
	Records, LastDay int64
	Latest           time.Time // zero if there is none
}

// Attention is what somebody should look at.
type Attention struct {
	PendingApprovals, ExpiringApprovals, UnverifiedEffects, ConflictingEffects, UnmappedEvents, ConnectorsUnderReview, SuspendedRuntimes int64
	// OpenFailures are by severity.
	OpenFailures map[string]int64
}

// soon is when an approval expires that should be decided first.
const soon = 2 * time.Hour

// Overview counts the records of each kind and what needs attention.
func (s *Service) Overview(ctx context.Context, org principal.OrgID) ([]KindCount, Attention, error) {
	day := s.now().Add(-24 * time.Hour)
	lasting, err := s.store.countRecords(ctx, org, day)
	if err != nil {
		return nil, Attention{}, err
	}
	streamed, err := s.store.count(ctx, org, day)
	if err != nil {
		return nil, Attention{}, err
	}
	out := make([]KindCount, len(kind.Kinds))
	for i := range kind.Kinds {
		k := &kind.Kinds[i]
		c := lasting[k.Name]
		if k.Class == kind.Stream {
			c = streamed[k.Name]
		}
		out[i] = KindCount{Kind: k, Records: c.Records, LastDay: c.Recent, Latest: c.Latest}
	}
	a, err := s.attention(ctx, org, streamed["raw-events"].Records > 0)
	return out, a, err
}

// attention counts what should be looked at.
func (s *Service) attention(ctx context.Context, org principal.OrgID, events bool) (a Attention, err error) {
	states, err := s.store.countStates(ctx, org, "approvals", "side-effect-ledger", "failures", "connectors", "runtimes")
	if err != nil {
		return a, err
	}
	a.OpenFailures = map[string]int64{"low": 0, "medium": 0, "high": 0, "critical": 0}
	for of, n := range states {
		switch of.kind + "/" + of.state {
		case "approvals/pending":
			a.PendingApprovals += n
		case "side-effect-ledger/acknowledged", "side-effect-ledger/unknown":
			a.UnverifiedEffects += n
		case "side-effect-ledger/conflicting":
			a.ConflictingEffects += n
		case "failures/open", "failures/triaged":
			a.OpenFailures[of.severity] += n
		case "connectors/under_review":
			a.ConnectorsUnderReview += n
		case "runtimes/suspended":
			a.SuspendedRuntimes += n
		}
	}
	if a.PendingApprovals > 0 {
		if a.ExpiringApprovals, err = s.store.countExpiring(ctx, org, s.now().Add(soon)); err != nil {
			return a, err
		}
	}
	if events {
		if a.UnmappedEvents, err = s.store.unmapped(ctx, org); err != nil {
			return a, fmt.Errorf("count unmapped events: %w", err)
		}
	}
	return a, nil
}
