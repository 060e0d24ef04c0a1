package evidence

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// storeReports stores reports, and the failures that they show, and says what became of each:
// first of what happened, whose keys the caller holds, then of what lasts. Reports that only
// add something come after those that make the records.
func (s *intake) storeReports(ctx context.Context, org principal.OrgID, reports []*report, claims map[key]claim) (map[*report]stored, error) {
	reports = slices.SortedStableFunc(slices.Values(reports), (*report).compareTurn)
	lasting := slices.IndexFunc(reports, func(r *report) bool { return r.turn() == 2 })
	if lasting < 0 {
		lasting = len(reports)
	}
	out, found, err := s.storeStream(ctx, org, reports[:lasting], claims)
	if found = append(reports[lasting:], found...); err != nil || len(found) == 0 {
		return out, err
	}
	err = postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		put, err := s.things.putTx(ctx, tx, found)
		maps.Copy(out, put)
		return err
	})
	return out, err
}

// turn is when a report is stored.
func (r *report) turn() int {
	switch {
	case r.policy&addOnly != 0:
		return 1
	case r.draft.Kind.Class == kind.Stream:
		return 0
	}
	return 2
}

func (r *report) compareTurn(other *report) int { return cmp.Compare(r.turn(), other.turn()) }

// storeStream stores reports of what happened, and returns the failures that they show.
// Reports of the same record are put together, also with what is stored already.
func (s *intake) storeStream(ctx context.Context, org principal.OrgID, reports []*report, claims map[key]claim) (out map[*report]stored, found []*report, err error) {
	out = make(map[*report]stored, len(reports))
	if len(reports) == 0 {
		return out, nil, nil
	}
	ids, kinds := map[int64]bool{}, map[kind.Name]bool{}
	for _, r := range reports {
		if c := claims[r.Key]; !c.Fresh {
			ids[c.ID], kinds[r.draft.Kind.Name] = true, true
		}
	}
	known, err := s.store.stream.Some(ctx, org, slices.Collect(maps.Keys(kinds)), slices.Collect(maps.Keys(ids)))
	if err != nil {
		return nil, nil, err
	}
	now := make(map[int64]*Record, len(known))
	for i := range known {
		now[known[i].ID] = &known[i]
	}
	changed := map[int64]bool{}
	err = admission.From(ctx).Work(ctx, func(pause func() error) error {
		for _, r := range reports {
			id := claims[r.Key].ID
			before := now[id]
			if before == nil && r.policy&addOnly != 0 {
				out[r] = stored{fate: recordMissing}
				continue
			}
			after := s.things.mergeReport(ctx, before, r, id)
			if now[id] = after; after != before {
				changed[id] = true
			}
			out[r] = stored{Record: *after}
			found = append(found, failures(nil, after)...)
			if err := pause(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	rows := make([]*Record, 0, len(changed))
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		rows = append(rows, now[id])
	}
	return out, found, s.store.stream.Append(ctx, org, rows, uint16(s.cfg.RetentionDays))
}
