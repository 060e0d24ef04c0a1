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

// Commands are the commands of a user, to be embedded in a command line.
type Commands struct {
	Tail     tailCommand     `cmd:"" group:"use" help:"Show traces as they arrive."`
	Traces   tracesCommand   `cmd:"" group:"use" help:"Inspect traces."`
	Plan     planCommand     `cmd:"" group:"use" help:"Plan how many items a difference needs."`
	Run      runCommand      `cmd:"" group:"use" help:"Start a run of an evaluation and, optionally, wait for its result."`
	Runs     runsCommand     `cmd:"" group:"use" help:"List, show, follow and cancel runs."`
	Results  resultsCommand  `cmd:"" group:"use" help:"Show the results of a run, item by item."`
	Report   reportCommand   `cmd:"" group:"use" help:"Save or open the report of a run."`
	Compare  compareCommand  `cmd:"" group:"use" help:"Compare two runs of an evaluation."`
	Series   seriesCommand   `cmd:"" group:"use" help:"Show how much figures vary from run to run."`
	Baseline baselineCommand `cmd:"" group:"use" help:"Pin an evaluation to a run."`
	Gate     gateCommand     `cmd:"" group:"use" help:"Check a run against requirements, for CI: pass, fail or inconclusive."`

	Dataset    datasetCommand    `cmd:"" group:"things" help:"Manage datasets and their items."`
	Annotate   annotateCommand   `cmd:"" group:"things" help:"Answer the items of annotation tasks."`
	Evidence   evidenceCommand   `cmd:"" group:"things" help:"Show what agents did, and what is known about it."`
	Approvals  approvalsCommand  `cmd:"" group:"things" help:"List, show and decide what agents ask for."`
	Evaluation evaluationCommand `cmd:"" group:"things" help:"Manage evaluations."`
	Judge      judgeCommand      `cmd:"" group:"things" help:"Try judges, and measure how well they agree with people."`
	Metric     metricCommand     `cmd:"" group:"things" help:"Show the metrics that evaluations can use."`
	Provider   providerCommand   `cmd:"" group:"things" help:"Manage provider keys."`

	Login      loginCommand      `cmd:"" group:"setup" help:"Store the URL of a server and an API key for the other commands."`
	Logout     logoutCommand     `cmd:"" group:"setup" help:"Remove what login stored."`
	Doctor     doctorCommand     `cmd:"" group:"setup" help:"Check the server, the key and whether traces arrive, and say what to do."`
	Completion completionCommand `cmd:"" group:"setup" help:"Print the completion script of a shell: bash, zsh or fish."`
	Complete   completeCommand   `cmd:"" hidden:"" name:"complete-words" help:"Print how a command line can go on."`
}

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
		fmt.Fprintf(errOut, "assay: %v\n%s\n", err, helpOn(err))
		return exitMistake
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
