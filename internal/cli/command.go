package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/alecthomas/kong"
)

// Commands are the commands of a user, to be embedded in a command line.
type Commands struct {
	Tail    tailCommand    `cmd:"" group:"use" help:"Show traces as they arrive."`
	Traces  tracesCommand  `cmd:"" group:"use" help:"Inspect traces."`
	Plan    planCommand    `cmd:"" group:"use" help:"Plan how many items a difference needs."`
	Run     runCommand     `cmd:"" group:"use" help:"Start a run of an evaluation and, optionally, wait for its result."`
	Compare compareCommand `cmd:"" group:"use" help:"Compare two runs of an evaluation."`
	Dataset datasetCommand `cmd:"" group:"use" help:"Import and export the items of datasets."`
	Gate    gateCommand    `cmd:"" group:"use" help:"Check a run against requirements, for CI: pass, fail or inconclusive."`
}

// Environment is the surroundings of a command.
type Environment struct {
	Context     context.Context
	Environ     []string
	Out, ErrOut io.Writer
}

// Exit codes of the commands about runs, in addition to 0 and those of Execute.
const (
	exitFailed  = 1 // the run failed or was cancelled, or the gate says FAIL
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

// unknown turns an error that has no exit code into an inconclusive one.
func unknown(err error) error {
	var coded *ExitError
	if err == nil || errors.As(err, &coded) {
		return err
	}
	return &ExitError{exitUnknown, err}
}

// Execute parses a command line, runs its command and returns the exit code of
// the process: 0 for success, 1 for a failure, 2 for an invalid command line,
// or that of an ExitError.
func Execute(grammar any, args []string, out, errOut io.Writer, run func(*kong.Context) error, options ...kong.Option) int {
	exit := -1
	options = append([]kong.Option{
		kong.Name("assay"), kong.UsageOnError(), kong.Writers(out, errOut), kong.Exit(func(code int) { exit = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 80}),
	}, options...)
	parser, err := kong.New(grammar, options...)
	if err != nil {
		panic(err) // the declaration of the command line is wrong
	}
	k, err := parser.Parse(args)
	if exit >= 0 {
		return exit // --help has printed
	}
	if err != nil {
		fmt.Fprintf(errOut, "assay: %v\nRun `assay --help` for a list of commands.\n", err)
		return 2
	}
	err = run(k)
	if err == nil {
		return 0
	}
	code := 1
	var coded *ExitError
	if errors.As(err, &coded) {
		code = coded.Code
	}
	if coded == nil || coded.Err != nil {
		fmt.Fprintf(errOut, "assay: %v\n", err)
	}
	return code
}
