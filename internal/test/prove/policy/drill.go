package policy

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// drill presents approvals, tries to approve what one asked for oneself, and suspends.
type drill struct {
	s     *system
	stop  atomic.Bool
	steps atomic.Int64
	done  sync.WaitGroup
	found verdict

	mu  sync.Mutex
	err error
}

// Join is the load of the drill, with one server.
func Join(ctx context.Context, base *rig.System) (rig.Load, error) {
	s := &system{System: base, replicas: []*rig.System{base}, quiet: true}
	org, err := base.Bootstrap(ctx, "Agents")
	if err != nil {
		return nil, err
	}
	if err := s.settleIn(ctx, []rig.Organization{org}); err != nil {
		return nil, err
	}
	return &drill{s: s}, s.Insist(ctx, s.tenants[0].ann.Organization, http.MethodPatch, "/api/organizations/current", "separation", map[string]any{"separationOfDuties": "requester"}, nil)
}

// presented is how often an approval is presented at the same time.
const presented = 10

// Begin takes turns.
func (d *drill) Begin(ctx context.Context) {
	d.done.Go(func() {
		for !d.stop.Load() && ctx.Err() == nil {
			if err := d.turn(ctx); err != nil {
				d.mu.Lock()
				d.err = err
				d.mu.Unlock()
				return
			}
		}
	})
}

func (d *drill) turn(ctx context.Context) error {
	d.s.turn++
	overused, err := d.s.overuse(ctx, 1, presented, 0)
	d.found.overused += overused
	d.steps.Add(1)
	if err != nil {
		return err
	}
	ann := held{rig: d.s.tenants[0].ann.Organization}
	own, err := d.s.approves(ctx, "own "+d.s.tag(), asker{key: ann}, hand{key: ann}, false)
	if own {
		d.found.selfApproved++
	}
	d.steps.Add(1)
	if err != nil {
		return err
	}
	late, err := d.s.suspend(ctx, 1)
	d.found.lateDenials += late
	d.steps.Add(1)
	return err
}

// Steps counts the parts of turns.
func (d *drill) Steps() (int, error) { return int(d.steps.Load()), nil }

// Finish ends the turn.
func (d *drill) Finish(context.Context) error {
	d.stop.Store(true)
	d.done.Wait()
	return d.err
}

// Check sums up what was found: an answer says at once whether it is wrong.
func (d *drill) Check(context.Context) (rig.Figures, error) {
	if d.s.turn == 0 {
		return rig.Figures{}, errors.New("nothing was presented")
	}
	return rig.Figures{Done: int(d.steps.Load()), Doubled: d.found.overused, Wrong: d.found.selfApproved + d.found.lateDenials}, nil
}
