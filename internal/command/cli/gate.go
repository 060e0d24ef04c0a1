package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
	"github.com/assayhq/assay/internal/measure/requirement"
)

// newRun asks a gate to start the run that it judges.
const newRun = "new"

type gateCommand struct {
	Evaluation string `arg:"" help:"ID or name of the evaluation."`
	remote
	Require    []string `sep:"none" required:"" help:"Requirement; repeatable. A threshold: pass_rate>=0.9, overall>0.8, p95(latency_ms)<=800. Or a comparison with the baseline: overall:non_inferior, pass_rate:better, similarity:equivalent." placeholder:"RULE"`
	Subject    string   `name:"run" default:"latest" help:"Run to check: an ID, latest, or new to start a run and wait for it (default: latest)." placeholder:"RUN"`
	Baseline   string   `help:"Baseline run: passed for the last run that passed its gate, branch:NAME, release:ID, tag:NAME, pinned, previous, or an ID (default: the baseline that the run was started with, or passed)." placeholder:"RUN"`
	Margin     fraction `help:"Largest loss that does not matter, as a fraction of a metric's range, such as 0.02 or 2%." placeholder:"FRACTION"`
	MaxMissing fraction `default:"0.05" help:"Largest fraction of scores that may be missing from the baseline, or from a figure without a worst score; above it, a requirement is inconclusive (default: 0.05)." placeholder:"FRACTION"`
	JUnit      string   `name:"junit" help:"File for a JUnit report." type:"path" placeholder:"FILE"`
	GitHub     bool     `name:"github" help:"Annotations for GitHub Actions."`
	JSON       bool     `name:"json" help:"JSON output."`
	waitFlags
	startFlags
}

// Help is the text of --help above the flags.
func (gateCommand) Help() string {
	return `A threshold such as pass_rate>=0.9 passes if the whole 95% interval meets it, fails if the whole interval misses it, and is inconclusive otherwise. A value truly below the threshold therefore passes with a probability of about 2.5% at most, unless runs are repeated until one passes. p95(latency_ms)<=800 is a threshold for a quantile. With several requirements, all must pass; one that fails is enough, so it must miss by the interval at which all hold together. The claims better, non_inferior and equivalent compare with the baseline item by item; non_inferior means that a loss of the margin is ruled out, at one-sided 95%.

A missing score counts as the worst one: a run cannot pass by leaving items out. A requirement that is not shown to be met never passes: after a failed run, without an interval, without a baseline, or if the runs are not comparable. The decision is stored with the run, and --baseline=passed compares with the last run that passed. Pin a run with ` + "`assay baseline pin`" + ` to see how far releases have drifted from it. The gate fails if any requirement fails; otherwise it is inconclusive if any requirement is.

Exit codes: 0 PASS, 1 FAIL, 2 a mistake in the command line, a name or the key, 3 INCONCLUSIVE or no response.

The key needs the scopes eval:read and eval:write.`
}

// Validate refuses requirements that cannot be read.
func (c gateCommand) Validate() error {
	all, err := parseRequirements(c.Require)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Claim.NeedsMargin() && c.Margin == 0 {
			return fmt.Errorf("--require %q needs --margin, the largest loss that does not matter: add one such as --margin=2%%", r.Text)
		}
	}
	switch {
	case c.Subject != newRun && (!client.IsRun(c.Subject) || c.Subject == client.Previous):
		return errors.New("--run must be a run ID, latest or new")
	case c.Baseline != "" && (!client.IsBaseline(c.Baseline) || c.Baseline == client.Latest && c.Subject != newRun):
		return fmt.Errorf("--baseline=%s names no run: use a run ID, %s", c.Baseline, requirement.BaselineForms)
	case c.Subject != newRun && !reflect.ValueOf(c.startFlags).IsZero():
		return errors.New("flags that start a run, such as --sample, need --run=new: add it, or leave them out")
	}
	return errors.Join(c.Margin.within("margin", 0, 1), c.MaxMissing.within("max-missing", 0, 1), c.startFlags.check(), c.waitFlags.check())
}

// decision is what a gate found.
type decision struct {
	evaluation client.Evaluation
	run        client.Run
	baseline   string
	judged     []judged
	drift      []api.DecisionDrift
	verdict    requirement.Verdict
	summary    string
	url        string
	// items are the first of the failing items, if somebody reads them.
	items   []terminal.Item
	failing int
	// problem says that the run itself could not be judged.
	problem string
}

// Run decides, prints and reports.
func (c gateCommand) Run(e *Environment) error {
	e = e.guarded()
	d, err := c.decide(e)
	var coded *ExitError
	if errors.As(unknown(err), &coded) && coded.Code == exitMistake {
		if c.GitHub {
			fmt.Fprintln(e.runner(), annotation("error", "Assay gate: not checked", err.Error()))
		}
		return coded
	}
	if err != nil {
		d.problem = terminal.Text(err.Error())
	}
	d.conclude(c.Require)
	if err := c.report(e, d); err != nil {
		return unknown(err)
	}
	switch d.verdict {
	case requirement.Pass:
		return nil
	case requirement.Fail:
		return &ExitError{Code: exitFailed}
	}
	return &ExitError{Code: exitUnknown}
}

