package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/prove/rig"
)

var pointCount = len(evaluation.Failpoints())

// proof is a load that meets faults.
type proof struct {
	s      *system
	load   *load
	rand   *rand.Rand
	faults int
	points map[failpoint.Point]int
}

func newProof(s *system, seed uint64) *proof {
	return &proof{s: s, load: newLoad(s, seed), rand: rand.New(rand.NewPCG(seed, seed)), points: map[failpoint.Point]int{}}
}

// all does so many faults, each while runs are under way.
func (p *proof) all(ctx context.Context, n int, only string) error {
	list := slices.DeleteFunc(p.list(), func(f fault) bool { return !strings.Contains(f.name, only) })
	if len(list) == 0 {
		return fmt.Errorf("no fault has a name with %q in it", only)
	}
	for range n {
		p.faults++
		f := list[(p.faults-1)%len(list)]
		name := fmt.Sprintf("fault %d, %s", p.faults, f.name)
		if err := p.load.lively(ctx); err != nil {
			return fmt.Errorf("before %s: %w", name, err)
		}
		if err := errors.Join(rig.Sleep(ctx, p.s.pause), p.moment(ctx, 600*time.Millisecond)); err != nil {
			return err
		}
		began := time.Now()
		if err := f.run(ctx); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", name, err), p.load.complaint())
		}
		p.load.mu.Lock()
		ended, under := p.load.ended, len(p.load.all)-p.load.ended
		p.load.mu.Unlock()
		say("fault %2d  %s  %-32s %5.1f s  ended %3d under way %2d asked %d", p.faults, began.Format(rig.Clock), f.name, time.Since(began).Seconds(), ended, under, p.s.targets.oracle.Total())
	}
	return nil
}

// moment waits for a random while.
func (p *proof) moment(ctx context.Context, most time.Duration) error {
	return rig.Sleep(ctx, time.Duration(p.rand.Int64N(int64(most))))
}

// dies waits until the worker has died at the armed point. It is down until the
// returned function is called.
func (p *proof) dies(ctx context.Context, point failpoint.Point) (back func(time.Duration), err error) {
	if err := p.s.Dies(ctx, p.s.worker, point, patience/2); err != nil {
		return nil, err
	}
	p.points[point]++
	return p.s.Crashed("worker at " + string(point)), nil
}
