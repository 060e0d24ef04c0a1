package trace

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/principal"
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

// What a caller sees when telemetry is not taken.
var (
	ErrUnreadable = fault.New(fault.Validation, "otlp_unreadable", "The body is not the OTLP message that its content type announces.")
	ErrTelemetry  = fault.New(fault.RateLimited, "telemetry_limit_exceeded", "This key has sent as many spans or bytes as it may in an hour. Retry-After says when there is room again.")
)

// ingested is a decoder with its row; they are reused from request to request.
var decoders = sync.Pool{New: func() any { return new(otlpDecoder) }}

// IngestTraces stores the spans of an OTLP ExportTraceServiceRequest.
func (s *Service) IngestTraces(ctx context.Context, caller principal.Caller, body []byte) (Receipt, error) {
	spans, err := countSpans(body)
	if err != nil {
		return Receipt{}, ErrUnreadable
	}
	if err := s.spend(ctx, caller, spans, len(body)); err != nil {
		return Receipt{}, err
	}
	settings, err := s.settings.get(ctx, caller.Org)
	if err != nil {
		return Receipt{}, err
	}
	d := decoders.Get().(*otlpDecoder)
	defer decoders.Put(d)
	return s.collect(ctx, len(body), func(b *block, p pass, got *Receipt) error {
		in := intake{block: b, pass: p, org: caller.Org, settings: settings, now: s.now().UnixMicro()}
		var bad rejected
		err := d.traces(body, &bad, func(r *row) error {
			switch taken, reason := in.add(r); {
			case reason != "":
				bad.add(reason)
			case taken:
				got.Accepted++
			default:
				got.later++
			}
			return nil
		})
		got.Rejected, got.Reason = bad.spans, bad.reason
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		return nil
	})
}

// collect lets fill add the rows of a request of some size to the open blocks
// and waits until they are stored. A fill that fails leaves nothing behind. It
// runs a second time if the first pass leaves old rows to the other lane.
func (s *Service) collect(ctx context.Context, size int, fill func(*block, pass, *Receipt) error) (Receipt, error) {
	var got Receipt
	deferred, err := s.store.lanes.add(ctx, s.now().UnixMicro(), size, func(b *block, p pass) (later bool, err error) {
		// What is not taken is the same in both passes.
		now := Receipt{}
		if err := fill(b, p, &now); err != nil {
			return false, err
		}
		failpoint.Hit(failpoint.Decoded)
		got.Accepted += now.Accepted
		got.Rejected, got.Reason = now.Rejected, now.Reason
		return now.later > 0, nil
	})
	failpoint.Hit(failpoint.BeforeReply)
	got.Deferred = deferred
	return got, err
}

// spend counts telemetry against the key's hour.
func (s *Service) spend(ctx context.Context, caller principal.Caller, spans, bytes int) error {
	d, err := s.people.SpendTelemetry(ctx, caller, spans, bytes)
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
	block    *block
	pass     pass
	org      principal.OrgID
	settings *orgSettings
	now      int64 // microseconds since 1970
	scratch  []byte
}

const (
	// ahead is how far a sender's clock may run before ours; what starts later
	// than that starts now, because a partition of the far future would never
	// be dropped.
	ahead = int64(time.Hour / time.Microsecond)
	// earliest is 2000-01-01. Nothing that started before is telemetry: it is a
	// time in the wrong unit, and nobody would find its trace.
	earliest = 946_684_800 * micros
	tooEarly = "must not be before 2000-01-01T00:00:00Z"
)

// add redacts, prices and appends a row; reason says why it is rejected. A row
// that is neither taken nor rejected belongs to the other pass.
func (in *intake) add(r *row) (taken bool, reason string) {
	switch {
	case r.trace == ID{}:
		return false, "trace_id is zero"
	case r.start <= 0:
		return false, "start_time is missing"
	case r.start < earliest:
		return false, "start_time is before 2000-01-01; it must be in nanoseconds since 1970"
	case !in.pass.takes(r.start):
		return false, ""
	case r.end != 0 && r.end < r.start:
		r.end = r.start
	}
	if r.start > in.now+ahead {
		// The claimed time stays readable beside the one that is used.
		text := appendTime(r.scratch.open(), r.start)
		r.attrs = append(r.attrs, attr{key: keyClaimedStart, value: r.scratch.close(text), json: true})
		if r.end != 0 {
			r.end = in.now + r.end - r.start
		}
		r.start = in.now
	}
	in.redact(r)
	s := stored{org: in.org, ingested: in.now, retention: in.settings.retention}
	s.cost, s.costKnown = in.cost(r)
	in.block.appendSpan(r, s)
	return true, ""
}

var keyClaimedStart = []byte("assay.claimed_start_time")

// redact removes secrets from everything that a person or a model wrote.
func (in *intake) redact(r *row) {
	red := in.settings.redactor
	for i := range r.attrs {
		a := &r.attrs[i]
		switch {
		case red.Key(a.key):
			a.value, a.json = redactedByKey, false
		case a.json:
			in.replace(r, &a.value, red.JSONText)
		default:
			in.replace(r, &a.value, red.Text)
		}
	}
	in.replace(r, &r.input, red.JSONText)
	in.replace(r, &r.output, red.JSONText)
	in.replace(r, &r.system, red.JSONText)
	in.replace(r, &r.tools, red.JSONText)
	in.replace(r, &r.events, red.JSONText)
	in.replace(r, &r.statusMessage, red.Text)
	in.replace(r, &r.name, red.Text)
	in.replace(r, &r.user, red.Text)
	in.replace(r, &r.conversation, red.Text)
}

var redactedByKey = []byte("[redacted:key]")

// replace keeps the redacted text in the row's scratch space.
func (in *intake) replace(r *row, text *[]byte, redact func(scratch, v []byte) ([]byte, bool)) {
	if len(*text) == 0 {
		return
	}
	out, changed := redact(in.scratch[:0], *text)
	if !changed {
		return
	}
	in.scratch = out[:0]
	*text = r.scratch.close(append(r.scratch.open(), out...))
}

// cost is what the span cost in billionths of a US dollar: as sent, or from the
// price of its model.
func (in *intake) cost(r *row) (nano uint64, known bool) {
	if r.costSent {
		return uint64(min(max(r.cost, 0), maxCost) * 1e9), true
	}
	if r.inputTokens == 0 && r.outputTokens == 0 || len(r.model) == 0 {
		return 0, false
	}
	p, ok := in.settings.prices.Find(r.provider, r.model)
	if !ok {
		return 0, false
	}
	return p.NanoUSD(r.inputTokens, r.cachedTokens, r.cacheWriteTokens, r.outputTokens), true
}

// maxCost is more than any span costs, in US dollars.
const maxCost = 1e9

// countSpans counts the spans of an ExportTraceServiceRequest, without looking
// into them.
func countSpans(body []byte) (n int, err error) {
	err = eachMessage(body, 1, func(rs []byte) error {
		return eachMessage(rs, 2, func(ss []byte) error {
			return eachMessage(ss, 2, func([]byte) error {
				n++
				return nil
			})
		})
	})
	return n, err
}
