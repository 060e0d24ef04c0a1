package trace

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
	"github.com/assayhq/assay/internal/trace/internal/spandb"
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

	later int // rows that are left to the other lane
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
	d := decoders.Get().(*span.Decoder)
	defer decoders.Put(d)
	return s.collect(ctx, len(body), func(b *spandb.Block, p spandb.Pass, got *Receipt) error {
		in := intake{block: b, pass: p, org: caller.Org, settings: settings, now: s.now().UnixMicro()}
		var bad span.Rejected
		err := d.Traces(body, &bad, func(r *span.Record) error {
			switch taken, reason := in.add(r); {
			case reason != "":
				bad.Add(reason)
			case taken:
				got.Accepted++
			default:
				got.later++
			}
			return nil
		})
		got.Rejected, got.Reason = bad.Count, bad.Reason
		if err != nil {
			return fmt.Errorf("%w: %w", span.ErrUnreadable, err)
		}
		return nil
	})
}

// collect lets fill add the rows of a request of some size to the open blocks
// and waits until they are stored. A fill that fails leaves nothing behind. It
// runs a second time if the first pass leaves old rows to the other lane.
func (s *Service) collect(ctx context.Context, size int, fill func(*spandb.Block, spandb.Pass, *Receipt) error) (Receipt, error) {
	var got Receipt
	deferred, err := s.store.Add(ctx, s.now().UnixMicro(), size, func(b *spandb.Block, p spandb.Pass) (later bool, err error) {
		// What is not taken is the same in both passes.
		now := Receipt{}
		if err := fill(b, p, &now); err != nil {
			return false, err
		}
		failpoint.Hit(Decoded)
		got.Accepted += now.Accepted
		got.Rejected, got.Reason = now.Rejected, now.Reason
		return now.later > 0, nil
	})
	failpoint.Hit(BeforeReply)
	got.Deferred = deferred
	return got, err
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

// intake checks rows and adds them to a block.
type intake struct {
	block    *spandb.Block
	pass     spandb.Pass
	org      principal.OrgID
	settings *orgSettings
	now      int64 // microseconds since 1970
	scratch  []byte
}

// add redacts, prices and appends a row; reason says why it is rejected. A row
// that is neither taken nor rejected belongs to the other pass.
func (in *intake) add(r *span.Record) (taken bool, reason string) {
	switch {
	case r.TraceID == span.TraceID{}:
		return false, "trace_id is zero"
	case r.Start <= 0:
		return false, "start_time is missing"
	case r.Start < span.Earliest:
		return false, "start_time is before 2000-01-01; it must be in nanoseconds since 1970"
	case !in.pass.Takes(r.Start):
		return false, ""
	case r.End != 0 && r.End < r.Start:
		r.End = r.Start
	}
	if r.Start > in.now+spandb.ClockAhead {
		r.MoveStart(in.now)
	}
	in.redact(r)
	s := spandb.Stamp{Org: in.org, Ingested: in.now, Retention: in.settings.retention}
	s.Cost, s.CostKnown = in.cost(r)
	in.block.AppendSpan(r, s)
	return true, ""
}

// redact removes secrets from everything that a person or a model wrote.
func (in *intake) redact(r *span.Record) {
	red := in.settings.redactor
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
	in.replace(r, &r.StatusMessage, red.Text)
	in.replace(r, &r.Name, red.Text)
	in.replace(r, &r.User, red.Text)
	in.replace(r, &r.Conversation, red.Text)
}

var redactedByKey = []byte("[redacted:key]")

// replace keeps the redacted text in the row's scratch space.
func (in *intake) replace(r *span.Record, text *[]byte, redact func(scratch, v []byte) ([]byte, bool)) {
	if len(*text) == 0 {
		return
	}
	out, changed := redact(in.scratch[:0], *text)
	if !changed {
		return
	}
	in.scratch = out[:0]
	*text = r.Keep(out)
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
