package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"

	"github.com/assayhq/assay/internal/command/cli/origin"
	"github.com/assayhq/assay/internal/command/cli/shown"
	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
	"github.com/assayhq/assay/internal/measure/requirement"
)

// startFlags are what a run is started with.
type startFlags struct {
	Sample         int               `help:"Number of items to draw at random." placeholder:"N"`
	Seed           *int64            `help:"Seed of the order and the sample (default: random)." placeholder:"N"`
	Repetitions    int               `help:"Number of executions of each item." placeholder:"N"`
	Concurrency    int               `help:"Number of items in progress at the same time." placeholder:"N"`
	Budget         *float64          `help:"Cost at which the run stops." placeholder:"USD"`
	DatasetVersion int               `help:"Frozen version of the dataset." placeholder:"N"`
	Release        string            `help:"Release that is measured, such as rel-2026.03." placeholder:"ID"`
	Environment    string            `name:"environment" enum:"development,test,staging,production," default:"" help:"Where the application runs: development, test, staging or production." placeholder:"NAME"`
	Branch         string            `help:"Branch that is measured (default: that of the CI job, in GitHub Actions and GitLab CI)." placeholder:"NAME"`
	Tag            string            `help:"Git tag that is measured (default: that of the CI job)." placeholder:"NAME"`
	Metadata       map[string]string `mapsep:"none" help:"Metadata of the run; repeatable." placeholder:"KEY=VALUE"`
	IdempotencyKey string            `help:"Idempotency key: a repeated start within a day returns the same run. In CI, use the job and its attempt." placeholder:"KEY"`
}

func (f startFlags) check() error {
	for name, n := range map[string]int{"sample": f.Sample, "repetitions": f.Repetitions, "concurrency": f.Concurrency, "dataset-version": f.DatasetVersion} {
		if n < 0 {
			return fmt.Errorf("--%s must not be negative: use a number from 1", name)
		}
	}
	switch {
	case f.Seed != nil && *f.Seed < 0:
		return errors.New("--seed must not be negative: use a number from 0")
	case f.Budget != nil && !(*f.Budget >= 0 && *f.Budget <= 1e9):
		return errors.New("--budget must be an amount in US dollars, such as 2.50")
	}
	return nil
}

// start starts a run, once: trying again after a lost answer finds the first.
// A baseline that is named by its place is sent as it is named: resolved here,
// it would be another run at the second try, and the key would not fit.
func (f startFlags) start(e *Environment, from *client.Client, evaluation client.Evaluation, baseline string) (client.Run, error) {
	want := client.Start{
		DatasetVersion: some(f.DatasetVersion), SampleSize: some(f.Sample), Seed: f.Seed, Repetitions: some(f.Repetitions), Concurrency: some(f.Concurrency),
		BudgetUSD: f.Budget, ReleaseID: text(f.Release), Environment: text(f.Environment), Metadata: f.metadata(e.Environ),
	}
	if client.IsID(baseline) {
		want.BaselineRunID = baseline
	} else if baseline != "" {
		want.Baseline = &baseline
	}
	return from.StartPatiently(e.Context, evaluation.ID, want, f.key(), e.say)
}

// key is the idempotency key of a start.
func (f startFlags) key() string {
	if f.IdempotencyKey != "" {
		return f.IdempotencyKey
	}
	return "assay-run-" + rand.Text()
}

// beyondResume reports whether there are flags that a resumed run does not take.
func (f startFlags) beyondResume() bool {
	return f.Sample != 0 || f.Seed != nil || f.Repetitions != 0 || f.DatasetVersion != 0 || f.Release != "" || f.Environment != "" || f.Branch != "" || f.Tag != "" || len(f.Metadata) > 0
}

// some is a number that a flag gives, nil without the flag.
func some(n int) *int64 {
	if n == 0 {
		return nil
	}
	wide := int64(n)
	return &wide
}

type runCommand struct {
	Evaluation string `arg:"" help:"ID or name of the evaluation."`
	remote
	Resume   string `help:"Failed or cancelled run to go on with: its answers are kept, and items without one are executed." placeholder:"RUN"`
	Wait     bool   `help:"Wait for the run to end, and show its progress and result."`
	Baseline string `help:"Baseline run: an ID, latest, previous, passed, pinned, branch:NAME, release:ID or tag:NAME." placeholder:"RUN"`
	JSON     bool   `name:"json" help:"JSON output, as returned by the API."`
	waitFlags
	startFlags
}

