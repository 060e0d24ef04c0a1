// Command policy proves that what agents may do is decided once, by somebody else, at once,
// and that what they did is seen.
//
// It starts engines and three servers of its own. Hundreds of evaluations present the same
// approvals to all three at the same time, while servers and PostgreSQL are killed: no
// approval may be used more often than it says. People try to approve what they asked for,
// through every combination of keys, names and settings that the proof can make: none may
// succeed. Runtimes are suspended through one server: the next evaluation on each of them must
// be denied. Agents pay through a bank that lies, delays and repeats: every payment that
// was made must end as verified, conflicting or overdue in the ledger. The engine is compared
// with Cedar's reference implementation on random policies. Controls run builds of which
// one guard is removed: a control that is not caught fails the proof.
//
// The last line is:
//
//	policy overused 0 self_approved 0 late_denials 0 unseen_effects 0 differences 0
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/assayhq/assay/internal/prove/rig"
)

// options are what a shortened proof changes.
type options struct {
	rig.Options
	approvals, evaluations, trials, payments, cases int
}

func main() {
	var o options
	o.Flags(6)
	flag.IntVar(&o.approvals, "approvals", 12, "number of approvals that are presented")
	flag.IntVar(&o.evaluations, "evaluations", 200, "number of evaluations that present each of them at the same time")
	flag.IntVar(&o.trials, "trials", 100, "number of suspensions")
	flag.IntVar(&o.payments, "payments", 120, "number of payments")
	flag.IntVar(&o.cases, "cases", 10_000, "number of random policies and questions")
	rig.Main("policy", func(ctx context.Context) error {
		if _, err := rig.Removable(guards(), nil); err != nil {
			return err
		}
		return rig.Prove(ctx, o.Keep, func(ctx context.Context) (*system, error) { return start(ctx, o) },
			func(ctx context.Context, s *system) (rig.Result, error) { return run(ctx, s, o) })
	})
}

// say prints one line.
func say(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }

// verdict is what went wrong.
type verdict struct {
	overused, selfApproved, lateDenials, unseen, differences int
}

// run does all parts, and then the controls.
func run(ctx context.Context, s *system, o options) (rig.Result, error) {
	chosen, err := rig.Chosen(controls, func(c control) string { return c.name }, o.Controls)
	if err != nil {
		return nil, err
	}
	say("seed %d, state in %s", o.Seed, s.State)
	var unguarded *rig.Unguarded
	if len(chosen) > 0 {
		unguarded = s.BuildUnguarded(ctx, guards(), "assay-sabotaged-policy")
	}
	var v verdict
	if v.overused, err = s.overuse(ctx, o.approvals, o.evaluations, o.Faults); err != nil {
		return nil, err
	}
	if v.selfApproved, err = s.approveOwn(ctx); err != nil {
		return nil, err
	}
	if v.lateDenials, err = s.suspend(ctx, o.trials); err != nil {
		return nil, err
	}
	if v.unseen, err = s.pay(ctx, o.payments); err != nil {
		return nil, err
	}
	if v.differences, err = compare(ctx, o.cases, o.Seed); err != nil {
		return nil, err
	}
	if v != (verdict{}) {
		return nil, fmt.Errorf("found %+v", v)
	}
	if err := s.control(ctx, unguarded, chosen); err != nil {
		return nil, err
	}
	return rig.Result{"policy"}.With("overused", v.overused).With("self_approved", v.selfApproved).With("late_denials", v.lateDenials).
		With("unseen_effects", v.unseen).With("differences", v.differences), nil
}
