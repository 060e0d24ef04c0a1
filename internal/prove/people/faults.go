package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/prove/rig"
)

// fault is something that goes wrong and ends again.
type fault struct {
	name string
	run  func(context.Context, *rand.Rand) error
}

func (s *system) list() []fault {
	return []fault{{"server killed", s.killServer}, {"postgres killed", s.killPostgres}}
}

// faults does so many faults, spread over the work.
func (s *system) faults(ctx context.Context, l *load, n int, only string) (done int, err error) {
	list := slices.DeleteFunc(s.list(), func(f fault) bool { return !strings.Contains(f.name, only) })
	if len(list) == 0 {
		return 0, fmt.Errorf("no fault has a name with %q in it", only)
	}
	r := rand.New(rand.NewPCG(s.Seed, 7))
	for done < n {
		// The last items take long to come: nothing is left for a fault to meet.
		if err := l.reach(ctx, (done+1)*l.items*perItem*9/10/(n+1)); err != nil {
			return done, err
		}
		f := list[done%len(list)]
		done++
		began := time.Now()
		if err := f.run(ctx, r); err != nil {
			return done, errors.Join(fmt.Errorf("fault %d, %s: %w", done, f.name, err), l.complaint())
		}
		answers, _ := l.progress()
		say("fault %2d  %s  %-16s %5.1f s  answers %d", done, began.Format(rig.Clock), f.name, time.Since(began).Seconds(), answers)
	}
	return done, nil
}

// reach waits until people have answered so often.
func (l *load) reach(ctx context.Context, answers int) error {
	for limit, before := time.Now().Add(rig.Patience), 0; ; {
		now, _ := l.progress()
		if now >= answers {
			return nil
		}
		if now > before {
			before, limit = now, time.Now().Add(rig.Patience)
		}
		if err := errors.Join(rig.Sleep(ctx, 20*time.Millisecond), l.complaint()); err != nil {
			return err
		}
		if time.Now().After(limit) {
			return errors.New("nothing is answered any more")
		}
	}
}

// killServer kills the API and starts another.
func (s *system) killServer(ctx context.Context, r *rand.Rand) error {
	s.server.Kill()
	if err := rig.Sleep(ctx, time.Duration(r.Int64N(int64(time.Second)))); err != nil {
		return err
	}
	return s.startServer(ctx)
}

// killPostgres kills PostgreSQL and brings it back after a while, with the engines that
// keep their state in it.
func (s *system) killPostgres(ctx context.Context, r *rand.Rand) error {
	if err := s.Engines(ctx, "kill", "postgres"); err != nil {
		return err
	}
	if err := rig.Sleep(ctx, time.Duration(r.Int64N(int64(time.Second)))); err != nil {
		return err
	}
	return s.Engines(ctx, append([]string{"up"}, engineNames...)...)
}
