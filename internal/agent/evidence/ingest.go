package evidence

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/agent/evidence/internal/clean"
	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy/redact"
)

// ErrAtomic is returned if an event of an atomic envelope is not valid.
var ErrAtomic = fault.New(fault.Validation, "invalid_events", "An event of the envelope is not valid, so none of them is stored.")

// Ingest stores the events of an envelope and what they say, and returns what became of
// each, in order. An event that was received before has no effect; the reply to the
// first time may have been lost. The event itself is stored last: as long as it is not
// there, sending it again completes what is missing.
func (s *Service) Ingest(ctx context.Context, org principal.OrgID, in Envelope) ([]Outcome, error) {
	events := make([]*event, len(in.Events))
	err := admission.From(ctx).Work(ctx, func(pause func() error) error {
		reports := 0
		for i, text := range in.Events {
			e := readEvent(i, text)
			if e.Time.IsZero() {
				e.Time, e.untimed = s.now(), true
			}
			e.normalize(in.Producer, in.Defaults)
			if reports += len(e.reports); reports > MaxReports {
				e.reject("", "length", "the envelope reports too many records; send fewer events at once")
				reports -= len(e.reports)
			}
			e.raw = e.received(in.Producer, in.Defaults, !in.WithoutPayload)
			for _, r := range append(e.reports, e.raw) {
				r.strict = in.Strict
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
	if err := s.take(ctx, org, in, events); err != nil {
		return nil, err
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
func (s *Service) take(ctx context.Context, org principal.OrgID, in Envelope, events []*event) error {
	events = accepted(events)
	red, err := s.traces.Redactor(ctx, org)
	if err != nil {
		return err
	}
	if err := s.check(ctx, org, red, reportsOf(events)); err != nil {
		return err
	}
	for _, e := range events {
		e.checked()
	}
	if in.Atomic {
		if err := anyRejected(events); err != nil {
			return err
		}
	}
	if in.DryRun {
		if err := s.foresee(ctx, org, accepted(events)); err != nil || !in.Atomic {
			return err
		}
		return anyRejected(events)
	}
	h, events, err := s.holdEvents(ctx, org, accepted(events), in.Atomic)
	if err != nil {
		return err
	}
	var refused error // before anything was stored: the lease ends
	err = s.under(ctx, h, func(ctx context.Context) error {
		err := s.takeHeld(ctx, org, red, in, events, h.claims)
		if errors.Is(err, ErrAtomic) {
			refused, err = err, nil
		}
		return err
	})
	return cmp.Or(err, refused)
}

// takeHeld stores events whose keys are held.
func (s *Service) takeHeld(ctx context.Context, org principal.OrgID, red *redact.Redactor, in Envelope, events []*event, claims map[key]claim) error {
	fresh, err := s.received(ctx, org, events, claims)
	if err != nil {
		return err
	}
	if in.Atomic {
		if err := anyRejected(events); err != nil {
			return err
		}
	}
	runtimes, err := s.attach(ctx, org, reportsOf(fresh))
	if err != nil {
		return err
	}
	if err := s.noteProducer(ctx, org, red, in.Producer, runtimes); err != nil {
		return err
	}
	if err := s.keep(ctx, org, fresh, claims); err != nil {
		return err
	}
	failpoint.Hit(BeforeEvents)
	if err := s.keepEvents(ctx, org, accepted(fresh), claims); err != nil {
		return err
	}
	for _, e := range events {
		if e.first != nil {
			e.Records = e.first.Records
		}
	}
	return nil
}

// accepted are the events that were not rejected.
func accepted(events []*event) []*event {
	return slices.DeleteFunc(slices.Clone(events), func(e *event) bool { return e.Fate == Rejected })
}

// reportsOf are all that events report, themselves included.
func reportsOf(events []*event) (out []*report) {
	for _, e := range events {
		out = append(append(out, e.raw), e.reports...)
	}
	return out
}

// checked names the records of an event that it does not name itself, and rejects the
// event if a report refers to something that is not there.
func (e *event) checked() {
	for i, r := range e.reports {
		if r.Alone {
			r.identity = identity{Key: record.Unnamed(e.raw.Key, r.draft.Kind, i)}
		}
	}
	for _, r := range append(e.reports, e.raw) {
		if r.blurred != "" && e.result.Format == normal.FormatNative { // others name effects by their spans
			r.refuse("/"+r.blurred, "format", blurredName)
		}
		if len(r.fields) > 0 {
			e.refuse("/data", r.fields)
		}
	}
}

// keep stores what events say.
func (s *Service) keep(ctx context.Context, org principal.OrgID, events []*event, claims map[key]claim) error {
	var streamed, adding, lasting []*report
	by := map[int]*event{}
	for _, e := range events {
		by[e.Index] = e
		for _, r := range e.reports {
			r.links.RawEventID = e.RawEvent
			switch {
			case r.adds:
				adding = append(adding, r)
				continue
			case r.draft.Kind.Class == kind.Stream:
				streamed = append(streamed, r)
				continue
			}
			if r.Once == (key{}) {
				r.Once = record.Hashed("once", string(e.raw.Key[:]), string(r.Key[:]))
			}
			lasting = append(lasting, r)
		}
	}
	streamed = append(streamed, adding...)
	made, err := s.keepStream(ctx, org, streamed, claims)
	if err != nil {
		return err
	}
	err = admission.From(ctx).Work(ctx, func(pause func() error) error {
		for i := range made {
			if streamed[i].dropped {
				continue
			}
			e := by[streamed[i].index]
			e.Records = append(e.Records, Ref{made[i].Kind.Name, made[i].ID})
			lasting = append(lasting, failures(nil, &made[i])...)
			if err := pause(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, e := range events {
		dropped := func(r *report) bool { return r.dropped }
		if !slices.ContainsFunc(e.reports, dropped) {
			continue
		}
		e.result.Version = "" // it is read again, when what it adds to may be there
		if !slices.ContainsFunc(e.reports, func(r *report) bool { return !r.dropped }) {
			e.Fate = Unmapped
		}
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
			switch {
			case r.origin != record.Ingested:
			case r.reused:
				by[r.index].reject("/data/idempotencyKey", "idempotency_key_reused", reusedName)
			default:
				by[r.index].Records = append(by[r.index].Records, Ref{put[i].Kind.Name, put[i].ID})
			}
		}
		return nil
	})
}

// noteProducer notes what a producer says about itself, and now and then that it was heard of.
// Known are the runtimes that were found for its events.
func (s *Service) noteProducer(ctx context.Context, org principal.OrgID, red *redact.Redactor, p Producer, known map[string]Record) (err error) {
	p.RuntimeKey = clean.Text(red, p.RuntimeKey)
	if len(known) == 0 { // all were received before
		if known, err = s.store.Things(ctx, s.db.Org(org), org, "runtimes", []string{p.RuntimeKey}); err != nil {
			return err
		}
	}
	v := kind.Values{"runtime_key": kind.TextValue(p.RuntimeKey)}
	was, there := known[p.RuntimeKey]
	for name, text := range map[string]string{"name": p.Name, "agent_version": p.Version, "environment": p.Environment} {
		if text != "" && (name != "environment" || was.Values.Text(name) == "") { // which stays as it is
			v[name] = kind.TextValue(clean.Text(red, text))
		}
	}
	news := slices.ContainsFunc(slices.Collect(maps.Keys(v)), func(name string) bool { return !bytes.Equal(v[name], was.Values[name]) })
	if !there || !news && s.now().Sub(was.Values.Time("last_seen_at")) < heardEvery {
		return nil
	}
	r := newReport("runtimes", v, record.Ingested, Links{})
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		_, err := s.putTx(ctx, tx, []*report{r})
		return err
	})
}

// keepEvents stores the events themselves.
func (s *Service) keepEvents(ctx context.Context, org principal.OrgID, events []*event, claims map[key]claim) error {
	rows := make([]*Record, len(events))
	for i, e := range events {
		r := s.record(ctx, e.raw, claims[e.raw.Key].ID)
		if err := e.note(r.Values); err != nil {
			return err
		}
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
	return s.store.stream.Append(ctx, org, rows, uint16(s.cfg.RetentionDays))
}
