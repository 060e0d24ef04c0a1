package ratelimit

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// logEvery is how often an outage that comes and goes is mentioned.
const logEvery = time.Minute

// Soft asks a shared limiter and, while that is away, a local one. It fails
// only for ErrCost and when the caller's context has ended.
//
// After a failure the shared limiter is left alone for the pause. Then one
// request asks it again and the rest stay local until it has answered. So a
// shared limiter that hangs costs the timeout once a pause, beside the requests
// that were under way when it began to hang.
type Soft struct {
	shared, local  Limiter
	timeout, pause time.Duration
	clock          func() time.Time
	start          time.Time
	until          atomic.Int64 // since start; zero while the shared limiter answers

	log     *slog.Logger
	mu      sync.Mutex
	since   time.Time    // when it went away
	said    time.Time    // when that was last logged
	told    bool         // whether this outage was logged
	decided atomic.Int64 // requests decided locally in this outage
}

// NewSoft returns a limiter that falls back from shared to local.
func NewSoft(shared, local Limiter, o Options) *Soft {
	o = o.filled()
	return &Soft{
		shared: shared, local: local, timeout: o.Timeout, pause: o.Pause,
		clock: o.Clock, start: o.Clock(), log: o.Log,
	}
}

// Take implements Limiter.
func (s *Soft) Take(ctx context.Context, key string, limit, cost int) (Decision, error) {
	all, err := s.TakeAll(ctx, Want{Key: key, Limit: limit, Cost: cost})
	if err != nil {
		return Decision{}, err
	}
	return all[0], nil
}

// TakeAll implements Limiter.
func (s *Soft) TakeAll(ctx context.Context, wants ...Want) ([]Decision, error) {
	for _, w := range wants {
		if w.Cost < 0 {
			return nil, ErrCost
		}
	}
	ask, probe := s.mayAsk()
	if !ask {
		s.decided.Add(1)
		return s.local.TakeAll(ctx, wants...)
	}
	asking, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	d, err := s.shared.TakeAll(asking, wants...)
	if err == nil {
		if probe {
			s.returned(ctx)
		}
		return d, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // says nothing about the shared limiter
	}
	s.failed(ctx, err)
	s.decided.Add(1)
	return s.local.TakeAll(ctx, wants...)
}

// mayAsk reports whether this request asks the shared limiter, and whether it
// is the one that finds out for the others.
func (s *Soft) mayAsk() (ask, probe bool) {
	until := s.until.Load()
	if until == 0 {
		return true, false
	}
	now := s.clock().Sub(s.start)
	if int64(now) < until {
		return false, false
	}
	won := s.until.CompareAndSwap(until, int64(now+s.pause))
	return won, won
}

func (s *Soft) failed(ctx context.Context, err error) {
	now := s.clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until.Swap(int64(now.Sub(s.start)+s.pause)) == 0 {
		s.since, s.told = now, false
		s.decided.Store(0)
	}
	if !s.said.IsZero() && now.Sub(s.said) < logEvery {
		return
	}
	s.said, s.told = now, true
	s.log.WarnContext(ctx, "rate limits are counted by this replica alone: redis does not answer",
		"error", err, "away", now.Sub(s.since), "decided", s.decided.Load())
}

func (s *Soft) returned(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until.Store(0)
	if s.told {
		s.log.InfoContext(ctx, "rate limits are shared again",
			"away", s.clock().Sub(s.since), "decided", s.decided.Load())
	}
}
