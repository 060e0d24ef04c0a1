package evaluation

import (
	"context"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/metric"
)

type metricsOutput struct {
	Body metricsBody
}

type metricsBody struct {
	Metrics []metricBody `json:"metrics" doc:"All metrics."`
}

type metricBody struct {
	Name       string          `json:"name" doc:"Name to use in an evaluation." example:"exact_match"`
	Summary    string          `json:"summary" doc:"What it measures."`
	Low        *float64        `json:"low" doc:"Lowest possible score; null if it is unbounded."`
	High       *float64        `json:"high" doc:"Highest possible score; null if it is unbounded."`
	Better     string          `json:"better" enum:"higher,lower" doc:"Which direction is better."`
	Kind       string          `json:"kind" enum:"binary,numeric" doc:"binary metrics score 0 or 1."`
	Unit       *string         `json:"unit" doc:"Unit of the score; null if it has none." example:"ms"`
	Overall    bool            `json:"overall" doc:"Whether it counts in an item's overall score."`
	Judge      bool            `json:"judge" doc:"Whether it needs a judge."`
	Needs      []string        `json:"needs" enum:"input,expected_output,output,context,tool_calls,assertions,duration,cost" doc:"What an item or its output must have."`
	Abstains   string          `json:"abstains" doc:"When the metric gives no score."`
	Parameters []parameterBody `json:"parameters" doc:"Parameters that metricParams can set."`
}

type parameterBody struct {
	Name    string       `json:"name" doc:"Name of the parameter."`
	Summary string       `json:"summary" doc:"What it does."`
	Type    string       `json:"type" enum:"string,strings,number,boolean,object,list,any" doc:"Type of the value; strings is a list of strings or one string."`
	Default httpapi.JSON `json:"default" doc:"Value if it is not set; null if there is none."`
	Enum    []string     `json:"enum" doc:"Allowed values; empty if any are."`
	Minimum *float64     `json:"minimum" doc:"Lowest allowed value; null if it is unbounded."`
	Maximum *float64     `json:"maximum" doc:"Highest allowed value; null if it is unbounded."`
}

func (s *Service) getMetrics(context.Context, *struct{}) (*metricsOutput, error) {
	out := &metricsOutput{Body: metricsBody{Metrics: []metricBody{}}}
	for _, d := range s.metrics.All() {
		out.Body.Metrics = append(out.Body.Metrics, toMetricBody(d))
	}
	return out, nil
}

func toMetricBody(d metric.Definition) metricBody {
	b := metricBody{
		Name: d.Name, Summary: d.Summary, Low: d.Low, High: d.High, Better: string(d.Better), Kind: string(d.Kind), Unit: httpapi.OrNull(d.Unit),
		Overall: d.Overall, Judge: d.Judge, Abstains: d.Abstains, Needs: []string{}, Parameters: []parameterBody{},
	}
	for _, n := range d.Needs {
		b.Needs = append(b.Needs, string(n))
	}
	for _, p := range d.Parameters {
		b.Parameters = append(b.Parameters, parameterBody{
			Name: p.Name, Summary: p.Summary, Type: string(p.Type), Default: httpapi.JSON(p.Default), Enum: httpapi.OrEmpty(p.Enum), Minimum: p.Minimum, Maximum: p.Maximum,
		})
	}
	return b
}
