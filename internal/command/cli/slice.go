package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/terminal"
)

type runsSlicesCommand struct {
	runArgs
	By   string `help:"Label to slice by (default: every label)." placeholder:"LABEL"`
	JSON bool   `name:"json" help:"JSON output, as returned by the API."`
}

// Help is the text of --help above the flags.
func (runsSlicesCommand) Help() string {
	return `Shows the pass rate of a run by the labels of its items, lowest first. Slices with fewer than ten results say too little and are left out.

` + codes + `

The key needs the scope eval:read.`
}

// Run prints the slices.
func (c runsSlicesCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c runsSlicesCommand) run(e *Environment) error {
	from, evaluation, r, err := c.findRun(e)
	if err != nil {
		return err
	}
	all, raw, err := from.Slices(e.Context, evaluation.ID, r)
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	list, err := c.list(all)
	if err != nil {
		return err
	}
	return terminal.Detect(e.Out, e.Environ).List(e.Out, list)
}

// list are the slices by the label that was asked for.
func (c runsSlicesCommand) list(all []client.Slices) (terminal.List, error) {
	out := terminal.List{
		Heads: []string{"VALUE", "LABEL", "PASSED", "95% INTERVAL", "SHRUNKEN", "N"}, Right: map[int]bool{2: true, 3: true, 4: true, 5: true},
		Empty: "No label of the items has two values or more with at least ten results each.",
	}
	var labels []string
	for _, s := range all {
		labels = append(labels, s.By)
		if c.By != "" && s.By != c.By {
			continue
		}
		for _, one := range s.Slices {
			interval := ""
			if ci := one.Rate.CI; ci != nil {
				interval = terminal.Rate(ci.Lower) + " to " + terminal.Rate(ci.Upper)
			}
			out.Rows = append(out.Rows, []string{one.Name, s.By, terminal.Rate(one.Rate.Value), interval, terminal.Rate(one.Shrunken), terminal.Number(int(one.Rate.N))})
		}
		if s.Note != "" {
			out.Notes = append(out.Notes, s.By+": "+s.Note)
		}
		if s.Hidden > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("%s: %d slices with fewer than ten results are left out.", s.By, s.Hidden))
		}
	}
	if len(out.Rows) > 0 {
		out.Notes = append(out.Notes, "Many slices are many chances to see something that is not there. The shrunken rate is drawn towards that of all slices, the more so the less a slice itself says.")
	} else if len(out.Notes) > 0 {
		out.Empty = strings.Join(out.Notes, " ")
	}
	if c.By != "" && !slices.Contains(labels, c.By) {
		return out, mistake("the run has no slices by %q: its labels are %s", c.By, joined(labels))
	}
	return out, nil
}
