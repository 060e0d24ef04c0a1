package rig

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Main does a proof until it ends or a signal comes, and exits with 1 if it fails.
func Main(name string, prove func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := prove(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "prove %s: %v\n", name, err)
		os.Exit(1)
	}
}

// Say prints one line.
func Say(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }

// Options are those of every proof that does faults and runs controls.
type Options struct {
	Faults                 int
	Controls, Binary, Only string
	Seed                   uint64
	Keep                   bool
}

// Flags declares the options; faults is how many a whole proof does.
func (o *Options) Flags(flags *flag.FlagSet, faults int) {
	flags.IntVar(&o.Faults, "faults", faults, "number of faults")
	flags.StringVar(&o.Controls, "controls", "all", "controls to run: all, none, or names separated by commas")
	flags.StringVar(&o.Only, "only", "", "part of the names of the faults to do")
	flags.Uint64Var(&o.Seed, "seed", uint64(time.Now().UnixNano()), "seed of all random choices")
	flags.StringVar(&o.Binary, "binary", "bin/assay-failpoints", "application built with the tag failpoints")
	flags.BoolVar(&o.Keep, "keep", false, "keep the state of a failed proof")
}

// Subject is a system that a proof is about. Most are a System and what the load needs.
type Subject interface {
	Base() *System
	// Restart ends what runs of the application and starts it as the system now says.
	Restart(ctx context.Context) error
	// Logs returns the ends of the application's logs as an error.
	Logs() error
	// Stop ends everything and removes what was written, unless it is to be kept.
	Stop(keep bool) error
}

// Proof declares a proof.
type Proof[S Subject] struct {
	Name    string
	Options *Options
	// Start starts what the proof is about. A subject that comes with an error is
	// stopped too.
	Start func(context.Context) (S, error)
	// Run does the faults under load, checks what is left and sums it up.
	Run func(context.Context, S) (Result, error)
	// Controls show that the checks can fail.
	Controls []Control[S]
	// More is what the guards of a package call beside sabotage.
	More map[string]string
}

// Prove does the proof and its controls, and prints the result as the last line.
func (p Proof[S]) Prove(ctx context.Context) error {
	chosen, err := Chosen(p.Controls, func(c Control[S]) string { return c.Guard.Name }, p.Options.Controls)
	if err != nil {
		return err
	}
	// A missing guard is found before time is spent.
	sources, err := Removable("internal", Guards(p.Controls), p.More)
	if err != nil {
		return err
	}
	return Prove(ctx, p.Options.Keep, p.Start, func(ctx context.Context, s S) (Result, error) {
		Say("seed %d, state in %s", p.Options.Seed, s.Base().State)
		var u *Unguarded
		if len(Guards(chosen)) > 0 {
			u = s.Base().BuildUnguarded(ctx, sources, "assay-sabotaged-"+p.Name)
		}
		result, err := p.Run(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, c := range chosen {
			if err := c.run(ctx, s, u); err != nil {
				return nil, fmt.Errorf("control %s: %w", c.Guard.Name, err)
			}
		}
		return result.With("controls", Of(len(chosen), len(p.Controls))), nil
	})
}

// Prove starts a subject, does the proof on it, stops it and prints the result as
// the last line. A subject that comes with an error is stopped too.
func Prove[S Subject](ctx context.Context, keep bool, start func(context.Context) (S, error), run func(context.Context, S) (Result, error)) error {
	began := time.Now()
	s, err := start(ctx)
	if err != nil {
		return errors.Join(err, s.Logs(), s.Stop(keep))
	}
	Say("started in %.1f s", time.Since(began).Seconds())
	result, err := run(ctx, s)
	if err != nil {
		return errors.Join(err, s.Logs(), s.Stop(keep))
	}
	if err := s.Stop(false); err != nil {
		return err
	}
	Say("took %.0f s\n%s", time.Since(began).Seconds(), result)
	return nil
}

// Result is the last line of a proof: its name, then names and values in turn.
type Result []string

// With adds a figure.
func (r Result) With(name string, value any) Result {
	return append(r, name, fmt.Sprint(value))
}

// String is the line.
func (r Result) String() string { return strings.Join(r, " ") }

// Of is a figure that is a part of a whole.
func Of(part, whole int) string { return fmt.Sprintf("%d/%d", part, whole) }

// Examples are the first of what a check found wrong.
type Examples []string

// Example adds one, while there are few.
func (e *Examples) Example(format string, args ...any) {
	if len(*e) < 20 {
		*e = append(*e, fmt.Sprintf(format, args...))
	}
}

// String is a line for each.
func (e Examples) String() string { return strings.Join(e, "\n") }
