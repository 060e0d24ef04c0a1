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
	Metrics []metricBody `json:"metrics"`
}

type metricBody struct {
	Name       string          `json:"name"`
	Summary    string          `json:"summary"`
	Low        *float64        `json:"low" nullable:"true"`
	High       *float64        `json:"high" nullable:"true"`
	Better     string          `json:"better" enum:"higher,lower"`
	Kind       string          `json:"kind" enum:"binary,numeric"`
	Unit       string          `json:"unit,omitempty"`
	Overall    bool            `json:"overall" doc:"Whether it counts in an item's overall score."`
	Judge      bool            `json:"judge" doc:"Whether it needs a judge."`
	Needs      []string        `json:"needs"`
	Abstains   string          `json:"abstains" doc:"When there is no score."`
	Parameters []parameterBody `json:"parameters"`
}

type parameterBody struct {
	Name    string       `json:"name"`
	Summary string       `json:"summary"`
	Type    string       `json:"type"`
	Default httpapi.JSON `json:"default,omitzero"`
	Enum    []string     `json:"enum,omitempty"`
	Minimum *float64     `json:"minimum,omitempty"`
	Maximum *float64     `json:"maximum,omitempty"`
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
		Name: d.Name, Summary: d.Summary, Low: d.Low, High: d.High, Better: string(d.Better), Kind: string(d.Kind), Unit: d.Unit,
		Overall: d.Overall, Judge: d.Judge, Abstains: d.Abstains, Needs: []string{}, Parameters: []parameterBody{},
	}
	for _, n := range d.Needs {
		b.Needs = append(b.Needs, string(n))
	}
	for _, p := range d.Parameters {
		b.Parameters = append(b.Parameters, parameterBody{
			Name: p.Name, Summary: p.Summary, Type: string(p.Type), Default: httpapi.JSON(p.Default), Enum: p.Enum, Minimum: p.Minimum, Maximum: p.Maximum,
		})
	}
	return b
}
