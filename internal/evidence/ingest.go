package evidence

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

// ErrAtomic is returned if an event of an atomic envelope is not valid.
var ErrAtomic = fault.New(fault.Validation, "invalid_events", "An event of the envelope is not valid, so none of them is stored.")

// Ingest stores the events of an envelope and what they say, and returns what became of
// each, in order. An event that was received before has no effect; the reply to the
// first time may have been lost. The event itself is stored last: as long as it is not
// there, sending it again completes what is missing.
func (s *Service) Ingest(ctx context.Context, org principal.OrgID, in Envelope) ([]Outcome, error) {
	red, err := s.traces.Redactor(ctx, org)
	if err != nil {
		return nil, err
	}
	events := make([]*event, len(in.Events))
	err = admission.From(ctx).Work(ctx, func(pause func() error) error {
		for i, text := range in.Events {
			e := readEvent(i, text)
			if e.Time.IsZero() {
				e.Time = s.now()
			}
			e.normalize(in.Producer, in.Defaults)
			e.raw = e.received(in.Producer, !in.WithoutPayload)
			for _, r := range append(e.reports, e.raw) {
				clean(red, &r.draft)
			}
			events[i] = e
			if err := pause(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if in.Atomic {
		if err := anyRejected(events); err != nil {
			return nil, err
		}
	}
	if !in.DryRun {
		if err := s.take(ctx, org, events, in.Atomic); err != nil {
			return nil, err
		}
	}
	out := make([]Outcome, len(events))
	for i, e := range events {
		out[i] = e.Outcome
	}
	return out, nil
}

// anyRejected refuses an envelope for the events that are not valid.
func anyRejected(events []*event) error {
	var fields []fault.Field
	for _, e := range events {
		if e.Fate != Rejected {
			continue
		}
		for _, f := range e.Errors {
			f.Path = "/events/" + strconv.Itoa(e.Index) + f.Path
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return ErrAtomic.WithFields(fields...)
}

// take stores events.
func (s *Service) take(ctx context.Context, org principal.OrgID, events []*event, atomic bool) error {
	events = slices.DeleteFunc(slices.Clone(events), func(e *event) bool { return e.Fate == Rejected })
	var reports []*report
	for _, e := range events {
		reports = append(append(reports, e.raw), e.reports...)
	}
	if err := s.link(ctx, org, reports); err != nil {
		return err
	}
	for _, e := range events {
		e.unlinked()
	}
	if atomic {
		if err := anyRejected(events); err != nil {
			return err
		}
	}
	events = slices.DeleteFunc(events, func(e *event) bool { return e.Fate == Rejected })
	claims, err := s.claimAll(ctx, org, events)
	if err != nil {
		return err
	}
	fresh, err := s.received(ctx, org, events, claims)
	if err != nil {
		return err
	}
	if err := s.keep(ctx, org, fresh, claims); err != nil {
		return err
	}
	failpoint.Hit(BeforeEvents)
	fresh = slices.DeleteFunc(fresh, func(e *event) bool { return e.Fate == Rejected })
	if err := s.keepEvents(ctx, org, fresh, claims); err != nil {
		return err
	}
	for _, e := range events {
		if e.first != nil {
			e.Records = e.first.Records
		}
	}
	return nil
}

// reusedName is what is wrong with a report whose name was used for other content.
const reusedName = "was used for a record with other content; use a new key for a new record"

// unlinked rejects an event of which a report refers to something that is not there.
func (e *event) unlinked() {
	for _, r := range append(e.reports, e.raw) {
		if len(r.fields) > 0 {
			e.refuse("/data", r.fields)
		}
	}
}

// claimAll claims the keys of events and of what happened according to them.
func (s *Service) claimAll(ctx context.Context, org principal.OrgID, events []*event) (claims map[key]claim, err error) {
	wanted := map[key][]byte{}
	for _, e := range events {
		wanted[e.raw.key] = nil
		for _, r := range e.reports {
			if r.draft.Kind.Class == kind.Stream {
				wanted[r.key] = r.content
			}
		}
	}
	// The claims are settled before anything is stored under them: whoever repeats
	// this finds the same ids.
	err = postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		claims, err = s.store.claim(ctx, tx, org, wanted)
		return err
	})
	return claims, err
}

// received leaves out the events that are stored already, and the second of two in one
// envelope.
func (s *Service) received(ctx context.Context, org principal.OrgID, events []*event, claims map[key]claim) (fresh []*event, err error) {
	var older []int64
	for _, e := range events {
		if c := claims[e.raw.key]; !c.fresh {
			older = append(older, c.id)
		}
	}
	all, err := s.store.some(ctx, org, []kind.Name{"raw-events"}, older)
	if err != nil {
		return nil, err
	}
	stored := map[int64]Record{}
	for _, r := range all {
		stored[r.ID] = r
	}
	first := map[key]*event{}
	for _, e := range events {
		e.RawEvent = claims[e.raw.key].id
		for _, r := range e.reports {
			if c := claims[r.key]; r.content != nil && r.draft.Kind.Class == kind.Stream && !bytes.Equal(r.content, c.content) {
				e.reject("/data/idempotencyKey", "unknown_reference", reusedName)
			}
		}
		if r, ok := stored[e.RawEvent]; ok {
			e.Fate, e.reports = Duplicate, nil
			_ = json.Unmarshal(r.Values["records"], &e.Records)
			continue
		}
		if e.first = first[e.raw.key]; e.first != nil {
			e.Fate, e.reports = Duplicate, nil
			continue
		}
		if e.Fate == Rejected {
			continue
		}
		first[e.raw.key] = e
		fresh = append(fresh, e)
	}
	return fresh, nil
}

// keep stores what events say.
func (s *Service) keep(ctx context.Context, org principal.OrgID, events []*event, claims map[key]claim) error {
	var streamed, lasting []*report
	by := map[int]*event{}
	for _, e := range events {
		by[e.Index] = e
		for _, r := range e.reports {
			r.links.RawEventID = e.RawEvent
			if r.draft.Kind.Class == kind.Stream {
				streamed = append(streamed, r)
				continue
			}
			r.once = hashed("once", string(e.raw.key[:]), string(r.key[:]))
			lasting = append(lasting, r)
		}
	}
	made, err := s.keepStream(ctx, org, streamed, claims)
	if err != nil {
		return err
	}
	for i := range made {
		e := by[streamed[i].index]
		e.Records = append(e.Records, Ref{made[i].Kind.Name, made[i].ID})
		lasting = append(lasting, failures(nil, &made[i].Record)...)
	}
	if len(lasting) == 0 {
		return nil
	}
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		put, err := s.putTx(ctx, tx, lasting)
		if err != nil {
			return err
		}
		for i, r := range lasting {
			if r.reused {
				by[r.index].reject("/data/idempotencyKey", "unknown_reference", reusedName)
				continue
			}
			if r.origin == Ingested {
				by[r.index].Records = append(by[r.index].Records, Ref{put[i].Kind.Name, put[i].ID})
			}
		}
		var found []*report
		for i := range put {
			if put[i].New {
				found = append(found, failures(nil, &put[i].Record)...)
			}
		}
		_, err = s.putTx(ctx, tx, found)
		return err
	})
}

// keepEvents stores the events themselves.
func (s *Service) keepEvents(ctx context.Context, org principal.OrgID, events []*event, claims map[key]claim) error {
	rows := make([]*Record, len(events))
	for i, e := range events {
		r := s.record(ctx, e.raw, claims[e.raw.key].id)
		state := "normalized"
		if e.Fate == Unmapped {
			state = "unmapped"
		}
		r.Values["status"] = kind.TextValue(state)
		if e.Records == nil {
			e.Records = []Ref{}
		}
		text, err := json.Marshal(e.Records)
		if err != nil {
			return err
		}
		r.Values["records"] = text
		if payload := r.Values["payload"]; payload != nil {
			r.Values["payload_digest"] = kind.TextValue(kind.DigestOf(payload))
		}
		rows[i] = &r
	}
	return s.store.append(ctx, org, rows, uint16(s.cfg.RetentionDays))
}
