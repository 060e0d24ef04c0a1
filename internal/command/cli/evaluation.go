package cli

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type evaluationCommand struct {
	List   evaluationListCommand   `cmd:"" help:"List evaluations."`
	Show   evaluationShowCommand   `cmd:"" help:"Show an evaluation."`
	Create evaluationCreateCommand `cmd:"" help:"Create an evaluation."`
	Delete evaluationDeleteCommand `cmd:"" help:"Delete an evaluation and its runs."`
}

type evaluationListCommand struct {
	remote
	Search string `help:"Only evaluations whose name contains this text." placeholder:"TEXT"`
	listFlags
}

// Run prints the list.
func (c evaluationListCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c evaluationListCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	q := c.query()
	if c.Search != "" {
		q.Set("search", c.Search)
	}
	var list api.EvaluationList
	raw, err := from.Call(func(k api.Client) (err error) {
		list, err = k.ListEvaluations(e.Context, q)
		return err
	})
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	out := terminal.List{
		Heads: []string{"NAME", "ID", "STATUS", "OVERALL", "LATEST RUN", "UPDATED"}, Right: map[int]bool{1: true, 3: true, 4: true},
		Empty: empty("evaluation", c.Search, "NAME --dataset DATASET --metric METRIC"), Notes: more(list.HasMore),
	}
	for _, v := range list.Evaluations {
		out.Rows = append(out.Rows, []string{v.Name, v.ID, v.Status, terminal.Score(v.Overall), api.Value(v.LatestRunID), terminal.Moment(v.UpdatedAt)})
	}
	return terminal.Detect(e.Out, e.Environ).List(e.Out, out)
}

type evaluationShowCommand struct {
	evaluationArg
	JSON bool `name:"json" help:"JSON output, as returned by the API."`
}

// Run prints the evaluation.
func (c evaluationShowCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c evaluationShowCommand) run(e *Environment) error {
	from, found, err := c.find(e)
	if err != nil {
		return err
	}
	var whole api.Evaluation
	raw, err := from.Call(func(k api.Client) (err error) {
		whole, err = k.GetEvaluation(e.Context, found.ID)
		return err
	})
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	return printEvaluation(e, whole)
}

func printEvaluation(e *Environment, v api.Evaluation) error {
	dataset := v.DatasetID
	if v.DatasetVersion != nil {
		dataset += ", version " + integer(v.DatasetVersion)
	}
	out := terminal.Sheet{Name: v.Name, Kind: "evaluation " + v.ID, Facts: []terminal.Fact{
		{Name: "dataset", Value: dataset},
		{Name: "target", Value: targetText(v.Target)},
		{Name: "metrics", Value: joined(v.MetricNames)},
		{Name: "passes", Value: ruleText(v.PassRule)},
		{Name: "status", Value: v.Status},
		{Name: "latest run", Value: api.Value(v.LatestRunID)},
		{Name: "pinned run", Value: api.Value(v.BaselineRunID)},
		{Name: "description", Value: api.Value(v.Description)},
		{Name: "tags", Value: joined(v.Tags)},
		{Name: "created", Value: terminal.Moment(v.CreatedAt)},
	}}
	for _, w := range v.Warnings {
		out.Notes = append(out.Notes, "! "+w.Message)
	}
	if len(v.Warnings) == 0 && v.LatestRunID == nil {
		out.Notes = append(out.Notes, "assay run "+v.ID+" --wait")
	}
	return terminal.Detect(e.Out, e.Environ).Sheet(e.Out, out)
}

func targetText(t api.Target) string {
	switch t.Type {
	case "recorded":
		return "recorded: the outputs of the items"
	case "client":
		return "client: results are sent with the API"
	case "http":
		return "http: " + api.Value(t.URL)
	}
	return fmt.Sprintf("model: %s %s", api.Value(t.Provider), api.Value(t.Model))
}

func ruleText(r api.PassRule) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.MetricThresholds)) {
		parts = append(parts, fmt.Sprintf("%s at least %g", name, r.MetricThresholds[name]))
	}
	if r.MinOverall != nil {
		parts = append(parts, fmt.Sprintf("overall at least %g", *r.MinOverall))
	}
	return strings.Join(parts, ", ")
}

type evaluationCreateCommand struct {
	Name string `arg:"" optional:"" help:"Name of the evaluation."`
	remote
	Dataset     string   `help:"ID or name of the dataset." placeholder:"DATASET"`
	Metric      []string `help:"Metric; repeatable. assay metric list shows them." placeholder:"NAME"`
	External    []string `name:"external-metric" help:"Metric of your own, from 0 to 1, whose scores you send with the API, or NAME=URL of the service that makes them; repeatable." placeholder:"NAME"`
	Target      string   `help:"URL of the application that answers." placeholder:"URL"`
	Model       string   `help:"Model that answers: a provider key and a model, such as 1:gpt-4.1, or simulated:echo." placeholder:"KEY:MODEL"`
	Prompt      string   `help:"With --model: prompt, such as 'Answer: {{input}}'." placeholder:"TEXT"`
	Client      bool     `help:"Results are sent with the API."`
	MinOverall  *float64 `help:"Overall score from which an item passes, such as 0.8." placeholder:"SCORE"`
	Description string   `help:"Description." placeholder:"TEXT"`
	File        string   `help:"File with the whole body of POST /api/evaluations, instead of the other flags; - is standard input." placeholder:"FILE"`
	JSON        bool     `name:"json" help:"JSON output, as returned by the API."`
}

