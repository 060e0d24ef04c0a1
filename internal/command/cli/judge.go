package cli

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type judgeCommand struct {
	List       judgeListCommand  `cmd:"" help:"List judges."`
	Try        judgeTryCommand   `cmd:"" help:"Have a judge rate one answer."`
	Align      judgeAlignCommand `cmd:"" help:"Show how well judges agree with people."`
	NextLabels judgeNextCommand  `cmd:"" help:"Suggest answers for people to label."`
	Probe      judgeProbeCommand `cmd:"" help:"Test a judge for bias."`
}

type judgeListCommand struct {
	remote
	Search string `help:"Only judges whose name contains this text." placeholder:"TEXT"`
	listFlags
}

// Run prints the list.
func (c judgeListCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c judgeListCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	q := c.query()
	if c.Search != "" {
		q.Set("search", c.Search)
	}
	var list api.JudgeConfigList
	raw, err := from.Call(func(k api.Client) (err error) {
		list, err = k.ListJudgeConfigs(e.Context, q)
		return err
	})
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	out := terminal.List{
		Heads: []string{"KEY", "ID", "VERSION", "STATUS", "SCALE", "MODEL", "NAME"}, Right: map[int]bool{1: true, 2: true}, Whole: true, Notes: more(list.HasMore),
		Empty: "There are no judges. Create one with POST /api/llm-judge/configs; GET /api/llm-judge/starters lists judges to start from.",
	}
	if c.Search != "" {
		out.Empty = fmt.Sprintf("The name of no judge contains %q.", c.Search)
	}
	for _, j := range list.Configs {
		out.Rows = append(out.Rows, []string{j.Key, j.ID, strconv.FormatInt(j.ConfigVersion, 10), j.Status, j.Scale.Type, j.Provider + ":" + j.Model, j.Name})
	}
	return terminal.Detect(e.Out, e.Environ).List(e.Out, out)
}

// judgeArg names a judge.
type judgeArg struct {
	Config string `arg:"" help:"ID or key of the judge."`
	remote
}

func (a judgeArg) find(e *Environment) (from *client.Client, found api.JudgeConfig, err error) {
	if from, err = a.client(e); err == nil {
		found, err = from.FindJudge(e.Context, a.Config)
	}
	return from, found, err
}

type judgeNextCommand struct {
	judgeArg
	JudgedRun string `name:"run" help:"Run whose answers are to be labelled (default: the one that the judge rated last)." placeholder:"RUN"`
	Size      int    `default:"20" help:"Number of answers (default: 20)." placeholder:"N"`
	JSON      bool   `name:"json" help:"JSON output, as returned by the API."`
}

// Help is the text of --help above the flags.
func (judgeNextCommand) Help() string {
	return `Lists answers of a run that people have not labelled, in a random order that does not change. Label them from the beginning and set labelSampling of the judge to random: the labels then correct the judge's mean. Labels of answers that somebody picked do not.

` + codes + `

The key needs the scope eval:read.`
}

// Validate refuses numbers that the server does not take.
func (c judgeNextCommand) Validate() error {
	if c.Size < 1 || c.Size > 500 {
		return fmt.Errorf("--size is %d, but must be from 1 to 500", c.Size)
	}
	return nil
}

// Run prints the answers.
func (c judgeNextCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c judgeNextCommand) run(e *Environment) error {
	from, j, err := c.find(e)
	if err != nil {
		return err
	}
	run := c.JudgedRun
	if run == "" {
		if run, err = from.LastJudgedRun(e.Context, j.ID); err != nil {
			return err
		}
	}
	if run == "" {
		return mistake("%s has rated no run: use the metric judge:%s in an evaluation and start a run, or name a run with --run", j.Key, j.Key)
	}
	var next api.JudgeNextLabels
	raw, err := from.Call(func(k api.Client) (err error) {
		next, err = k.ListJudgeNextLabels(e.Context, j.ID, url.Values{"evaluationRunId": {run}, "size": {strconv.Itoa(c.Size)}})
		return err
	})
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	values := "a number"
	if len(next.Labels) > 0 {
		values = joined(next.Labels)
	}
	out := terminal.List{
		Heads: []string{"ITEM", "DATASET", "REPETITION", "RESULT"}, Right: map[int]bool{0: true, 1: true, 2: true, 3: true}, Whole: true,
		Empty: fmt.Sprintf("Run %s has no answer without a label that version %d of %s has rated.", terminal.Text(run), j.ConfigVersion, j.Key),
		Notes: []string{
			fmt.Sprintf("Run %s: %s labelled, %s left. Label them in this order; the label is %s: %s.", terminal.Text(run), terminal.Number(int(next.Labelled)), terminal.Number(int(next.Left)), next.LabelKey, values),
		},
	}
	if j.LabelSampling != "random" {
		out.Notes = append(out.Notes, "The judge's labelSampling is "+j.LabelSampling+": labels correct its mean only if it is random.")
	}
	for _, n := range next.Next {
		epoch := ""
		if n.Epoch != nil {
			epoch = strconv.FormatInt(*n.Epoch+1, 10)
		}
		out.Rows = append(out.Rows, []string{api.Value(n.TestCaseID), api.Value(n.DatasetID), epoch, n.ResultID})
	}
	return terminal.Detect(e.Out, e.Environ).List(e.Out, out)
}
