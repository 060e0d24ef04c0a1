// Package suspect finds the unit of work that kills the processes that do it.
package suspect

import (
	"context"
	"maps"
	"sync"
	"time"
)

// MaxDeaths is how many workers may die while they do one unit.
const MaxDeaths = 3

// List knows how many workers have died on which units. After a worker has died,
// units are done one at a time, and a store knows which one: if the next worker
// dies too, it is this unit's doing, or somebody killed the worker in that moment.
// The third time it is the unit. A worker that dies while it waits for a
// target, or between two units, accuses none. A nil list suspects nobody.
type List struct {
	save func(context.Context, map[string]int) error

	mu     sync.Mutex // one unit at a time
	deaths map[string]int
}

// New makes a list of what is stored, and of what stores it.
func New(deaths map[string]int, save func(context.Context, map[string]int) error) *List {
	return &List{deaths: deaths, save: save}
}

// GaveUp reports whether a unit has killed too many workers.
func (l *List) GaveUp(unit string) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deaths[unit] >= MaxDeaths
}

// With does a unit, which is stored as its death until it is done.
func (l *List) With(ctx context.Context, unit string, do func() error) error {
	if l == nil {
		return do()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	before := maps.Clone(l.deaths)
	l.deaths[unit]++
	if err := l.save(ctx, l.deaths); err != nil {
		return err
	}
	failed := do()
	// It is alive, even if its time is over.
	l.deaths = before
	delete(l.deaths, unit)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := l.save(ctx, l.deaths); err != nil {
		return err
	}
	return failed
}
