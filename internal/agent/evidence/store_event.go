package evidence

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/tenancy/redact"
)

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

// storeEvents stores what events say, and the events themselves last: as long as one is not
// there, sending it again completes what is missing. Again are events that have the records
// of others.
func (s *intake) storeEvents(
	ctx context.Context, org principal.OrgID, red *redact.Redactor, in *Envelope, claims map[key]claim, fresh []event[linked], again map[*arrival]*arrival,
) error {
	reports, runtimes, err := s.completeReports(ctx, org, all(fresh))
	if err != nil {
		return err
	}
	events := next(fresh, reports)
	if err := s.noteProducer(ctx, org, red, in.Producer, runtimes); err != nil {
		return err
	}
	missing, err := s.storeSaid(ctx, org, events, claims)
	if err != nil {
		return err
	}
	failpoint.Hit(BeforeEvents)
	var rows []*Record
	for _, e := range accepted(events) {
		r := s.things.newRecord(ctx, e.self, claims[e.self.Key].ID)
		if err := e.note(r.Values, missing[e.arrival]); err != nil {
			return err
		}
		if e.Records == nil {
			e.Records = []Ref{}
		}
		if r.Values["records"], err = json.Marshal(e.Records); err != nil {
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

// storeSaid stores what events say. Missing are how many reports of an event were dropped.
func (s *intake) storeSaid(ctx context.Context, org principal.OrgID, events []event[*report], claims map[key]claim) (missing map[*arrival]int, err error) {
	var said []*report
	for _, e := range events {
		for _, r := range e.reports {
			r.links.RawEventID = e.RawEvent
			if r.draft.Kind.Class != kind.Stream && r.Once == (key{}) {
				r.Once = record.Hashed("once", string(e.self.Key[:]), string(r.Key[:]))
			}
		}
		slices.SortStableFunc(e.reports, (*report).compareTurn)
		said = append(said, e.reports...)
	}
	made, err := s.storeReports(ctx, org, said, claims)
	if err != nil {
		return nil, err
	}
	missing = map[*arrival]int{}
	for _, e := range events {
		for _, r := range e.reports {
			switch m := made[r]; m.fate {
			case nameReused:
				e.reject("/data/idempotencyKey", "idempotency_key_reused", reusedName)
			case recordMissing:
				missing[e.arrival]++
			default:
				e.Records = append(e.Records, Ref{m.Kind.Name, m.ID})
			}
		}
		if n := missing[e.arrival]; n > 0 && n == len(e.reports) {
			e.Status = Unmapped
		}
	}
	return missing, nil
}
