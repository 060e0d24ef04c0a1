package evidence

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/internal/lot"
	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

const (
	// pageOfTraces is how many traces are read before it is noted how far that is.
	pageOfTraces = 200
	// followTime is how long the other workflows of an organization wait for the one that
	// reads. If it takes longer, what both do is done twice and has the effect of once.
	followTime = lot.Longest + 2*time.Minute
	// firstReach is how far before the first period of an organization reading begins: the
	// messages of its first periods may come in any order.
	firstReach = time.Hour
)

// Followed says whether all that came in a period has been read, and when to look again if
// it has not.
type Followed struct {
	Ended bool
	Wait  time.Duration
}

// Look makes evidence of the spans that came since the last look. A trace to which more
// comes is found again, and what it says a second time changes nothing.
//
// Attempt is how often this was tried. What is noted is how far all traces were read, so
// that a process that is killed repeats some and misses none.
func (s *Service) Look(ctx context.Context, in Follow, attempt int) (Followed, error) {
	a := trace.Arrived(in)
	at, free, err := s.store.TakeCursor(ctx, a.Org, a.Period, a.From().Add(-firstReach), followTime)
	if err != nil || !free {
		return Followed{Wait: s.cfg.Poll}, err
	}
	until := s.traces.ArrivedBy(s.cfg.Settle)
	next, more := at, false
	if until.UnixMilli() > at.At {
		page, err := s.traces.Arrivals(ctx, a.Org, at, until, pageOfTraces)
		if err != nil {
			return Followed{}, err
		}
		// All that came until then is read, unless the page ends before.
		next = trace.Arrival{At: until.UnixMilli(), ID: lastID}
		if more = len(page) == pageOfTraces; more {
			next = page[len(page)-1]
		}
		ids := make([]span.TraceID, len(page))
		for i := range page {
			ids[i] = page[i].ID
		}
		n, err := lot.Read(ctx, ids, attempt, func(ctx context.Context, ids []span.TraceID) error { return s.ReadTraces(ctx, a.Org, ids) })
		if err != nil {
			return Followed{}, err
		}
		if n < len(page) {
			next, more = page[n-1], true
		}
	}
	if err := s.store.MoveCursor(ctx, a.Org, a.Period, at, next); err != nil || more {
		return Followed{}, err
	}
	return Followed{Ended: !time.UnixMilli(next.At).Before(a.Until()), Wait: s.cfg.Poll}, nil
}

// lastID is after all others.
var lastID = span.TraceID(bytes.Repeat([]byte{0xff}, len(span.TraceID{})))

// ReadTraces makes evidence of the spans of traces.
func (s *Service) ReadTraces(ctx context.Context, org principal.OrgID, ids []span.TraceID) error {
	acts := s.traces.Acts(org, ids)
	for {
		page, err := acts.Next(ctx)
		if err != nil || len(page) == 0 {
			return err
		}
		var said []parsed
		err = admission.From(ctx).Work(ctx, func(pause func() error) error {
			for i := range page {
				for _, r := range normal.Stored(&page[i]) {
					one := parseReport(r, record.Ingested)
					one.policy = fillOnly // what was reported in another way is not replaced
					said = append(said, one)
				}
				if err := pause(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for some := range slices.Chunk(said, MaxReports) {
			if err := s.storeSpans(ctx, org, some); err != nil {
				return err
			}
		}
	}
}

// storeSpans stores what spans say, in addition to what is known.
func (s *Service) storeSpans(ctx context.Context, org principal.OrgID, said []parsed) error {
	red, err := s.traces.Redactor(ctx, org)
	if err != nil {
		return err
	}
	all, err := s.linkReports(ctx, org, terms{red: red}, said)
	if err != nil {
		return err
	}
	known := slices.DeleteFunc(all, func(r linked) bool { return len(r.faults) > 0 })
	wanted, runtimes := make(map[key]want, len(known)), map[string]kind.Values{}
	for i := range known {
		r := &known[i]
		if name := r.links.RuntimeKey; name != "" {
			runtimes[name] = kind.Values{kind.FieldRuntimeKey: kind.TextValue(name)} // it was heard of
		}
		r.Content = nil // a span that is sent again may say more
		if r.draft.Kind.Class == kind.Stream {
			wanted[r.Key] = want{}
		}
	}
	held, err := s.leaseKeys(ctx, org, key{}, wanted, func(map[key]claim) error { return nil })
	if err != nil {
		return err
	}
	return s.underLease(ctx, held, func(ctx context.Context) error {
		reports, err := s.completeReports(ctx, org, known, slices.Collect(maps.Values(runtimes))...)
		if err != nil {
			return err
		}
		_, err = s.storeReports(ctx, org, s.withoutSteps(ctx, reports, held.claims), held.claims)
		return err
	})
}

// withoutSteps are reports with the failures that steps show in place of the steps, which
// stay in the trace: they are only looked at.
func (s *Service) withoutSteps(ctx context.Context, reports []*report, claims map[key]claim) (out []*report) {
	for _, r := range reports {
		if r.draft.Kind.Name != kind.PrimitiveStepRuns {
			out = append(out, r)
			continue
		}
		step := s.newRecord(ctx, r, claims[r.Key].ID)
		for _, f := range failures(nil, &step) {
			delete(f.draft.Values, referring[step.Kind.Name])
			f.draft.Values[kind.FieldSpanID] = step.Values[kind.FieldSpanID]
			out = append(out, f)
		}
	}
	return out
}
