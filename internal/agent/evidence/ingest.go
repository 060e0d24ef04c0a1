package evidence

import (
	"cmp"
	"context"
	"strconv"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
)

// ErrAtomic is returned if an event of an atomic envelope is not valid.
var ErrAtomic = fault.New(fault.Validation, "invalid_events", "An event of the envelope is not valid, so none of them is stored.")

// Ingest stores the events of an envelope and what they say, and returns what became of
// each, in order. An event that was received before has no effect; the reply to the
// first time may have been lost.
//
// Events are parsed, linked, claimed and stored. An event that is rejected on the way goes no
// further; in an atomic envelope, the others go no further either.
func (s *intake) Ingest(ctx context.Context, org principal.OrgID, in Envelope) ([]Outcome, error) {
	out := make([]Outcome, len(in.Events))
	var events []event[parsed]
	err := admission.From(ctx).Work(ctx, func(pause func() error) (err error) {
		events, err = parseEvents(&in, out, s.now, pause)
		return err
	})
	if err := cmp.Or(err, in.refusal(out)); err != nil {
		return nil, err
	}
	red, err := s.traces.Redactor(ctx, org)
	if err != nil {
		return nil, err
	}
	known, err := s.linkEvents(ctx, org, terms{red: red, strict: in.Strict}, events)
	if err := cmp.Or(err, in.refusal(out)); err != nil {
		return nil, err
	}
	held, err := s.claimEvents(ctx, org, &in, known)
	if err := cmp.Or(in.refusal(out), err); err != nil {
		return nil, err
	}
	return out, s.underLease(ctx, held.lease, func(ctx context.Context) error { return s.storeEvents(ctx, org, red, &in, held, out) })
}

// refusal refuses an atomic envelope for the events that are not valid.
func (in *Envelope) refusal(out []Outcome) error {
	var fields []fault.Field
	for _, o := range out {
		for _, f := range o.Errors {
			f.Path = "/events/" + strconv.Itoa(o.Index) + f.Path
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 || !in.Atomic {
		return nil
	}
	return ErrAtomic.WithFields(fields...)
}
