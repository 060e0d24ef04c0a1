package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/alecthomas/kong"

	"github.com/assayhq/assay/internal/command/client"
)

// Environment is the surroundings of a command.
type Environment struct {
	Context     context.Context
	Environ     []string
	In          io.Reader // nil is standard input
	Out, ErrOut io.Writer
	// Inspect checks the settings of a server that are in the environment, and
	// whether it may call a target. It is nil where there are none.
	Inspect func(ctx context.Context, target string) []Finding
}

// stdin is standard input.
func (e *Environment) stdin() io.Reader {
	if e.In == nil {
		return os.Stdin
	}
	return e.In
}

// open reads a file, or standard input if its name is -.
func (e *Environment) open(file string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(e.stdin()), nil
	}
	return os.Open(file)
}

// Exit codes, in addition to 0.
const (
	exitFailed  = 1 // the run failed or was cancelled, or the gate says FAIL
	exitMistake = 2 // what was asked cannot be done: asking again does not help
	exitUnknown = 3 // inconclusive: timed out, no response, not decided
)

// ExitError is an error with an exit code of its own. Without an error inside,
// everything that there is to say has been printed.
type ExitError struct {
	Code int
	Err  error
}

// Error is the text of the error inside.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return "exit " + strconv.Itoa(e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the error inside.
func (e *ExitError) Unwrap() error { return e.Err }

// unknown gives an error its exit code, unless it has one: a mistake of the
// caller must not look like a question that is open, since a script may let
// those pass.
func unknown(err error) error {
	var coded *ExitError
	switch {
	case err == nil || errors.As(err, &coded):
		return err
	case client.IsMistake(err):
		return &ExitError{exitMistake, err}
	case errors.Is(err, client.ErrUnanswered):
		err = fmt.Errorf("%w; check that the server runs and that its URL is right, with `assay doctor`", err)
	}
	return &ExitError{exitUnknown, err}
}

// helpOn says where to read on after a command line that cannot be read.
func helpOn(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if at := parse.Context.Selected(); at != nil {
			return "Run `" + at.FullPath() + " --help` for its arguments and flags."
		}
	}
	return "Run `assay --help` for a list of commands."
}

// mistake is an error that asking again does not mend.
func mistake(format string, args ...any) error {
	return &ExitError{exitMistake, fmt.Errorf(format, args...)}
}

// Finding is what a check found.
type Finding struct {
	Check string
	State State
	// Text says what was found and, unless all is well, what to do.
	Text string
}

// State is how a check ended.
type State string

// The states.
const (
	StateOK      State = "ok"
	StateProblem State = "problem"
	StateSkipped State = "skipped" // nothing could be learnt
)
