package evidence

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
)

// errReused says that an event uses a name again for other content.
var errReused = errors.New("a name is used again")

// holdEvents claims the keys of events and of what they report, and leaves out the events
// that use a name again for other content. Ids are settled before anything is stored under
// them: whoever repeats this finds the same ones.
func (s *Service) holdEvents(ctx context.Context, org principal.OrgID, events []*event, atomic bool) (h hold, held []*event, err error) {
	said, err := s.store.Claimed(ctx, org, saidBy(events))
	if err != nil {
		return h, nil, err
	}
	for {
		h, err = s.hold(ctx, org, requestOf(events), wantedBy(events), func(claims map[key]claim) error {
			found := false
			maps.Copy(claims, said)
			for _, e := range events {
				// One that was received before is not looked at again.
				found = claims[e.raw.Key].Fresh && e.reused(claims) || found
			}
			if found {
				return errReused
			}
			return nil
		})
		if !errors.Is(err, errReused) {
			return h, events, err
		}
		if atomic {
			return h, nil, anyRejected(events)
		}
		events = accepted(events)
	}
}

// requestOf names a request by its events.
func requestOf(events []*event) key {
	parts := []string{"events"}
	for _, e := range events {
		parts = append(parts, string(e.raw.Key[:]), e.raw.links.RuntimeKey, e.Type, string(e.Format), string(e.raw.draft.Values["attributes"]), string(e.Data))
	}
	return record.Hashed(parts...)
}

// wantedBy are the keys of events, and of what they report under a key that must be
// settled first.
func wantedBy(events []*event) map[key]want {
	wanted := map[key]want{}
	for _, e := range events {
		wanted[e.raw.Key] = want{}
		for _, r := range e.reports {
			streamed := r.draft.Kind.Class == kind.Stream
			if _, twice := wanted[r.Key]; !twice && (streamed || r.Content != nil) {
				wanted[r.Key] = want{Content: r.Content, Lasts: !streamed}
			}
		}
	}
	return wanted
}

// saidBy are the names of reports that count once.
func saidBy(events []*event) (names []key) {
	for _, e := range events {
		for _, r := range e.reports {
			if r.Said != nil {
				names = append(names, r.Once)
			}
		}
	}
	return names
}

// reused rejects the event if it uses a name again for other content.
func (e *event) reused(claims map[key]claim) bool {
	for _, r := range e.reports {
		if r.reuses(claims) {
			e.reject("/data/idempotencyKey", "idempotency_key_reused", reusedName)
			return true
		}
	}
	return false
}

// reusedName is what is wrong with a report whose name was used for other content.
const reusedName = "was used for a record with other content; use a new key for a new record"

// foresee says which events were received before, or use a name again for other content.
func (s *Service) foresee(ctx context.Context, org principal.OrgID, events []*event) error {
	claims, err := s.store.Claimed(ctx, org, append(saidBy(events), slices.Collect(maps.Keys(wantedBy(events)))...))
	if err != nil {
		return err
	}
	fresh, err := s.received(ctx, org, events, claims)
	for _, e := range fresh {
		e.RawEvent = 0 // an id that is claimed and not used
	}
	return err
}

// received leaves out the events that are stored already, and the second of two in one
// envelope.
func (s *Service) received(ctx context.Context, org principal.OrgID, events []*event, claims map[key]claim) (fresh []*event, err error) {
	var older []int64
	for _, e := range events {
		if c := claims[e.raw.Key]; !c.Fresh {
			older = append(older, c.ID)
		}
	}
	stored, err := s.store.stream.MadeFrom(ctx, org, older)
	if err != nil {
		return nil, err
	}
	first := map[key]*event{}
	for _, e := range events {
		e.RawEvent = claims[e.raw.Key].ID
		if records, ok := stored[e.RawEvent]; ok {
			e.Fate, e.reports = Duplicate, nil
			_ = json.Unmarshal(records, &e.Records)
			continue
		}
		if e.first = first[e.raw.Key]; e.first != nil {
			e.Fate, e.reports = Duplicate, nil
			continue
		}
		if !claims[e.raw.Key].Fresh && e.reused(claims) {
			continue
		}
		first[e.raw.Key] = e
		fresh = append(fresh, e)
	}
	return fresh, nil
}
