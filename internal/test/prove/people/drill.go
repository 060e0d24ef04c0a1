package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// drill is the work of some people on one small task after the other.
type drill struct {
	s    *system
	stop atomic.Bool
	done sync.WaitGroup

	mu    sync.Mutex
	tasks []*load
	err   error
}

// taskItems is how many items a task of the drill has.
const taskItems = 40

// Join is the load of the drill.
func Join(ctx context.Context, base *rig.System) (rig.Load, error) {
	org, err := base.Bootstrap(ctx, "People")
	if err != nil {
		return nil, err
	}
	s := &system{System: base, options: options{annotators: 8, adjudicators: 3}}
	if err := s.settleIn(ctx, org); err != nil {
		return nil, err
	}
	// Readers look where words could come through, and not at all of the interface.
	s.operations = slices.DeleteFunc(s.operations, func(o operation) bool { return !slices.Contains(areas, o.tag) })
	return &drill{s: s}, nil
}

// Begin sets people to work.
func (d *drill) Begin(ctx context.Context) {
	d.done.Go(func() {
		for n := 0; !d.stop.Load() && ctx.Err() == nil; n++ {
			if err := d.task(ctx, n); err != nil {
				d.mu.Lock()
				d.err = errors.Join(d.err, err)
				d.mu.Unlock()
				return
			}
		}
	})
}

// task is one task from its beginning to its end.
func (d *drill) task(ctx context.Context, n int) error {
	l, err := d.s.newTask(ctx, fmt.Sprint("task ", n), taskItems, perItem)
	if err != nil {
		return err
	}
	l.pace, l.gaze = 1500*time.Millisecond, 400*time.Millisecond
	l.hurry.Store(d.stop.Load())
	d.mu.Lock()
	d.tasks = append(d.tasks, l)
	d.mu.Unlock()
	l.begin(ctx)
	return l.wait()
}

// Steps counts answers and skips.
func (d *drill) Steps() (n int, wrong error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	wrong = d.err
	for _, l := range d.tasks {
		answers, _ := l.progress()
		n += answers
		wrong = errors.Join(wrong, l.complaint())
	}
	return n, wrong
}

// Finish has people complete their task without a pause.
func (d *drill) Finish(context.Context) error {
	d.stop.Store(true)
	d.mu.Lock()
	for _, l := range d.tasks {
		l.hurry.Store(true)
	}
	d.mu.Unlock()
	d.done.Wait()
	return d.err
}

// Check holds each task against what people know.
func (d *drill) Check(ctx context.Context) (f rig.Figures, err error) {
	for _, l := range d.tasks {
		var v verdict
		if err := rig.UntilUp(ctx, func() (err error) {
			v, err = l.verdict(ctx)
			return err
		}); err != nil {
			return f, err
		}
		f.Done += v.annotations + v.skips + v.decisions
		f.Lost += v.lost
		f.Doubled += v.givenTwice + v.decidedTwice
		f.Wrong += v.miscounted + v.leaks
		for _, e := range v.Examples {
			f.Example("%s", e)
		}
	}
	return f, nil
}
