package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/evidence"
	"github.com/assayhq/assay/internal/prove/rig"
)

// fault is something that goes wrong and ends again.
type fault struct {
	name string
	run  func(context.Context, *rand.Rand) error
}

// list is what can go wrong.
func (s *system) list() []fault {
	return []fault{
		{"point " + string(evidence.BeforeEvents), s.dieBeforeEvents},
		{"clickhouse killed", s.killEngine("clickhouse")},
		{"postgres killed", s.killEngine("postgres")},
		{"server killed", s.killServer},
	}
}

// faults does so many faults, one after the consequences of the other.
func (s *system) faults(ctx context.Context, l *load, n int, only string) (done int, err error) {
	list := slices.DeleteFunc(s.list(), func(f fault) bool { return !strings.Contains(f.name, only) })
	if len(list) == 0 {
		return 0, fmt.Errorf("no fault has a name with %q in it", only)
	}
	r := rand.New(rand.NewPCG(s.Seed, 7))
	if err := l.settle(ctx); err != nil {
		return 0, err
	}
	for done < n {
		f := list[done%len(list)]
		done++
		// A fault at the same moment of every load would meet the same work.
		if err := rig.Sleep(ctx, time.Duration(r.Int64N(int64(time.Second)))); err != nil {
			return done, err
		}
		began, before := time.Now(), l.counts()
		if err := f.run(ctx, r); err != nil {
			return done, errors.Join(fmt.Errorf("fault %d, %s: %w", done, f.name, err), l.complaint())
		}
		took := time.Since(began)
		if err := l.settle(ctx); err != nil {
			return done, fmt.Errorf("after fault %d, %s: %w", done, f.name, err)
		}
		after := l.counts()
		say("fault %2d  %s  %-28s %5.1f s, all served %4.1f s later  events %5d unanswered %3d refused %3d", done, began.Format(rig.Clock), f.name,
			took.Seconds(), (time.Since(began) - took).Seconds(), after.events-before.events, after.unanswered-before.unanswered, after.refused-before.refused)
		if err := l.complaint(); err != nil {
			return done, err
		}
	}
	return done, nil
}

// dieBeforeEvents lets the server die when it has stored what events say, and not the
// events.
func (s *system) dieBeforeEvents(ctx context.Context, _ *rand.Rand) error {
	if err := s.Arm(evidence.BeforeEvents); err != nil {
		return err
	}
	if err := s.Dies(ctx, s.server, evidence.BeforeEvents, rig.Patience); err != nil {
		return err
	}
	return s.startServer(ctx)
}

// killServer kills the API and starts another.
func (s *system) killServer(ctx context.Context, r *rand.Rand) error {
	if !s.server.Kill() {
		return s.server.Ended()
	}
	if err := rig.Sleep(ctx, time.Duration(r.Int64N(int64(time.Second)))); err != nil {
		return err
	}
	return s.startServer(ctx)
}

// killEngine kills an engine and brings it back after a while.
func (s *system) killEngine(name string) func(context.Context, *rand.Rand) error {
	return func(ctx context.Context, r *rand.Rand) error {
		if err := s.Engines(ctx, "kill", name); err != nil {
			return err
		}
		if err := rig.Sleep(ctx, time.Duration(r.Int64N(int64(time.Second)))); err != nil {
			return err
		}
		return s.Engines(ctx, "up", name)
	}
}
