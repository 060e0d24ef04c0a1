package clickhouse

import (
	"context"
	"sync"
	"time"
)

// Together does work for many callers at once: one caller's turn does what all
// have asked for until then, and there is one turn at a time.
type Together[T any] struct {
	// Do does the work of a turn. It outlives the caller whose turn it is.
	Do func(ctx context.Context, all []T) error
	// Most is how many go together, Timeout how long a turn may take.
	Most    int
	Timeout time.Duration

	mu   sync.Mutex
	next *turn[T]
	busy chan struct{}
}

type turn[T any] struct {
	all  []T
	done chan struct{}
	err  error
}

// Add waits until a turn has done the caller's part.
func (g *Together[T]) Add(ctx context.Context, one T) error {
	mine, busy := g.join(one)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-mine.done:
			return mine.err
		case busy <- struct{}{}:
			g.run(ctx)
			<-busy
		}
	}
}

// join adds to the next turn that has room.
func (g *Together[T]) join(one T) (*turn[T], chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy == nil {
		g.busy = make(chan struct{}, 1)
	}
	if g.next == nil {
		g.next = &turn[T]{done: make(chan struct{})}
	}
	g.next.all = append(g.next.all, one)
	return g.next, g.busy
}

func (g *Together[T]) run(ctx context.Context) {
	g.mu.Lock()
	now := g.next
	g.next = nil
	g.mu.Unlock()
	if now == nil {
		return
	}
	defer close(now.done)
	for all := now.all; len(all) > 0 && now.err == nil; {
		n := min(len(all), g.Most)
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.Timeout)
		now.err = g.Do(limit, all[:n])
		cancel()
		all = all[n:]
	}
}
