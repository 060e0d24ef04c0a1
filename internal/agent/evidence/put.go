package evidence

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/change"
	catalogue "github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// putTx stores reports of things that last, with the failures that they show. One that is
// there already is refreshed. All callers lock in the same order: failures last, and
// otherwise by key.
func (s *things) putTx(ctx context.Context, tx postgres.Tx, reports []*report) (map[*report]stored, error) {
	out := make(map[*report]stored, len(reports))
	var first, last []*report
	for _, r := range reports {
		if r.draft.Kind.Name == kind.Failures {
			last = append(last, r)
		} else {
			first = append(first, r)
		}
	}
	for _, more := range [][]*report{last, nil} {
		found, err := s.putEachTx(ctx, tx, first, out)
		if err != nil {
			return nil, err
		}
		first = append(more, found...)
	}
	return out, nil
}

// putEachTx stores reports in the order of their keys, notes what became of them, and returns
// the failures that they show.
func (s *things) putEachTx(ctx context.Context, tx postgres.Tx, reports []*report, out map[*report]stored) (found []*report, err error) {
	claims, err := s.claimsTx(ctx, tx, reports)
	if err != nil {
		return nil, err
	}
	reports = slices.DeleteFunc(slices.Clone(reports), func(r *report) bool {
		reused := r.reuses(claims)
		if reused {
			out[r] = stored{fate: nameReused}
		}
		return reused
	})
	if err := s.effectsTx(ctx, tx, reports, claims); err != nil {
		return nil, err
	}
	now, err := s.lockFailuresTx(ctx, tx, reports, claims)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(reports, func(a, b *report) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	noted, counted := map[int64]Record{}, map[key]bool{}
	for _, r := range reports {
		c := claims[r.Key]
		before, there := now[c.ID]
		if !there && !c.Fresh {
			if before, there, err = s.lockTx(ctx, tx, r.draft.Kind, c.ID); err != nil {
				return nil, err
			}
		}
		told := r.Once != (key{}) && (!claims[r.Once].Fresh || counted[r.Once])
		counted[r.Once] = true
		news, fate, was := refreshed{after: before}, recordKnown, &before
		switch {
		case !there:
			news, fate, was = refreshed{after: s.newRecord(ctx, r, c.ID)}, recordMade, nil
		case r.policy&mention == 0 && !told:
			news = refresh(before, r, s.now())
		}
		if news.noted {
			noted[c.ID] = news.after
		}
		if was == nil || news.did != (catalogue.Type{}) {
			delete(noted, c.ID)
			if err := s.saveTx(ctx, tx, news.did, was, &news.after); err != nil {
				return nil, err
			}
		}
		if found = append(found, news.found...); was == nil {
			found = append(found, failures(nil, &news.after)...)
		}
		out[r], now[c.ID] = stored{news.after, fate}, news.after
	}
	var rows []Record // all of one kind: the failures, or else the runtimes
	for _, id := range slices.Sorted(maps.Keys(noted)) {
		rows = append(rows, noted[id])
	}
	if len(rows) > 0 {
		err = s.store.TouchTx(ctx, tx, rows[0].Kind, rows...)
	}
	return found, err
}

// refresh applies a report to a thing that is there already. What was decided about the thing
// stays: no report lifts a suspension or makes a connector trusted.
func refresh(before Record, r *report, now time.Time) refreshed {
	add := hooked[before.Kind.Name].refresh
	if add == nil || r.policy&fillOnly != 0 { // the same again; or it is what it was some time ago
		return refreshed{after: before}
	}
	after := before
	after.Values, after.UpdatedAt = maps.Clone(before.Values), now
	return add(before, after, r)
}

// saveTx stores a thing that is new or has changed, with what it was before, and records what
// happened to it. What happened to a new one depends on what it is stored as.
func (s *things) saveTx(ctx context.Context, tx postgres.Tx, did catalogue.Type, before, after *Record) (err error) {
	if before != nil {
		after.Version = before.Version + 1
		err = s.store.MoveTx(ctx, tx, *before, *after, principal.ActorOf(ctx))
	} else {
		if insert := hooked[after.Kind.Name].insert; insert != nil {
			err = insert(s, ctx, tx, after)
		}
		if err == nil {
			err = s.store.InsertTx(ctx, tx, *after)
		}
		did = happened(nil, after)
	}
	if err != nil {
		return err
	}
	return change.RecordTx(ctx, s.log, tx, did, after.ID, before, after)
}

// claimsTx claims the keys of reports. A record that has none gets an id alone.
func (s *things) claimsTx(ctx context.Context, tx postgres.Tx, reports []*report) (map[key]claim, error) {
	wanted := make(map[key]want, len(reports))
	var alone []key
	for _, r := range reports {
		if r.Alone {
			alone = append(alone, r.Key)
			continue
		}
		if _, twice := wanted[r.Key]; !twice {
			wanted[r.Key] = want{Content: r.Content, Lasts: true}
		}
		if _, twice := wanted[r.Once]; !twice && r.Once != (key{}) {
			wanted[r.Once] = want{Content: r.Said}
		}
	}
	claims, err := s.store.ClaimTx(ctx, tx, wanted, s.expiry())
	if err != nil {
		return nil, err
	}
	ids, err := s.store.IDs(ctx, tx, len(alone))
	if err != nil {
		return nil, err
	}
	if claims == nil {
		claims = make(map[key]claim, len(alone))
	}
	for i, k := range alone {
		claims[k] = claim{ID: ids[i], Fresh: true}
	}
	return claims, nil
}
