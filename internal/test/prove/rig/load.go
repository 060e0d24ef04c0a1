package rig

import (
	"context"
	"fmt"
)

// Load is work that goes on while everything breaks, with what those who do it know of
// it. The drill has several on one system.
type Load interface {
	// Begin sets everybody to work.
	Begin(ctx context.Context)
	// Finish lets what is under way come to its end, and begins no more.
	Finish(ctx context.Context) error
	// Check compares what is known with what is stored.
	Check(ctx context.Context) (Figures, error)
}

// Stepper is a load whose steps are so short that it can be waited for: after a fault it
// has to go on.
type Stepper interface {
	// Steps counts what was done so far. An error is what was seen that must not be.
	Steps() (int, error)
}

// Breaker is a load with faults of its own.
type Breaker interface {
	Faults() []Fault
}

// Figures are what a check counts.
type Figures struct {
	Done    int // pieces of work that were acknowledged
	Lost    int // that are not there, or not whole
	Doubled int // that are there, or had their effect, more than once
	Wrong   int // that are otherwise not what they must be
	Examples
}

// String is a line, without the examples.
func (f Figures) String() string {
	return fmt.Sprintf("done %d lost %d doubled %d wrong %d", f.Done, f.Lost, f.Doubled, f.Wrong)
}

// Bad counts what is not as it must be.
func (f Figures) Bad() int { return f.Lost + f.Doubled + f.Wrong }
