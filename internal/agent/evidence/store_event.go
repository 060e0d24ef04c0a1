package evidence

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/tenancy/redact"
)

// storeEvents stores what events say, and the events themselves last: as long as one is not
// there, sending it again completes what is missing. A dry run ends before anything is stored,
// and so does an envelope that is refused.
func (s *intake) storeEvents(ctx context.Context, org principal.OrgID, red *redact.Redactor, in *Envelope, held claimed, out []Outcome) error {
	fresh, again, err := s.unstored(ctx, org, held)
	if no := in.refusal(out); err == nil && no != nil {
		err = refused{no}
	}
	if err != nil || in.DryRun {
		return err
	}
	reports, err := s.completeReports(ctx, org, all(fresh), in.Producer.says(red))
	if err != nil {
		return err
	}
	events := next(fresh, reports)
	missing, err := s.storeSaid(ctx, org, events, held.claims)
	if err != nil {
		return err
	}
	failpoint.Hit(BeforeEvents)
	var rows []*Record
	for _, e := range accepted(events) {
		r := s.things.newRecord(ctx, e.self, held.claims[e.self.Key].ID)
		if err := e.note(r.Values, missing[e.arrival]); err != nil {
			return err
		}
		if r.Values[kind.FieldRecords], err = json.Marshal(e.Records); err != nil {
			return err
		}
		rows = append(rows, &r)
	}
	if err := s.store.stream.Append(ctx, org, rows, uint16(s.cfg.RetentionDays)); err != nil {
		return err
	}
	for a, first := range again {
		a.Records = first.Records
	}
	return nil
}

// unstored leaves out the events that are stored already, and the second of two in one
// envelope: again has the first of them by it.
func (s *intake) unstored(ctx context.Context, org principal.OrgID, c claimed) (fresh []event[linked], again map[*arrival]*arrival, err error) {
	var older []int64
	for _, e := range c.events {
		if c := c.claims[e.self.Key]; !c.Fresh {
			older = append(older, c.ID)
		}
	}
	known, err := s.store.stream.MadeFrom(ctx, org, older)
	if err != nil {
		return nil, nil, err
	}
	again = map[*arrival]*arrival{}
	first := map[key]*arrival{}
	for _, e := range c.events {
		claim := c.claims[e.self.Key]
		e.RawEvent = claim.ID
		if records, ok := known[claim.ID]; ok {
			e.Status = Duplicate
			_ = json.Unmarshal(records, &e.Records)
			continue
		}
		if one := first[e.self.Key]; one != nil {
			e.Status, again[e.arrival] = Duplicate, one
			continue
		}
		if !claim.Fresh && reuses(e, c.claims) {
			continue
		}
		first[e.self.Key] = e.arrival
		if fresh = append(fresh, e); c.id == 0 {
			e.RawEvent = 0 // nothing is stored under an id that is not held
		}
	}
	return fresh, again, nil
}
