package scoring

import (
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/metric"
)

// MetricsBody is the list of metrics on the wire.
type MetricsBody struct {
	Metrics []MetricBody `json:"metrics" doc:"All metrics."`
}

// MetricBody is a metric on the wire.
type MetricBody struct {
	Name       string          `json:"name" doc:"Name to use in an evaluation." example:"exact_match"`
	Summary    string          `json:"summary" doc:"What it measures."`
	Low        *float64        `json:"low" doc:"Lowest possible score; null if it is unbounded."`
	High       *float64        `json:"high" doc:"Highest possible score; null if it is unbounded."`
	Better     string          `json:"better" enum:"higher,lower" doc:"Which direction is better."`
	Kind       string          `json:"kind" enum:"binary,numeric" doc:"binary metrics score 0 or 1."`
	Unit       *string         `json:"unit" doc:"Unit of the score; null if it has none." example:"ms"`
	Overall    bool            `json:"overall" doc:"Whether it counts in an item's overall score."`
	Judge      bool            `json:"judge" doc:"Whether it needs a judge."`
	Needs      []string        `json:"needs" enum:"input,expected_output,output,context,tool_calls,assertions,duration,cost,effects" doc:"What an item or its output must have."`
	Abstains   string          `json:"abstains" doc:"When the metric gives no score."`
	Parameters []ParameterBody `json:"parameters" doc:"Parameters that metricParams can set."`
}

// ParameterBody is a parameter of a metric on the wire.
type ParameterBody struct {
	Name    string       `json:"name" doc:"Name of the parameter."`
	Summary string       `json:"summary" doc:"What it does."`
	Type    string       `json:"type" enum:"string,strings,number,boolean,object,list,any" doc:"Type of the value; strings is a list of strings or one string."`
	Default httpapi.JSON `json:"default" doc:"Value if it is not set; null if there is none."`
	Enum    []string     `json:"enum" doc:"Allowed values; empty if any are."`
	Minimum *float64     `json:"minimum" doc:"Lowest allowed value; null if it is unbounded."`
	Maximum *float64     `json:"maximum" doc:"Highest allowed value; null if it is unbounded."`
}

// ToMetrics shows metrics.
func ToMetrics(all []metric.Definition) MetricsBody {
	out := MetricsBody{Metrics: []MetricBody{}}
	for _, d := range all {
		out.Metrics = append(out.Metrics, toMetricBody(d))
	}
	return out
}

func toMetricBody(d metric.Definition) MetricBody {
	b := MetricBody{
		Name: d.Name, Summary: d.Summary, Low: d.Low, High: d.High, Better: string(d.Better), Kind: string(d.Kind), Unit: httpapi.OrNull(d.Unit),
		Overall: d.Overall, Judge: d.Judge, Abstains: d.Abstains, Needs: []string{}, Parameters: []ParameterBody{},
	}
	for _, n := range d.Needs {
		b.Needs = append(b.Needs, string(n))
	}
	for _, p := range d.Parameters {
		b.Parameters = append(b.Parameters, ParameterBody{
			Name: p.Name, Summary: p.Summary, Type: string(p.Type), Default: httpapi.JSON(p.Default), Enum: httpapi.OrEmpty(p.Enum), Minimum: p.Minimum, Maximum: p.Maximum,
		})
	}
	return b
}
