package cli

import (
	"fmt"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type metricCommand struct {
	List metricListCommand `cmd:"" help:"List the metrics."`
	Show metricShowCommand `cmd:"" help:"Show a metric and its parameters."`
}

type metricListCommand struct {
	remote
	JSON bool `name:"json" help:"JSON output, as returned by the API."`
}

// Run prints the list.
func (c metricListCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c metricListCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	list, raw, err := metrics(e, from)
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	out := terminal.List{Heads: []string{"METRIC", "BETTER", "SUMMARY"}, Whole: true, Notes: []string{"assay metric show METRIC has the parameters."}}
	for _, m := range list.Metrics {
		summary := m.Summary
		if m.Judge {
			summary += " Needs a judge."
		}
		out.Rows = append(out.Rows, []string{m.Name, m.Better, summary})
	}
	return terminal.Detect(e.Out, e.Environ).List(e.Out, out)
}

func metrics(e *Environment, from *client.Client) (list api.EvaluationMetricList, raw []byte, err error) {
	raw, err = from.Call(func(k api.Client) (err error) {
		list, err = k.ListEvaluationMetrics(e.Context)
		return err
	})
	return list, raw, err
}

type metricShowCommand struct {
	Metric string `arg:"" help:"Name of the metric."`
	remote
}

// Run prints the metric.
func (c metricShowCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c metricShowCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	list, _, err := metrics(e, from)
	if err != nil {
		return err
	}
	var names []string
	for _, m := range list.Metrics {
		if m.Name == c.Metric {
			return printMetric(e, m)
		}
		names = append(names, m.Name)
	}
	return mistake("there is no metric %q%s", terminal.Text(c.Metric), meant(c.Metric, names, "`assay metric list` shows them"))
}

func printMetric(e *Environment, m api.EvaluationMetric) error {
	span := "unbounded"
	if m.Low != nil && m.High != nil {
		span = fmt.Sprintf("%g to %g", *m.Low, *m.High)
	} else if m.Low != nil {
		span = fmt.Sprintf("from %g", *m.Low)
	}
	if unit := api.Value(m.Unit); unit != "" {
		span += " " + unit
	}
	out := terminal.Sheet{Name: m.Name, Kind: m.Kind + " metric", Facts: []terminal.Fact{
		{Name: "measures", Value: m.Summary},
		{Name: "range", Value: span + ", " + m.Better + " is better"},
		{Name: "needs", Value: joined(m.Needs)},
		{Name: "no score", Value: m.Abstains},
	}}
	for _, p := range m.Parameters {
		said := p.Summary
		if p.Default != nil {
			said += fmt.Sprintf(" Default: %v.", p.Default)
		}
		out.Facts = append(out.Facts, terminal.Fact{Name: p.Name, Value: said})
	}
	return terminal.Detect(e.Out, e.Environ).Sheet(e.Out, out)
}
