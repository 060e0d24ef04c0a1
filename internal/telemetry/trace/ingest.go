package trace

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
	"github.com/assayhq/assay/internal/tenancy/redact"
)

// Receipt is what became of the telemetry of one request. Accepted spans are
// stored and can be read, unless Deferred says that they are kept safe and
// will be readable when ClickHouse is back.
type Receipt struct {
	Accepted int
	Rejected int
	// Reason is why the first of the rejected was not taken.
	Reason   string
	Deferred bool
}

// ErrTelemetry is what a sender sees whose key has used up its hour.
var ErrTelemetry = fault.New(fault.RateLimited, "telemetry_limit_exceeded", "This key has sent as many spans or bytes as it may in an hour. Retry-After says when there is room again.")

// decoders are reused from request to request.
var decoders = sync.Pool{New: func() any { return new(span.Decoder) }}

// IngestTraces stores the spans of an OTLP ExportTraceServiceRequest.
func (s *Service) IngestTraces(ctx context.Context, caller principal.Caller, body []byte) (Receipt, error) {
	spans, err := span.Count(body)
	if err != nil {
		return Receipt{}, span.ErrUnreadable
	}
	if err := s.spend(ctx, caller, spans, len(body)); err != nil {
		return Receipt{}, err
	}
	settings, err := s.settings.get(ctx, caller.Org)
	if err != nil {
		return Receipt{}, err
	}
	in := newIntake(caller.Org, settings, s.now().UnixMicro())
	defer in.rows.Release()
	var got Receipt
	var bad span.Rejected
	err = in.read(ctx, len(body), func() error {
		d := decoders.Get().(*span.Decoder)
		defer decoders.Put(d)
		return d.Traces(body, &bad, func(r *span.Record) error {
			if reason := in.add(r); reason != "" {
				bad.Add(reason)
			} else {
				got.Accepted++
			}
			return in.next()
		})
	})
	if err != nil {
		return Receipt{}, in.unreadable(err)
	}
	got.Rejected, got.Reason = bad.Count, bad.Reason
	return s.keep(ctx, in, got)
}

// keep stores the rows of a request that is read to its end.
func (s *Service) keep(ctx context.Context, in *intake, got Receipt) (Receipt, error) {
	if got.Accepted > 0 {
		s.herald.Say(ctx, in.stamp.Org, time.UnixMicro(in.stamp.Ingested))
	}
	deferred, err := s.store.Add(ctx, in.stamp.Org, in.rows)
	failpoint.Hit(BeforeReply)
	got.Deferred = deferred
	return got, err
}

// quickWork is how many bytes are read in less time than it takes to wait for a
// turn.
const quickWork = 4 << 20

// work runs a task, in turn with those of other organizations if it is as much as
// reading so many bytes.
func work(ctx context.Context, bytes int, task func(pause func() error) error) error {
	if bytes <= quickWork {
		return task(ctx.Err)
	}
	return admission.From(ctx).Work(ctx, task)
}

// spend counts telemetry against the key's hour.
func (s *Service) spend(ctx context.Context, caller principal.Caller, spans, bytes int) error {
	d, err := s.tenancy.SpendTelemetry(ctx, caller, spans, bytes)
	if err != nil {
		return err
	}
	if !d.Allowed {
		return ErrTelemetry.With("retryAfterSeconds", int(max(time.Second, d.RetryAfter).Seconds()))
	}
	return nil
}

// intake checks, redacts and prices the rows of one request. It reads into
// memory of the request's own, so that no other request waits for the rules of
// this one.
type intake struct {
	settings *orgSettings
	redactor *redact.Redactor
	rows     *spandb.Rows
	stamp    spandb.Stamp // of every row, without its cost
	scratch  []byte
	seen     int          // rows
	turn     func() error // is called between pieces of work
	gone     error        // why the request is not read any further
}

// newIntake begins a request. Its rows get their version from the time, in
// microseconds since 1970, and must be released.
func newIntake(org principal.OrgID, settings *orgSettings, at int64) *intake {
	in := &intake{settings: settings, stamp: spandb.Stamp{Org: org, Ingested: at, Retention: settings.retention}}
	in.redactor = settings.redactor.Until(in.pause)
	in.rows = spandb.NewRows(at, spandb.Clean{Text: in.text, JSON: in.document})
	return in
}

// stepBytes is about how many bytes are read in the time that one takes to go
// through a step of a pattern, at worst.
const stepBytes = 10

