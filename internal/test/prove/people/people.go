// Package people proves that the work of people is neither given out twice, nor lost,
// nor decided twice, nor shown too early, whatever breaks around it.
//
// It starts engines and a server of its own. Fifty annotators answer the items of a
// blind task, each of which needs two of them: they take the next item, answer it, skip
// it or walk away. Ten adjudicators decide about the items on which answers differ, all
// from the head of one queue. Readers call every operation that reads annotations,
// adjudications and the audit log, as the API document lists them. Meanwhile the server
// and PostgreSQL are killed.
//
// No slot of an item may be given to a second person while the first has it. Every
// answer, skip and decision that was acknowledged must be there. No item may be decided
// twice. What the API counts must be what the tables have. No response may show what
// somebody said about an item that is not complete: every answer has words of its own,
// and all responses are searched for them. Controls run builds of which one guard is
// removed: a control that is not caught fails the proof.
//
// The last line is:
//
//	people items 2000 annotations N decisions N faults N given_twice 0 lost 0 decided_twice 0 miscounted 0 leaks 0 controls 3/3
package people

import (
	"context"
	"flag"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// options are what a shortened proof changes.
type options struct {
	rig.Options
	items, annotators, adjudicators int
}

// New declares the proof and its flags.
func New(flags *flag.FlagSet) func(context.Context) error {
	var o options
	o.Flags(flags, 8)
	flags.IntVar(&o.items, "items", 2000, "number of items that people answer")
	flags.IntVar(&o.annotators, "annotators", 50, "number of people who answer")
	flags.IntVar(&o.adjudicators, "adjudicators", 10, "number of people who decide")
	return rig.Proof[*system]{
		Name: "people", Options: &o.Options, Controls: controls, Run: run,
		Start: func(ctx context.Context) (*system, error) { return start(ctx, o) },
	}.Prove
}

// run does the faults under load, and then the check.
func run(ctx context.Context, s *system) (rig.Result, error) {
	l, err := s.newTask(ctx, "work", s.items, perItem)
	if err != nil {
		return nil, err
	}
	l.begin(ctx)
	faults, err := s.faults(ctx, l)
	if err != nil {
		l.stop()
		return nil, err
	}
	if err := l.wait(); err != nil {
		return nil, err
	}
	v, err := l.verdict(ctx)
	if err != nil {
		return nil, err
	}
	rig.Say("%s", v)
	if err := v.guilty(); err != nil {
		return nil, err
	}
	return rig.Result{"people"}.With("items", v.items).With("annotations", v.annotations).With("decisions", v.decisions).With("faults", faults).
		With("given_twice", v.givenTwice).With("lost", v.lost).With("decided_twice", v.decidedTwice).With("miscounted", v.miscounted).With("leaks", v.leaks), nil
}
