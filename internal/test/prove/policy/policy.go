// Package policy proves that what agents may do is decided once, by somebody else, at once,
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
//	policy overused 0 self_approved 0 late_denials 0 unseen_effects 0 differences 0 controls 4/4
package policy

import (
	"context"
	"flag"
	"fmt"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// options are what a shortened proof changes.
type options struct {
	rig.Options
	approvals, evaluations, trials, payments, cases int
}

// New declares the proof and its flags.
func New(flags *flag.FlagSet) func(context.Context) error {
	var o options
	o.Flags(flags, 6)
	flags.IntVar(&o.approvals, "approvals", 12, "number of approvals that are presented")
	flags.IntVar(&o.evaluations, "evaluations", 200, "number of evaluations that present each of them at the same time")
	flags.IntVar(&o.trials, "trials", 100, "number of suspensions")
	flags.IntVar(&o.payments, "payments", 120, "number of payments")
	flags.IntVar(&o.cases, "cases", 10_000, "number of random policies and questions")
	return rig.Proof[*system]{
		Name: "policy", Options: &o.Options, Controls: controls, Run: run,
		Start: func(ctx context.Context) (*system, error) { return start(ctx, o) },
	}.Prove
}

// verdict is what went wrong.
type verdict struct {
	overused, selfApproved, lateDenials, unseen, differences int
}

// run does all parts.
func run(ctx context.Context, s *system) (_ rig.Result, err error) {
	var v verdict
	if v.overused, err = s.overuse(ctx, s.options.approvals, s.evaluations, s.Faults); err != nil {
		return nil, err
	}
	if v.selfApproved, err = s.approveOwn(ctx); err != nil {
		return nil, err
	}
	if v.lateDenials, err = s.suspend(ctx, s.trials); err != nil {
		return nil, err
	}
	if v.unseen, err = s.pay(ctx, s.payments); err != nil {
		return nil, err
	}
	if v.differences, err = compare(ctx, s.cases, s.Seed); err != nil {
		return nil, err
	}
	if v != (verdict{}) {
		return nil, fmt.Errorf("found %+v", v)
	}
	return rig.Result{"policy"}.With("overused", v.overused).With("self_approved", v.selfApproved).With("late_denials", v.lateDenials).
		With("unseen_effects", v.unseen).With("differences", v.differences), nil
}