// read runs what reads a request of some size. It is not to be stored after an
// error.
func (in *intake) read(ctx context.Context, size int, task func() error) error {
	err := work(ctx, size*(1+stepBytes*in.redactor.Steps()), func(pause func() error) error {
		in.turn = pause
		if err := task(); err != nil {
			return err
		}
		return in.pause()
	})
	if err != nil && in.gone == nil {
		in.gone = ctx.Err()
	}
	return err
}

// pause is called between pieces of work. Its error ends the request: the caller
// is gone, or others need the processor.
func (in *intake) pause() error {
	if in.gone == nil {
		in.gone = in.turn()
	}
	return in.gone
}

// pauseEvery is how many rows are a piece of work.
const pauseEvery = 64

// next is called after every row.
func (in *intake) next() error {
	if in.seen++; in.seen%pauseEvery == 0 {
		return in.pause()
	}
	return in.gone
}

// unreadable is what the caller sees of an error while its body is read: a fault
// of the process as it is, and everything else as a fault of the body.
func (in *intake) unreadable(err error) error {
	if _, refused := fault.From(err); refused || in.gone != nil {
		return cmp.Or(in.gone, err)
	}
	return fmt.Errorf("%w: %w", span.ErrUnreadable, err)
}

// add redacts, prices and appends a row; reason says why it is rejected.
func (in *intake) add(r *span.Record) (reason string) {
	switch {
	case r.TraceID == span.TraceID{}:
		return "trace_id is zero"
	case r.Start <= 0:
		return "start_time is missing"
	case r.Start < span.Earliest:
		return "start_time is before 2000-01-01; it must be in nanoseconds since 1970"
	case r.End != 0 && r.End < r.Start:
		r.End = r.Start
	}
	if r.Start > in.stamp.Ingested+spandb.ClockAhead {
		r.MoveStart(in.stamp.Ingested)
	}
	in.redact(r)
	s := in.stamp
	s.Cost, s.CostKnown = in.cost(r)
	return in.rows.AppendSpan(r, s)
}

// redact removes secrets from the texts of a row. Those that many rows share,
// such as names and keys, go through text and document when they are stored.
func (in *intake) redact(r *span.Record) {
	red := in.redactor
	for i := range r.Attributes {
		a := &r.Attributes[i]
		switch {
		case red.Key(a.Key):
			a.Value, a.JSON = redactedByKey, false
		case a.JSON:
			in.replace(r, &a.Value, red.JSONText)
		default:
			in.replace(r, &a.Value, red.Text)
		}
	}
	in.replace(r, &r.Input, red.JSONText)
	in.replace(r, &r.Output, red.JSONText)
	in.replace(r, &r.System, red.JSONText)
	in.replace(r, &r.Tools, red.JSONText)
	in.replace(r, &r.Events, red.JSONText)
	in.replace(r, &r.Links, red.JSONText)
	in.replace(r, &r.StatusMessage, red.Text)
	in.replace(r, &r.User, red.Text)
	in.replace(r, &r.Conversation, red.Text)
}

var redactedByKey = []byte("[redacted:key]")

// replace keeps the redacted text in the row's scratch space.
func (in *intake) replace(r *span.Record, text *[]byte, redact func(scratch, v []byte) ([]byte, bool)) {
	if out, changed := in.cleaned(*text, redact); changed {
		*text = r.Keep(out)
	}
}

// text is a text without secrets, good until the next one.
func (in *intake) text(v []byte) []byte {
	out, _ := in.cleaned(v, in.redactor.Text)
	return out
}

// document is text for a JSON document.
func (in *intake) document(v []byte) []byte {
	out, _ := in.cleaned(v, in.redactor.JSONText)
	return out
}

func (in *intake) cleaned(v []byte, redact func(scratch, v []byte) ([]byte, bool)) (out []byte, changed bool) {
	if len(v) == 0 {
		return v, false
	}
	if out, changed = redact(in.scratch[:0], v); changed {
		in.scratch = out[:0]
	}
	return out, changed
}

// cost is what the span cost in billionths of a US dollar: as sent, or from the
// price of its model.
func (in *intake) cost(r *span.Record) (nano uint64, known bool) {
	if r.CostSent {
		return uint64(min(max(r.Cost, 0), span.MaxCost) * 1e9), true
	}
	if r.InputTokens == 0 && r.OutputTokens == 0 || len(r.Model) == 0 {
		return 0, false
	}
	p, ok := in.settings.prices.Find(r.Provider, r.Model)
	if !ok {
		return 0, false
	}
	return p.NanoUSD(r.InputTokens, r.CachedTokens, r.CacheWriteTokens, r.OutputTokens), true
}
