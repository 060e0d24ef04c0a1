package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"
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
	Member     memberCommand     `cmd:"" group:"things" help:"Invite people to the organization."`
	Provider   providerCommand   `cmd:"" group:"things" help:"Manage provider keys."`

	Login      loginCommand      `cmd:"" group:"setup" help:"Store the URL of a server and an API key for the other commands, or accept an invitation."`
	Logout     logoutCommand     `cmd:"" group:"setup" help:"Remove what login stored."`
	Doctor     doctorCommand     `cmd:"" group:"setup" help:"Check the server, the key and whether traces arrive, and say what to do."`
	Completion completionCommand `cmd:"" group:"setup" help:"Print the completion script of a shell: bash, zsh or fish."`
	Complete   completeCommand   `cmd:"" hidden:"" name:"complete-words" help:"Print how a command line can go on."`
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