// Help is the text of --help above the flags.
func (runCommand) Help() string {
	return `Progress goes to standard error: in place on a terminal, otherwise a line every ten seconds or ten percent. The result goes to standard output. While a run is in progress, the interval of its pass rate remains valid no matter how often you look.

The command keeps waiting across server restarts. Ctrl-C stops waiting and leaves the run in progress.

Exit codes: 0 completed (without --wait: started), 1 failed or cancelled, 2 a mistake in the command line, a name or the key, 3 inconclusive: timed out, interrupted or no response.

The key needs the scopes eval:read and eval:write.`
}

// Validate refuses numbers that no run takes.
func (c runCommand) Validate() error {
	if c.Baseline != "" && !client.IsBaseline(c.Baseline) {
		return fmt.Errorf("--baseline=%s names no run: use a run ID, latest, %s", c.Baseline, requirement.BaselineForms)
	}
	if c.Resume != "" {
		if !client.IsRun(c.Resume) || c.Resume == client.Previous {
			return fmt.Errorf("--resume=%s names no run: use a run ID, or latest", c.Resume)
		}
		if c.Resume == client.Latest && c.IdempotencyKey != "" {
			return errors.New("--resume=latest names another run at the second try: use a run ID with --idempotency-key")
		}
		if c.Baseline != "" || c.startFlags.beyondResume() {
			return errors.New("--resume goes on with a run as it was started: only --concurrency and --budget can be changed")
		}
	}
	return errors.Join(c.startFlags.check(), c.waitFlags.check())
}

// Run starts a run and, with --wait, follows it.
func (c runCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c runCommand) run(e *Environment) error {
	e = e.guarded()
	from, err := c.client(e)
	if err != nil {
		return err
	}
	evaluation, err := from.FindEvaluation(e.Context, c.Evaluation)
	if err != nil {
		return err
	}
	started, err := c.begin(e, from, evaluation)
	if err != nil {
		return err
	}
	if !c.Wait {
		if c.JSON {
			return printJSON(e, started.Raw)
		}
		return terminal.Detect(e.Out, e.Environ).Run(e.Out, toRun(evaluation, started, nil))
	}
	ended, notes, err := c.follow(e, from, evaluation, started)
	if err != nil {
		return err
	}
	if err := c.print(e, from, evaluation, ended, notes); err != nil {
		return err
	}
	if ended.Status != client.StatusCompleted {
		return &ExitError{Code: exitFailed}
	}
	return nil
}

// begin starts a run, anew or where another stopped.
func (c runCommand) begin(e *Environment, from *client.Client, evaluation client.Evaluation) (client.Run, error) {
	if c.Resume == "" {
		return c.start(e, from, evaluation, c.Baseline)
	}
	id := c.Resume
	if id == client.Latest {
		latest, err := from.LatestRun(e.Context, evaluation)
		if err != nil {
			return client.Run{}, err
		}
		id = latest.ID
	}
	return from.StartPatiently(e.Context, evaluation.ID, client.Start{ResumeRunID: id, Concurrency: some(c.Concurrency), BudgetUSD: c.Budget}, c.key(), e.say)
}

// print shows how the run ended and, if there is a baseline, how it differs.
func (c runCommand) print(e *Environment, from *client.Client, evaluation client.Evaluation, r client.Run, notes []client.Note) error {
	if c.JSON {
		return printJSON(e, r.Raw)
	}
	style := terminal.Detect(e.Out, e.Environ)
	drawn := toRun(evaluation, r, notes)
	if r.Failed > 0 {
		drawn.Links = append(drawn.Links, fmt.Sprintf("assay results %s %s --failed", evaluation.ID, r.ID))
	}
	if r.Status != client.StatusRunning {
		drawn.Links = append(drawn.Links, fmt.Sprintf("assay report %s %s --open", evaluation.ID, r.ID))
	}
	if resumable(r) {
		drawn.Links = append(drawn.Links, fmt.Sprintf("assay run %s --resume %s --wait", evaluation.ID, r.ID))
	}
	if r.Status == client.StatusCompleted && r.Baseline() == "" {
		if before, err := from.PreviousRun(e.Context, evaluation, r); err == nil {
			drawn.Links = append(drawn.Links, fmt.Sprintf("assay compare %s %s %s", evaluation.ID, before.ID, r.ID))
		}
	}
	if err := style.Run(e.Out, drawn); err != nil {
		return err
	}
	if r.Baseline() == "" || r.Status != client.StatusCompleted {
		return nil
	}
	compared, err := from.Compare(e.Context, evaluation.ID, r.Baseline(), r.ID, 0)
	if err != nil {
		e.say("could not compare with run " + r.Baseline() + ": " + err.Error())
		return nil
	}
	fmt.Fprintln(e.Out)
	return style.Comparison(e.Out, shown.Comparison(evaluation, compared))
}

