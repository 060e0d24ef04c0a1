package cli

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/command/cli/shown"
	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type judgeAlignCommand struct {
	Config string `arg:"" optional:"" help:"ID or key of the judge (default: all active judges)."`
	remote
	ConfigVersion int      `name:"config-version" help:"Version of the judge (default: the current one)." placeholder:"N"`
	JudgedRun     string   `name:"run" help:"Only answers of this run." placeholder:"RUN"`
	Dataset       string   `help:"Only answers to items of this dataset, by ID." placeholder:"DATASET"`
	Split         string   `enum:"test,dev" default:"test" help:"Split that the judge is measured on: test or dev (default: test)." placeholder:"SPLIT"`
	MinTPR        fraction `name:"min-tpr" default:"0.9" help:"True positive rate that the judge has to reach (default: 0.9)." placeholder:"FRACTION"`
	MinTNR        fraction `name:"min-tnr" default:"0.9" help:"True negative rate that the judge has to reach (default: 0.9)." placeholder:"FRACTION"`
	MinKappa      fraction `name:"min-kappa" default:"0.6" help:"Kappa that the judge has to reach (default: 0.6)." placeholder:"FRACTION"`
	HTML          string   `name:"html" help:"File for the alignment as a web page; - is standard output." placeholder:"FILE"`
	JSON          bool     `name:"json" help:"JSON output, as returned by the API."`
}

// Help is the text of --help above the flags.
func (judgeAlignCommand) Help() string {
	return `Compares the judge's verdicts with what people say about the same answers. A judge is aligned if the whole intervals of tpr, tnr and kappa reach their thresholds, misaligned if one of them lies below, and otherwise there are too few labels.

tpr is the share of what people let pass that the judge lets pass, tnr the share of what people reject that the judge rejects. kappa, ac1 and alpha are agreement beyond chance: 1 is perfect, 0 is chance.

Exit codes: 0 measured, whatever the verdict is, 2 a mistake in the command line, a name or the key, 3 no response.

The key needs the scope eval:read.`
}

// Validate refuses what no judge can reach.
func (c judgeAlignCommand) Validate() error {
	if c.ConfigVersion != 0 && c.Config == "" {
		return errors.New("--config-version needs the judge that has the version")
	}
	if c.HTML != "" && (c.Config == "" || c.JSON) {
		return errors.New("--html writes the page of one judge: name the judge, and leave --json out")
	}
	for _, t := range []struct {
		flag string
		fraction
	}{{"min-tpr", c.MinTPR}, {"min-tnr", c.MinTNR}, {"min-kappa", c.MinKappa}} {
		if err := t.within(t.flag, 0, 1); err != nil {
			return err
		}
	}
	return nil
}

// Run prints how judges agree with people.
func (c judgeAlignCommand) Run(e *Environment) error { return unknown(c.run(e.guarded())) }

func (c judgeAlignCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	q, err := c.query(e, from)
	if err != nil {
		return err
	}
	if c.HTML != "" {
		page, err := from.AlignmentReport(e.Context, q)
		if err != nil {
			return err
		}
		return save(e, c.HTML, "--html", page)
	}
	var list api.JudgeAlignmentList
	raw, err := from.Call(func(k api.Client) (err error) {
		list, err = k.GetJudgeAlignment(e.Context, q)
		return err
	})
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	style := terminal.Detect(e.Out, e.Environ)
	if c.Config != "" && len(list.Alignments) == 1 {
		return style.Alignment(e.Out, shown.Alignment(list.Alignments[0]))
	}
	out := terminal.List{
		Heads: []string{"JUDGE", "VERSION", "VERDICT", "LABELS", "TPR", "TNR", "KAPPA", "LABELS MISSING"}, Right: map[int]bool{1: true, 3: true, 4: true, 5: true, 6: true, 7: true}, Whole: true,
		Empty: "No judge has rated anything that these flags select.", Notes: []string{"assay judge align JUDGE shows one of them with its intervals."},
	}
	for _, a := range list.Alignments {
		out.Rows = append(out.Rows, []string{
			a.ConfigKey, strconv.FormatInt(a.ConfigVersion, 10), plainOutcome(a.Verdict), terminal.Number(int(a.N)), terminal.Rate(a.Tpr), terminal.Rate(a.Tnr), terminal.Score(a.CohenKappa), integer(a.MoreLabels),
		})
	}
	return style.List(e.Out, out)
}

func (c judgeAlignCommand) query(e *Environment, from *client.Client) (url.Values, error) {
	q := url.Values{"split": {c.Split}}
	if c.Config != "" {
		j, err := from.FindJudge(e.Context, c.Config)
		if err != nil {
			return nil, err
		}
		q.Set("configId", j.ID)
	}
	if c.ConfigVersion != 0 {
		q.Set("configVersion", strconv.Itoa(c.ConfigVersion))
	}
	for name, f := range map[string]fraction{"minTpr": c.MinTPR, "minTnr": c.MinTNR, "minKappa": c.MinKappa} {
		q.Set(name, strconv.FormatFloat(float64(f), 'g', -1, 64))
	}
	for name, id := range map[string]string{"evaluationRunId": c.JudgedRun, "calibrationSetId": c.Dataset} {
		if id != "" {
			q.Set(name, id)
		}
	}
	return q, nil
}

func plainOutcome(outcome string) string { return strings.ReplaceAll(outcome, "_", " ") }
