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

// Main reads the flags, does a proof until it ends or a signal comes, and exits
// with 1 if it fails.
func Main(name string, prove func(context.Context) error) {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := prove(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "prove %s: %v\n", name, err)
		os.Exit(1)
	}
}

// Options are those of every proof that does faults and runs controls.
type Options struct {
	Faults                 int
	Controls, Binary, Only string
	Seed                   uint64
	Keep                   bool
}

// Flags declares the options; faults is how many a whole proof does.
func (o *Options) Flags(faults int) {
	flag.IntVar(&o.Faults, "faults", faults, "number of faults")
	flag.StringVar(&o.Controls, "controls", "all", "controls to run: all, none, or names separated by commas")
	flag.StringVar(&o.Only, "only", "", "part of the names of the faults to do")
	flag.Uint64Var(&o.Seed, "seed", uint64(time.Now().UnixNano()), "seed of all random choices")
	flag.StringVar(&o.Binary, "binary", "bin/assay-failpoints", "application built with the tag failpoints")
	flag.BoolVar(&o.Keep, "keep", false, "keep the state of a failed proof")
}

// Subject is a system that a proof is about.
type Subject interface {
	// Logs returns the ends of the application's logs as an error.
	Logs() error
	// Stop ends everything and removes what was written, unless it is to be kept.
	Stop(keep bool) error
}

// Prove starts a subject, does the proof on it, stops it and prints the result as
// the last line. A subject that comes with an error is stopped too.
func Prove[S Subject](ctx context.Context, keep bool, start func(context.Context) (S, error), run func(context.Context, S) (Result, error)) error {
	began := time.Now()
	s, err := start(ctx)
	if err != nil {
		return errors.Join(err, s.Logs(), s.Stop(keep))
	}
	fmt.Printf("started in %.1f s\n", time.Since(began).Seconds())
	result, err := run(ctx, s)
	if err != nil {
		return errors.Join(err, s.Logs(), s.Stop(keep))
	}
	if err := s.Stop(false); err != nil {
		return err
	}
	fmt.Printf("took %.0f s\n%s\n", time.Since(began).Seconds(), result)
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