// resumable reports whether a run stopped on the way for a reason that may be gone:
// it had begun, and it did not wait for a client in vain.
func resumable(r client.Run) bool {
	return r.Status == client.StatusFailed && r.ConfigDigest != nil && r.Error != nil && r.Error.Code != "timeout"
}

// known is a text in the metadata of a run.
func known(r client.Run, key string) string {
	text, _ := r.Metadata[key].(string)
	return text
}

// shownNotes is how many notes stand below the figures.
const shownNotes = 5

func toRun(evaluation client.Evaluation, r client.Run, notes []client.Note) terminal.Run {
	out := terminal.Run{
		Name: evaluation.Name, ID: r.ID, Status: r.Status, Items: int(r.Items), Passed: int(r.Passed), Failed: int(r.Failed), Errored: int(r.Errored),
		Skipped: int(r.Skipped), Cost: &r.CostUSD,
	}
	if r.Error != nil {
		out.Problem = r.Error.Code + ": " + r.Error.Message
	}
	if r.CompletedAt != nil {
		took := r.CompletedAt.Sub(r.StartedAt)
		out.Took = &took
	}
	if v := r.DatasetVersion; v != nil {
		out.Facts = append(out.Facts, terminal.Fact{Name: "dataset version", Value: strconv.FormatInt(*v, 10)})
	}
	if v := r.Seed; v != nil {
		out.Facts = append(out.Facts, terminal.Fact{Name: "seed", Value: strconv.FormatInt(*v, 10)})
	}
	for _, f := range []terminal.Fact{{Name: "release", Value: api.Value(r.ReleaseID)}, {Name: "branch", Value: known(r, "branch")}, {Name: "tag", Value: known(r, "tag")}} {
		if f.Value != "" {
			out.Facts = append(out.Facts, f)
		}
	}
	if v := api.Value(r.ResumesRunID); v != "" {
		out.Facts = append(out.Facts, terminal.Fact{Name: "resumes run", Value: v})
	}
	if r.Repetitions > 1 {
		out.Facts = append(out.Facts, terminal.Fact{Name: "repetitions", Value: strconv.FormatInt(r.Repetitions, 10)})
	}
	if s := r.Statistics; s != nil {
		out.Estimates = shown.Estimates(*s)
		if s.PassRate.CI != nil {
			out.Level = s.PassRate.CI.Level
		}
		if s.Resolution != nil {
			out.Resolution = s.Resolution.Sentence
		}
	}
	for _, n := range notes {
		if n.Level != "info" {
			out.Notes = append(out.Notes, terminal.Note{At: n.At.Local(), Level: n.Level, Message: n.Message})
		}
	}
	out.Notes = out.Notes[:min(len(out.Notes), shownNotes)] // the newest are first
	if r.Status == client.StatusRunning {
		out.Links = append(out.Links, fmt.Sprintf("assay runs attach %s %s", evaluation.ID, r.ID))
	}
	return out
}

// metadata is what a run is known by later: what the flags give, and the branch,
// tag and commit of the CI job, so that a baseline is of the right branch. It is
// nil if nothing is known.
func (f startFlags) metadata(environ []string) map[string]any {
	known := origin.Of(environ)
	for key, value := range map[string]string{"branch": f.Branch, "tag": f.Tag} {
		if value != "" {
			known[key] = value
		}
	}
	for key, value := range f.Metadata {
		known[key] = value
	}
	if len(known) == 0 {
		return nil
	}
	return known
}
