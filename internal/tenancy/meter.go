package tenancy

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
)

const (
	// meterFlush is how long a request may be missing from the usage figures.
	meterFlush = time.Second
	// meterBlock is when a block is written without waiting.
	meterBlock = 10_000
	// meterHold bounds memory while ClickHouse is away; beyond it further
	// figures are dropped and counted. Usage is a figure, not evidence.
	meterHold = 200_000
)

// Request is one metered request.
type Request struct {
	Org       principal.OrgID
	KeyID     string
	Operation string
	Status    int
	Took      time.Duration
	At        time.Time
}

// meter collects requests and writes them in blocks: never a row a request.
type meter struct {
	mu      sync.Mutex
	pending []Request
	dropped int64
	full    chan struct{}
	touched map[int64]touch
}

// touch is a key's last use, written once a minute at most.
type touch struct {
	org     principal.OrgID
	at      time.Time
	written time.Time
}

func newMeter() *meter {
	return &meter{full: make(chan struct{}, 1), touched: map[int64]touch{}}
}

func (m *meter) used(k storedKey, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.touched[k.ID]
	t.org, t.at = k.Org, at
	m.touched[k.ID] = t
}

func (m *meter) add(r Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.pending) >= meterHold {
		m.dropped++
		return
	}
	m.pending = append(m.pending, r)
	if len(m.pending) >= meterBlock {
		select {
		case m.full <- struct{}{}:
		default:
		}
	}
}

// take removes up to a block of requests.
func (m *meter) take() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(len(m.pending), meterBlock)
	block := m.pending[:n:n]
	m.pending = m.pending[n:]
	return block
}

// giveBack puts a block that could not be written in front again.
func (m *meter) giveBack(block []Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending = append(block, m.pending...)
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
