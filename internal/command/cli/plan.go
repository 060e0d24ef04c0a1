package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type planCommand struct {
	Evaluation string `arg:"" help:"ID or name of the evaluation."`
	remote
	Difference fraction `required:"" help:"Difference of the overall score to be seen, such as 0.02 or 2%." placeholder:"FRACTION"`
	Power      fraction `default:"0.8" help:"Share of runs that are to show it (default: 0.8)." placeholder:"FRACTION"`
	JSON       bool     `name:"json" help:"JSON output, as returned by the API."`
}

// Help is the text of --help above the flags.
func (planCommand) Help() string {
	return `Tells how many items a difference needs, before a run is paid for. How much scores vary is taken from the newest completed runs; without them, the worst is assumed.

Exit codes: 0 planned, 2 a mistake in the command line, a name or the key, 3 no response.

The key needs the scope eval:read.`
}

// Validate refuses differences that no run can show.
func (c planCommand) Validate() error {
	return errors.Join(c.Difference.within("difference", 0.0001, 1), c.Power.within("power", 0.5, 0.99))
}

// Run prints how many items it takes.
func (c planCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c planCommand) run(e *Environment) error {
	e = e.guarded()
	from, err := c.client(e)
	if err != nil {
		return err
	}
	evaluation, err := from.FindEvaluation(e.Context, c.Evaluation)
	if err != nil {
		return err
	}
	number := func(x fraction) []string { return []string{strconv.FormatFloat(float64(x), 'f', -1, 64)} }
	p, raw, err := from.Plan(e.Context, evaluation.ID, url.Values{"difference": number(c.Difference), "power": number(c.Power)})
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(e, raw)
	}
	_, err = fmt.Fprint(e.Out, planText(terminal.Text(evaluation.Name), p))
	return err
}

// planText puts a plan into words.
func planText(name string, p api.ItemPlan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: items that show a difference of %g in %g%% of runs\n\n", name, p.Difference, 100*p.Power)
	for _, row := range []struct {
		items int64
		what  string
	}{
		{p.ItemsForThreshold, "from a fixed value, such as overall>=0.8"},
		{p.ItemsForComparison, "between two runs, compared item by item"},
		{p.ItemsForNonInferior, "to rule out a loss of as much: overall:non_inferior"},
	} {
		fmt.Fprintf(&b, "%12s  %s\n", terminal.Number(int(row.items)), row.what)
	}
	b.WriteString("\n")
	switch {
	case p.RunID == nil:
		b.WriteString("No run has completed yet, so the largest possible spread of scores is assumed.\n")
	case p.PairedSdAssumed:
		fmt.Fprintf(&b, "From run %s with %s. No two runs can be compared yet, so the last two numbers assume that runs have nothing in common; they will be lower.\n", *p.RunID, count(p.Items))
	default:
		fmt.Fprintf(&b, "From run %s with %s, compared with run %s.\n", *p.RunID, count(p.Items), *p.BaselineRunID)
	}
	return b.String()
}
