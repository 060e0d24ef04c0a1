package cli

import (
	"fmt"

	"github.com/assayhq/assay/internal/command/cli/shown"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type seriesCommand struct {
	evaluationArg
	JSON bool `name:"json" help:"JSON output, as returned by the API."`
}

// Help is the text of --help above the flags.
func (seriesCommand) Help() string {
	return `Puts the newest runs side by side that had equal conditions, and tells how much their figures vary from run to run. If that is more than the margin of a gate, use more repetitions.

` + codes + `

The key needs the scope eval:read.`
}

// Run prints the series.
func (c seriesCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c seriesCommand) run(e *Environment) error {
	from, evaluation, err := c.find(e)
	if err != nil {
		return err
	}
	var series api.RunSeries
	raw, err := from.Call(func(k api.Client) (err error) {
		series, err = k.GetEvaluationSeries(e.Context, evaluation.ID)
		return err
	})
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	out := terminal.List{
		Heads: []string{"RUN", "STARTED", "PASS RATE", "OVERALL"}, Right: map[int]bool{0: true},
		Empty: fmt.Sprintf("%s has no completed run yet. Start one with `assay run %s --wait`.", evaluation.Name, evaluation.ID),
	}
	for _, r := range series.Runs {
		rate := shown.Estimate("", r.PassRate)
		rate.Percent = true
		out.Rows = append(out.Rows, []string{r.RunID, terminal.Moment(r.StartedAt), rate.Text(), shown.Estimate("", r.Overall).Text()})
	}
	if len(series.Runs) > 1 {
		out.Notes = []string{fmt.Sprintf("From run to run the overall score varies by %s and the pass rate by %s (standard deviation).",
			spread(series.OverallSd), spread(series.PassRateSd))}
	} else if len(series.Runs) == 1 {
		out.Notes = []string{"How much figures vary from run to run takes two runs under equal conditions: repeat the run."}
	}
	return terminal.Detect(e.Out, e.Environ).List(e.Out, out)
}

func spread(x api.Estimate) string {
	if x.Value == nil {
		return "an unknown amount"
	}
	return shown.Estimate("", x).Text()
}
