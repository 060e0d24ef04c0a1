package tenancy

import (
	"context"
	"log/slog"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
)

// Usage is what one key did over some days. Latencies are in milliseconds.
type Usage struct {
	From, To    time.Time
	Requests    int64
	Errors      int64
	RateLimited int64
	Average     float64
	P50, P95    float64
	ByDay       []UsageDay
	ByOperation []UsageOperation
}

// UsageDay is one day of a key.
type UsageDay struct {
	Date     time.Time
	Requests int64
	Errors   int64
}

// UsageOperation is one operation of a key.
type UsageOperation struct {
	Operation string
	Requests  int64
	Errors    int64
	P50, P95  float64
}

// Usage returns what a key did in the last days, today included.
func (s *Service) Usage(ctx context.Context, org principal.OrgID, id int64, days int) (Key, Usage, error) {
	k, err := s.Key(ctx, org, id)
	if err != nil {
		return Key{}, Usage{}, err
	}
	to := s.now().UTC()
	from := to.Truncate(24*time.Hour).AddDate(0, 0, 1-days)
	u, err := s.store.usageTotals(ctx, org, k.KeyID, from, to)
	if err != nil {
		return Key{}, Usage{}, err
	}
	u.From, u.To = from, to
	if u.ByDay, err = s.store.usageByDay(ctx, org, k.KeyID, from, to); err != nil {
		return Key{}, Usage{}, err
	}
	u.ByOperation, err = s.store.usageByOperation(ctx, org, k.KeyID, from, to)
	return k, u, err
}

// Meter counts one request of a recognised caller. It never waits.
func (s *Service) Meter(r Request) { s.meter.add(r) }

// RunMeter writes what was metered until ctx ends, and then the rest.
func (s *Service) RunMeter(ctx context.Context) error {
	tick := time.NewTicker(meterFlush)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			s.FlushMeter(last)
			return nil
		case <-tick.C:
		case <-s.meter.full:
		}
		s.FlushMeter(ctx)
	}
}

// FlushMeter writes everything that is metered now. What cannot be written is
// kept for the next time.
func (s *Service) FlushMeter(ctx context.Context) {
	s.flushTouched(ctx) // first: it does not need ClickHouse
	for {
		block := s.meter.take()
		if len(block) == 0 {
			break
		}
		if err := s.store.insertUsage(ctx, block); err != nil {
			s.meter.giveBack(block)
			slog.WarnContext(ctx, "usage not written yet", "requests", len(block), "error", err)
			return
		}
		if len(block) < meterBlock { // what came in the meantime waits for the next time
			break
		}
	}
	s.meter.mu.Lock()
	dropped := s.meter.dropped
	s.meter.dropped = 0
	s.meter.mu.Unlock()
	if dropped > 0 {
		slog.WarnContext(ctx, "usage figures dropped while ClickHouse was away", "requests", dropped)
	}
}

// flushTouched writes when keys were last used.
func (s *Service) flushTouched(ctx context.Context) {
	s.meter.mu.Lock()
	due := map[int64]touch{}
	for id, t := range s.meter.touched {
		if t.at.Sub(t.written) >= time.Minute {
			due[id] = t
		} else if s.now().Sub(t.at) > time.Hour {
			delete(s.meter.touched, id)
		}
	}
	s.meter.mu.Unlock()
	for id, t := range due {
		if err := s.store.touchKey(ctx, t.org, id, t.at); err != nil {
			slog.WarnContext(ctx, "last use of key not written", "error", err)
			return
		}
		s.meter.mu.Lock()
		now := s.meter.touched[id]
		now.written = t.at
		s.meter.touched[id] = now
		s.meter.mu.Unlock()
	}
}
