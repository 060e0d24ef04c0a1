package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/cli/shown"
	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type judgeProbeCommand struct {
	judgeArg
	Kinds   []string      `name:"kind" sep:"," enum:"position,verbosity,formatting,self_preference,injection" help:"What to vary: position, verbosity, formatting, self_preference, injection (default: all that fit the judge)." placeholder:"KIND"`
	Dataset string        `help:"ID or name of the dataset whose outputs are judged (default: the newest results of the judge)." placeholder:"DATASET"`
	Size    int64         `default:"50" help:"Number of answers (default: 50)." placeholder:"N"`
	Attacks int64         `default:"60" help:"Number of attacks for injection (default: 60)." placeholder:"N"`
	Margin  fraction      `default:"0.05" help:"Largest difference of scores that does not matter (default: 0.05)." placeholder:"FRACTION"`
	Timeout time.Duration `default:"1h" help:"Maximum wait (default: 1h). 0 means no limit." placeholder:"TIME"`
	JSON    bool          `name:"json" help:"JSON output, as returned by the API."`
}

// Help is the text of --help above the flags.
func (judgeProbeCommand) Help() string {
	return `Judges the same answers as they are and changed in ways that should not matter, and shows whether the scores differ by more than a margin. The verdicts are paid like any others of the judge.

Exit codes: 0 probed, whatever was found, 1 the probe failed or was cancelled, 2 a mistake in the command line, a name or the key, 3 no response.

The key needs the scopes eval:read and eval:write.`
}

// Validate refuses numbers that the server does not take.
func (c judgeProbeCommand) Validate() error {
	switch {
	case c.Size < 2 || c.Size > 500:
		return fmt.Errorf("--size is %d, but must be from 2 to 500", c.Size)
	case c.Attacks < 1 || c.Attacks > 1000:
		return fmt.Errorf("--attacks is %d, but must be from 1 to 1000", c.Attacks)
	case c.Timeout < 0:
		return errors.New("--timeout must not be negative: use a duration such as 30m")
	}
	return c.Margin.within("margin", 0.0001, 0.5)
}

// Run probes the judge and prints what was found.
func (c judgeProbeCommand) Run(e *Environment) error { return unknown(c.run(e.guarded())) }

func (c judgeProbeCommand) run(e *Environment) error {
	from, j, err := c.find(e)
	if err != nil {
		return err
	}
	margin := float64(c.Margin)
	body := api.ProbeJudgeConfig{Kinds: c.Kinds, SampleSize: &c.Size, Attacks: &c.Attacks, Margin: &margin}
	if len(body.Kinds) == 0 {
		body.Kinds = []string{"verbosity", "formatting", "self_preference", "injection"}
		if j.Pairwise {
			body.Kinds = append([]string{"position"}, body.Kinds...)
		}
	}
	if c.Dataset != "" {
		d, _, err := from.FindDataset(e.Context, c.Dataset)
		if err != nil {
			return err
		}
		body.DatasetID = d.ID
	}
	p, raw, err := c.ended(e, from, j, body)
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(e, raw)
	} else {
		err = terminal.Detect(e.Out, e.Environ).Probe(e.Out, shown.Probe(j.Key, p))
	}
	if err == nil && p.Status != "completed" {
		return &ExitError{exitFailed, fmt.Errorf("probe %s is %s", p.ID, p.Status)}
	}
	return err
}

// probePause is how long a probe is left alone before it is looked at again.
const probePause = 500 * time.Millisecond

// ended starts a probe and waits for its end.
func (c judgeProbeCommand) ended(e *Environment, from *client.Client, j api.JudgeConfig, body api.ProbeJudgeConfig) (p api.JudgeProbe, raw jsontext.Value, err error) {
	started, err := from.Call(func(k api.Client) (err error) {
		p, err = k.ProbeJudgeConfig(e.Context, j.ID, body)
		return err
	})
	raw = started
	var late <-chan time.Time
	if c.Timeout > 0 {
		late = time.After(c.Timeout)
	}
	for err == nil && p.Status == "running" {
		select {
		case <-e.Context.Done():
			return p, nil, fmt.Errorf("interrupted; probe %s is still in progress: GET /api/llm-judge/probes/%s shows it", p.ID, p.ID)
		case <-late:
			return p, nil, fmt.Errorf("probe %s did not end within %s and is still in progress: GET /api/llm-judge/probes/%s shows it", p.ID, c.Timeout, p.ID)
		case <-time.After(probePause):
		}
		raw, err = from.Call(func(k api.Client) (err error) {
			p, err = k.GetJudgeProbe(e.Context, p.ID)
			return err
		})
	}
	return p, raw, err
}