// Help is the text of --help above the flags.
func (evaluationCreateCommand) Help() string {
	return `Without --target, --model and --client, the outputs recorded in the items are measured. Names that do not exist are refused.

` + codes + `

The key needs the scopes eval:read and eval:write.`
}

// Validate refuses flags that do not fit.
func (c evaluationCreateCommand) Validate() error {
	targets := 0
	for _, given := range []bool{c.Target != "", c.Model != "", c.Client} {
		if given {
			targets++
		}
	}
	switch {
	case c.File != "":
		if c.Name != "" || c.Dataset != "" || len(c.Metric)+len(c.External)+targets > 0 {
			return errors.New("--file has the whole evaluation: leave out the name and the other flags")
		}
	case c.Name == "":
		return errors.New("the name of the evaluation is missing: add it, or use --file")
	case c.Dataset == "":
		return errors.New("--dataset is missing: add the ID or name of a dataset; `assay dataset list` shows them")
	case len(c.Metric) == 0:
		return errors.New("--metric is missing: add one such as --metric=exact_match; `assay metric list` shows them")
	case targets > 1:
		return errors.New("--target, --model and --client exclude each other: use one of them")
	case c.Prompt != "" && c.Model == "":
		return errors.New("--prompt needs --model, the model that it is for")
	case c.Model != "" && !strings.Contains(c.Model, ":"):
		return fmt.Errorf("--model=%s has no provider key: use KEY:MODEL, such as 1:gpt-4.1 or simulated:echo", c.Model)
	}
	return nil
}

// Run creates the evaluation.
func (c evaluationCreateCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c evaluationCreateCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	body, err := c.body(e, from)
	if err != nil {
		return err
	}
	var made api.Evaluation
	raw, err := from.Call(func(k api.Client) (err error) {
		made, err = k.CreateEvaluation(e.Context, url.Values{"strict": {"true"}}, body)
		return err
	})
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	return printEvaluation(e, made)
}

// body is the evaluation that the flags describe.
func (c evaluationCreateCommand) body(e *Environment, from *client.Client) (body api.CreateEvaluation, err error) {
	if c.File != "" {
		return readEvaluation(e, c.File)
	}
	d, _, err := from.FindDataset(e.Context, c.Dataset)
	if err != nil {
		return body, err
	}
	if err := checkMetrics(e, from, c.Metric); err != nil {
		return body, err
	}
	body = api.CreateEvaluation{Name: c.Name, DatasetID: d.ID, Metrics: c.Metric, Description: text(c.Description)}
	for _, given := range c.External {
		name, service, ok := strings.Cut(given, "=")
		own := api.DeclareExternalMetric{Name: name}
		if ok {
			own.Endpoint = &api.ScoreEndpointInput{URL: service}
		}
		body.ExternalMetrics = append(body.ExternalMetrics, own)
	}
	if c.MinOverall != nil {
		body.PassRule = &api.PassRuleInput{MinOverall: c.MinOverall}
	}
	switch key, model, _ := strings.Cut(c.Model, ":"); {
	case c.Target != "":
		body.Target = &api.TargetInput{Type: "http", URL: &c.Target}
	case c.Client:
		body.Target = &api.TargetInput{Type: "client"}
	case key == "simulated":
		body.Target = &api.TargetInput{Type: "model", Provider: &key, Model: &model, Prompt: text(c.Prompt)}
	case c.Model != "":
		p, _, err := from.FindProviderKey(e.Context, key)
		if err != nil {
			return body, err
		}
		body.Target = &api.TargetInput{Type: "model", ProviderKeyID: strconv.FormatInt(p.ID, 10), Model: &model, Prompt: text(c.Prompt)}
	}
	return body, nil
}

// checkMetrics refuses names of metrics that do not exist, and says which was
// probably meant.
func checkMetrics(e *Environment, from *client.Client, names []string) error {
	list, _, err := metrics(e, from)
	if err != nil {
		return err
	}
	var all []string
	for _, m := range list.Metrics {
		all = append(all, m.Name)
	}
	for _, name := range names {
		if strings.HasPrefix(name, "judge:") {
			continue // the server knows the judges of the organization
		}
		if !slices.Contains(all, name) {
			return mistake("--metric=%s: there is no such metric%s", name, meant(name, all, "`assay metric list` shows them"))
		}
	}
	return nil
}

// readEvaluation reads the body of an evaluation. Fields that it does not have
// are refused.
func readEvaluation(e *Environment, file string) (body api.CreateEvaluation, err error) {
	in, err := e.open(file)
	if err != nil {
		return body, mistake("the evaluation cannot be read: %w", err)
	}
	defer func() { _ = in.Close() }()
	if err := json.UnmarshalRead(in, &body, json.RejectUnknownMembers(true)); err != nil {
		return body, mistake("%s is not an evaluation: write the body of POST /api/evaluations (%w)", file, err)
	}
	return body, nil
}

type evaluationDeleteCommand struct {
	evaluationArg
	Yes bool `help:"Confirmation: the evaluation and its runs are removed."`
}

// Run deletes the evaluation.
func (c evaluationDeleteCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c evaluationDeleteCommand) run(e *Environment) error {
	from, found, err := c.find(e)
	if err != nil {
		return err
	}
	if !c.Yes {
		return mistake("evaluation %s %q and its runs would be deleted: repeat with --yes", found.ID, terminal.Text(found.Name))
	}
	if _, err := from.Call(func(k api.Client) error {
		_, err := k.DeleteEvaluation(e.Context, found.ID)
		return err
	}); err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "evaluation %s %q is deleted\n", found.ID, terminal.Text(found.Name))
	return nil
}
