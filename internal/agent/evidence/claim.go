package evidence

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
)

// errReused says that an event uses a name again for other content.
var errReused = errors.New("a name is used again")

// claimed are events whose keys are held, and those of what they report.
type claimed struct {
	lease
	events []event[linked]
}

// claimEvents claims the keys of events and of what they report, and leaves out the events
// that use a name again for other content; or claims none if they are all or none. Ids are
// settled before anything is stored under them: whoever repeats this finds the same ones. A
// dry run only looks at the claims that there are.
func (s *intake) claimEvents(ctx context.Context, org principal.OrgID, in *Envelope, events []event[linked]) (c claimed, err error) {
	wanted, names := keysOf(events)
	if in.DryRun {
		names = slices.AppendSeq(names, maps.Keys(wanted))
	}
	said, err := s.store.Claimed(ctx, org, names)
	if err != nil || in.DryRun {
		return claimed{lease{claims: said}, events}, err
	}
	for {
		c.events = events
		c.lease, err = s.leaseKeys(ctx, org, requestOf(events), wanted, func(claims map[key]claim) error {
			found := false
			maps.Copy(claims, said)
			for _, e := range events {
				// One that was received before is not looked at again.
				found = claims[e.self.Key].Fresh && reuses(e, claims) || found
			}
			if found {
				return errReused
			}
			return nil
		})
		if in.Atomic || !errors.Is(err, errReused) {
			return c, err
		}
		events = accepted(events)
		wanted, _ = keysOf(events)
	}
}

// requestOf names a request by its events.
func requestOf(events []event[linked]) key {
	parts := []string{"events"}
	for _, e := range events {
		parts = append(parts, string(e.self.Key[:]), e.self.links.RuntimeKey, e.Type, string(e.Format), string(e.self.draft.Values[kind.FieldAttributes]), string(e.Data))
	}
	return record.Hashed(parts...)
}

// keysOf are the keys of events, and of what they report under a key that must be settled
// first, and the names of reports that count once.
func keysOf(events []event[linked]) (wanted map[key]want, said []key) {
	wanted = map[key]want{}
	for _, e := range events {
		wanted[e.self.Key] = want{}
		for _, r := range e.reports {
			streamed := r.draft.Kind.Class == kind.Stream
			if _, twice := wanted[r.Key]; !twice && (streamed || r.Content != nil) {
				wanted[r.Key] = want{Content: r.Content, Lasts: !streamed}
			}
			if r.Said != nil {
				said = append(said, r.Once)
			}
		}
	}
	return wanted, said
}
