package cli

import (
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/cli/shown"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type judgeTryCommand struct {
	judgeArg
	Input    string `required:"" help:"What the application was given: text, or @FILE." placeholder:"TEXT"`
	Output   string `required:"" help:"The answer to rate: text, or @FILE." placeholder:"TEXT"`
	Expected string `help:"What a good answer is: text, or @FILE." placeholder:"TEXT"`
	Material string `name:"context" help:"Retrieved or given context: text, or @FILE." placeholder:"TEXT"`
	JSON     bool   `name:"json" help:"JSON output, as returned by the API."`
}

// Help is the text of --help above the flags.
func (judgeTryCommand) Help() string {
	return `Asks the judge's model, which may cost money, and records the result. The content of a file whose name ends in .json is sent as JSON, of any other as text; @- is standard input.

Exit codes: 0 the judge gave a verdict, whatever it is, 1 it abstained or failed, 2 a mistake in the command line, a name or the key, 3 no response.

The key needs the scopes eval:read and eval:write.`
}

// Run asks the judge.
func (c judgeTryCommand) Run(e *Environment) error { return unknown(c.run(e.guarded())) }

func (c judgeTryCommand) run(e *Environment) error {
	asked := api.EvaluateWithJudge{}
	for _, part := range []struct {
		said string
		to   *any
	}{{c.Input, &asked.Input}, {c.Output, &asked.Output}, {c.Expected, &asked.ExpectedOutput}, {c.Material, &asked.Context}} {
		var err error
		if *part.to, err = e.material(part.said); err != nil {
			return err
		}
	}
	from, j, err := c.find(e)
	if err != nil {
		return err
	}
	asked.ConfigID = j.ID
	var got api.JudgeResult
	raw, err := from.Call(func(k api.Client) (err error) {
		got, err = k.EvaluateWithJudge(e.Context, asked)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(e, raw)
	} else {
		err = terminal.Detect(e.Out, e.Environ).Judgement(e.Out, shown.Judgement(got))
	}
	if err == nil && got.Status != "completed" {
		err = &ExitError{Code: exitFailed}
	}
	return err
}

// maxMaterial is more than the server takes.
const maxMaterial = 8 << 20

// material is what a flag says: itself, or what is in a file; nil without the flag.
func (e *Environment) material(said string) (any, error) {
	name, isFile := strings.CutPrefix(said, "@")
	if !isFile {
		if said == "" {
			return nil, nil //nolint:nilnil // there is none, which is an answer
		}
		return said, nil
	}
	f, err := e.open(name)
	if err != nil {
		return nil, mistake("the material cannot be read: %w", err)
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, maxMaterial))
	if err != nil {
		return nil, mistake("the material cannot be read: %w", err)
	}
	if !strings.HasSuffix(name, ".json") {
		return string(content), nil
	}
	if value := jsontext.Value(content); value.IsValid() {
		return value, nil
	}
	return nil, mistake("%s is not valid JSON: correct it, or give it another ending to send it as text", terminal.Text(name))
}
