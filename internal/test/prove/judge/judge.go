// Package judge proves that each verdict is asked for, paid and recorded once,
// whatever breaks around it.
//
// It starts engines, a provider of models, a server and a worker of its own. Two
// organizations have answers judged by runs, recorded ones and those that a client
// sends, and by single requests,
// without pause, and one fault follows another: the worker and the server are
// killed at random and at every failpoint that verdicts pass, each engine is
// killed, and the provider limits, hangs, resets, fails, and cuts or garbles what
// it sends. Some answers of the model are not JSON, not of the schema, cut or
// filtered, each in a way that the case itself decides, so that what has to come of
// every case is known.
//
// Every case must have one verdict, through the API and in ClickHouse, with the
// score or the reason that it must have, and runs must say the same as verdicts.
// What the provider answered may be asked again only where a crash took the answer:
// once for each crash, and only what was not recorded when it came. A request that
// is sent again is not paid again. Spend caps are shared by two workers and a
// server, and exceeded by at most one call for each caller. A provider key is
// planted, used, and repeated by the provider in errors and answers; then every
// file of every engine, the dump of every database, logs, spans and responses are
// searched for it, in plain text and encoded. Controls run builds of which one
// guard is removed: a control that is not caught fails the proof.
//
// The last line is:
//
//	judge verdicts N missing 0 doubled 0 wrong 0 extra_calls 0 over_cap 0 leaked 0 runs N singles N calls N reasons N faults N points 10/10 controls 7/7
package judge

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// New declares the proof and its flags.
func New(flags *flag.FlagSet) func(context.Context) error {
	var o options
	o.Flags(flags, 46)
	flags.IntVar(&o.runs, "runs", 30, "least number of runs")
	flags.IntVar(&o.width, "width", 4, "number of runs under way at the same time")
	flags.IntVar(&o.caps, "caps", 2, "number of caps that are spent; a worker is killed meanwhile at every second one")
	flags.DurationVar(&o.heartbeat, "heartbeat", 10*time.Second, "longest silence of a worker")
	return rig.Proof[*system]{
		Name: "judge", Options: &o.Options, Controls: controls, Run: run,
		Start: func(ctx context.Context) (*system, error) { return start(ctx, o) },
	}.Prove
}

// run does the faults under load, then the check, and what needs peace.
func run(ctx context.Context, s *system) (rig.Result, error) {
	p := newProof(s, s.Seed)
	p.load.begin(ctx, s.width)
	defer p.load.end()
	faults, err := p.all(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.load.grow(ctx, s.runs); err != nil {
		return nil, err
	}
	v, err := p.verdict(ctx)
	if err != nil {
		return nil, err
	}
	rig.Say("%s", v)
	failed := v.guilty()
	if s.Only == "" && s.Faults >= len(p.list()) && len(s.Points) < pointCount {
		failed = errors.Join(failed, fmt.Errorf("only %d of %d points were reached", len(s.Points), pointCount))
	}
	if failed != nil {
		return nil, failed
	}
	calm, err := s.calm(ctx, s.caps)
	if err != nil {
		return nil, err
	}
	return rig.Result{"judge"}.With("verdicts", v.verdicts).With("missing", v.missing).With("doubled", v.doubled).With("wrong", v.wrong).
		With("extra_calls", v.extra).With("over_cap", calm.over).With("leaked", calm.leaked).With("runs", v.runs).With("singles", v.singles).
		With("calls", v.calls).With("reasons", calm.reasons).With("faults", faults).With("points", rig.Of(len(s.Points), pointCount)), nil
}

// peace is what was found while nothing else went wrong.
type peace struct{ over, leaked, reasons int }

// calm spends caps, looks at reasons, and plants a key.
func (s *system) calm(ctx context.Context, caps int) (found peace, err error) {
	if err := s.provider.peace(); err != nil {
		return found, err
	}
	reasons := make(chan error, 1)
	go func() { reasons <- s.reasons(ctx) }() // one of them takes as long as a request may
	if err := s.calmly(ctx, caps, &found); err != nil {
		return found, errors.Join(err, <-reasons)
	}
	if err := <-reasons; err != nil {
		return found, err
	}
	found.reasons = len(causes)
	return found, nil
}

// calmly spends caps and plants a key.
func (s *system) calmly(ctx context.Context, caps int, found *peace) error {
	for n := range caps {
		over, err := s.spend(ctx, n)
		if err != nil {
			return err
		}
		found.over += over
	}
	if found.over > 0 {
		return fmt.Errorf("%d caps were exceeded by more than a call for each caller", found.over)
	}
	leaks, err := s.plant(ctx, "")
	if err != nil {
		return err
	}
	if found.leaked = leaks.Sum(); found.leaked > 0 {
		return fmt.Errorf("the planted key was found: %v", leaks)
	}
	return nil
}
