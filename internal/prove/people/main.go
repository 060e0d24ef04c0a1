// Command people proves that the work of people is neither given out twice, nor lost,
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
	items, annotators, adjudicators int
}

func main() {
	var o options
	o.Flags(8)
	flag.IntVar(&o.items, "items", 2000, "number of items that people answer")
	flag.IntVar(&o.annotators, "annotators", 50, "number of people who answer")
	flag.IntVar(&o.adjudicators, "adjudicators", 10, "number of people who decide")
	rig.Main("people", func(ctx context.Context) error {
		// A missing guard is found before time is spent.
		if _, err := rig.Removable(guards(), nil); err != nil {
			return err
		}
		return rig.Prove(ctx, o.Keep, func(ctx context.Context) (*system, error) { return start(ctx, o) },
			func(ctx context.Context, s *system) (rig.Result, error) { return run(ctx, s, o) })
	})
}

// say prints one line.
func say(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }

// run does the faults under load, then the check and the controls.
func run(ctx context.Context, s *system, o options) (rig.Result, error) {
	chosen, err := rig.Chosen(controls, func(c control) string { return c.name }, o.Controls)
	if err != nil {
		return nil, err
	}
	say("seed %d, state in %s", o.Seed, s.State)
	var unguarded *rig.Unguarded
	if len(chosen) > 0 {
		unguarded = s.BuildUnguarded(ctx, guards(), "assay-sabotaged-people")
	}
	l, err := s.newLoad(ctx, o.items)
	if err != nil {
		return nil, err
	}
	l.begin(ctx)
	faults, err := s.faults(ctx, l, o.Faults, o.Only)
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
	say("%s", v)
	if err := v.guilty(); err != nil {
		return nil, err
	}
	if err := s.control(ctx, unguarded, chosen); err != nil {
		return nil, err
	}
	return rig.Result{"people"}.With("items", v.items).With("annotations", v.annotations).With("decisions", v.decisions).With("faults", faults).
		With("given_twice", v.givenTwice).With("lost", v.lost).With("decided_twice", v.decidedTwice).With("miscounted", v.miscounted).With("leaks", v.leaks).
		With("controls", rig.Of(len(chosen), len(controls))), nil
}
