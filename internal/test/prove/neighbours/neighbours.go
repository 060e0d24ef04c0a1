// Package neighbours proves that no organization can slow down or stop another.
//
// It starts engines, a server and a worker of its own. A quiet organization
// sends traces, reads them back, reads its dataset and runs a small evaluation:
// first alone, and then while another organization attacks, in one way after
// another. The quiet one must see no error, lose nothing, and wait no longer
// than a small multiple of what it waits alone. The memory of server and worker
// must stay within what their budget allows.
//
// Controls then repeat attacks against builds of which one guard is removed: a
// control that does not hurt the quiet one fails the proof, because the attack
// would not have shown the guard's absence.
//
// The last line is:
//
//	neighbours attacks N within_goal N errors 0 lost 0 requests N ratio R worst NAME runs N run_ratio R server_mb N worker_mb N controls N/N
package neighbours

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// What the quiet organization may wait under attack, as a multiple of what it
// waits alone: for the slowest request of a hundred, and for a run. A run is some
// twenty steps one after another, in three engines and two processes, and each
// of them waits for the two processors that all of these share here.
const (
	goalRatio  = 2.0
	floorRatio = 5.0
	floorRun   = 40.0
)

// options are what a shortened proof changes.
type options struct {
	rig.Options
	alone, each time.Duration
}

// New declares the proof and its flags.
func New(flags *flag.FlagSet) func(context.Context) error {
	var o options
	o.Flags(flags, 0)
	flags.DurationVar(&o.alone, "alone", 30*time.Second, "time that the quiet organization is alone")
	flags.DurationVar(&o.each, "each", 12*time.Second, "duration of each attack")
	return func(ctx context.Context) error {
		return rig.Prove(ctx, o.Keep, func(ctx context.Context) (*system, error) { return start(ctx, o) },
			func(ctx context.Context, s *system) (rig.Result, error) { return run(ctx, s, o) })
	}
}

// run does the attacks, the check and the controls.
func run(ctx context.Context, s *system, o options) (rig.Result, error) {
	chosen, err := rig.Chosen(controls, func(c control) string { return c.Name }, o.Controls)
	if err != nil {
		return nil, err
	}
	unguarded, err := s.sabotage(ctx) // before anything is measured
	if err != nil {
		return nil, err
	}
	p := &proof{s: s, options: o}
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	fmt.Printf("seed %d  alone: %s\n", o.Seed, p.alone)
	var all []outcome
	for _, a := range attacks {
		if !slices.ContainsFunc(strings.Split(o.Only, ","), func(part string) bool { return strings.Contains(a.name, part) }) {
			continue
		}
		out, err := p.attack(ctx, a)
		if err == nil && out.onlySlow() {
			// One pause of the machine decides a percentile of few requests; two attacks in a row it does not.
			fmt.Println(out)
			out, err = p.attack(ctx, a)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		fmt.Println(out)
		all = append(all, out)
	}
	if err := p.end(ctx); err != nil {
		return nil, err
	}
	var failed []error
	for _, out := range all {
		if err := out.guilty(); err != nil {
			failed = append(failed, err)
		}
	}
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	if err := p.control(ctx, chosen, unguarded); err != nil {
		return nil, err
	}
	worst := slices.MaxFunc(all, func(a, b outcome) int { return cmp.Compare(a.ratio, b.ratio) })
	slowest := slices.MaxFunc(all, func(a, b outcome) int { return cmp.Compare(a.runRatio, b.runRatio) })
	within := 0
	for _, out := range all {
		if out.ratio <= goalRatio {
			within++
		}
	}
	return rig.Result{"neighbours"}.With("attacks", len(all)).With("within_goal", within).With("errors", 0).With("lost", 0).With("requests", p.requests).
		With("ratio", fmt.Sprintf("%.2f", worst.ratio)).With("worst", worst.name).
		With("runs", p.runs).With("run_ratio", fmt.Sprintf("%.2f", slowest.runRatio)).
		With("server_mb", most(all, func(o outcome) int64 { return o.server })>>20).
		With("worker_mb", most(all, func(o outcome) int64 { return o.worker })>>20).
		With("controls", rig.Of(len(chosen), len(controls))), nil
}

func most(all []outcome, of func(outcome) int64) (n int64) {
	for _, o := range all {
		n = max(n, of(o))
	}
	return n
}