// decide has the run judged. An error leaves what is known.
func (c gateCommand) decide(e *Environment) (d decision, err error) {
	from, err := c.client(e)
	if err != nil {
		return d, err
	}
	if d.evaluation, err = from.FindEvaluation(e.Context, c.Evaluation); err != nil {
		return d, err
	}
	if c.Subject == newRun { // before it is paid for
		if err := c.checkFigures(e, from, d.evaluation, client.Run{}); err != nil {
			return d, err
		}
	}
	if d.run, err = c.find(e, from, d.evaluation); err != nil {
		return d, err
	}
	if err := c.checkFigures(e, from, d.evaluation, d.run); err != nil {
		return d, err
	}
	d.url = from.RunURL(d.evaluation.ID, d.run.ID)
	if d.run.Status == client.StatusRunning {
		ended, _, err := c.follow(e, from, d.evaluation, d.run)
		if err != nil {
			return d, err
		}
		d.run = ended
	}
	if c.Baseline != "" && c.Baseline == d.run.ID {
		return d, &ExitError{exitMistake, fmt.Errorf("--baseline is run %s itself: use another run", d.run.ID)}
	}
	found, err := from.Decide(e.Context, d.evaluation.ID, d.run.ID, c.asked(), "assay-gate-"+rand.Text())
	if err != nil {
		return d, err
	}
	d.baseline, d.drift, d.problem = api.Value(found.BaselineRunID), found.Drift, api.Value(found.Problem)
	for _, r := range found.Rulings {
		d.judged = append(d.judged, inWords(r, float64(c.MaxMissing)))
	}
	if (c.GitHub || c.JUnit != "") && d.problem == "" && requirement.Verdict(found.Verdict) != requirement.Pass {
		if d.items, d.failing, err = failing(e.Context, from, d.evaluation.ID, d.run.ID, junitItems); err != nil {
			e.say("the failing items could not be read: " + err.Error())
		}
	}
	return d, nil
}

// checkFigures refuses requirements for figures that neither the evaluation nor
// the run has.
func (c gateCommand) checkFigures(e *Environment, from *client.Client, evaluation client.Evaluation, r client.Run) error {
	metrics, err := from.Metrics(e.Context, evaluation.ID)
	if err != nil || metrics == nil {
		return err
	}
	if r.Statistics != nil {
		metrics = slices.AppendSeq(metrics, maps.Keys(r.Statistics.Metrics))
	}
	all, err := parseRequirements(c.Require)
	for _, one := range all {
		if wrong := one.CheckFigure(metrics); wrong != nil {
			err = errors.Join(err, fmt.Errorf("--require %w", wrong))
		}
	}
	if err != nil {
		return &ExitError{exitMistake, err}
	}
	return nil
}

// asked is what the flags ask of the run.
func (c gateCommand) asked() client.Asked {
	missing, margin := float64(c.MaxMissing), float64(c.Margin)
	a := client.Asked{Requirements: c.Require, MaxMissing: &missing}
	if margin > 0 {
		a.Margin = &margin
	}
	switch {
	case c.Baseline == "" || c.Baseline == client.Latest: // of a new run, which was started with it
	case client.IsID(c.Baseline):
		a.BaselineRunID = c.Baseline
	default:
		a.Baseline = &c.Baseline
	}
	return a
}

// find returns the run that is judged, started if it is a new one.
func (c gateCommand) find(e *Environment, from *client.Client, evaluation client.Evaluation) (client.Run, error) {
	switch c.Subject {
	case newRun:
		baseline := c.Baseline
		if baseline != client.Latest && !client.IsID(baseline) {
			baseline = "" // found when the run is judged, so that a first run can be started
		}
		return c.start(e, from, evaluation, baseline)
	case client.Latest:
		return from.LatestRun(e.Context, evaluation)
	}
	return runByID(e, from, evaluation, c.Subject)
}

// conclude sums the requirements up. Those without a run to judge are skipped,
// which is not passed.
func (d *decision) conclude(texts []string) {
	if d.problem != "" {
		if d.judged == nil {
			for _, text := range texts {
				d.judged = append(d.judged, inWords(client.Ruling{Requirement: text, Verdict: string(requirement.Inconclusive), Reason: string(requirement.ReasonNotChecked)}, 0))
			}
		}
		d.verdict, d.summary = requirement.Inconclusive, d.problem
		return
	}
	verdicts := make([]requirement.Verdict, len(d.judged))
	for i, j := range d.judged {
		verdicts[i] = requirement.Verdict(j.Verdict)
	}
	verdict, failed, open := requirement.Sum(verdicts)
	n := len(d.judged)
	var parts []string
	if failed > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s failed", failed, requirements(n)))
	}
	if open > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s inconclusive", open, requirements(n)))
	}
	if verdict == requirement.Pass {
		parts = []string{fmt.Sprintf("%s met", requirements(n))}
	}
	d.verdict, d.summary = verdict, strings.Join(parts, ", ")+"."
}

func requirements(n int) string {
	if n == 1 {
		return "1 requirement"
	}
	return fmt.Sprintf("%d requirements", n)
}
