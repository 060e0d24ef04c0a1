package judge

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/report"
	"github.com/assayhq/assay/internal/measure/stat"
)

func (s *Service) registerPage(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "getJudgeAlignmentReport", Method: http.MethodGet, Path: "/api/llm-judge/configs/{id}/alignment/report", Tag: tag, Scope: principal.EvalRead, Status: 200,
		ContentType: "text/html",
		Summary:     "Get a judge's alignment as a page",
		Description: "Returns the alignment of a judge with people as one web page that needs neither a key nor a network: confusion matrix, calibration curve, corrected figures, routing threshold, disagreements and the number of labels that are missing. " +
			"It contains text from your applications, so a browser that displays it is kept from running scripts in it.",
	}, s.getAlignmentPage)
}

type alignmentPageInput struct {
	Path
	AlignmentFilter
}

func (s *Service) getAlignmentPage(ctx context.Context, in *alignmentPageInput) (*httpapi.Stream, error) {
	id, err := in.Number()
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	c, err := s.Find(ctx, org, id)
	if err != nil {
		return nil, err
	}
	v, err := s.versionOf(ctx, org, c, in.ConfigVersion)
	if err != nil {
		return nil, err
	}
	a := Alignment{Config: c, Version: v, Thresholds: in.thresholds(), MeasuredAt: s.now()}
	sel, possible := in.selection()
	if possible {
		if a, err = s.Align(ctx, org, c, v, sel, in.thresholds()); err != nil {
			return nil, err
		}
	} else if err := a.measure(nil); err != nil {
		return nil, err
	} else {
		a.decide()
	}
	seen, err := s.toReport(ctx, org, a, in.Split)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := report.WriteAlignment(&page, seen); err != nil {
		return nil, fmt.Errorf("write the alignment of judge %d: %w", id, err)
	}
	headers := map[string]string{
		"Content-Type":                 "text/html; charset=utf-8",
		"Content-Length":               strconv.Itoa(page.Len()),
		"Content-Disposition":          mime.FormatMediaType("attachment", map[string]string{"filename": "alignment-" + c.Key + ".html"}),
		"Content-Security-Policy":      httpapi.Sealed,
		"Cross-Origin-Resource-Policy": "same-origin",
	}
	return httpapi.NewStream(ctx, headers, func(w io.Writer) error {
		_, err := page.WriteTo(w)
		return err
	}), nil
}

// toReport is an alignment as its page shows it, with the texts of disagreements.
func (s *Service) toReport(ctx context.Context, org principal.OrgID, a Alignment, split string) (report.Alignment, error) {
	spec := a.Version.Spec
	out := report.Alignment{
		Name: a.Config.Name, Key: a.Config.Key, Model: spec.Provider + ":" + spec.Model, Version: a.Version.Number, MeasuredAt: a.MeasuredAt,
		LabelKey: a.Config.LabelKey, Random: a.Config.Sampling == SamplingRandom, Split: split, MinSamples: a.Thresholds.MinSamples,
		Judged: a.Judged, Labelled: a.Labelled, Divided: a.Divided, Abstained: a.Abstained, Failed: a.Failed, Truncated: a.Truncated,
		Passes: a.Passes, Labels: a.Labels, Scores: a.Scores, Ceiling: a.Ceiling, Replace: a.Replace, Corrected: a.Corrected, PassRate: a.PassRate,
		Calibration: a.Calibration, Route: a.Route, Outcome: a.Outcome, MoreLabels: a.MoreLabels,
	}
	for _, r := range a.Rulings {
		out.Rulings = append(out.Rulings, report.Ruling(r))
	}
	if len(a.points) > 0 {
		chances := make([]correction.Chance, len(a.points))
		for i, p := range a.points {
			chances[i] = correction.Chance{Cluster: p.Cluster, Probability: p.Score, Good: p.Good}
		}
		check, err := correction.CheckChances(chances, stat.Options{Seed: stat.Seed{Resource: a.Config.Metric()}})
		if err != nil {
			return out, err
		}
		out.Curve = check.Reliability
	}
	shown := a.Disagreements[:min(len(a.Disagreements), report.MaxDisagreements)]
	items, err := s.itemsOf(ctx, org, shown)
	if err != nil {
		return out, err
	}
	j := Judge{Version: a.Version}
	out.Hidden = len(a.Disagreements) - len(shown)
	for _, d := range shown {
		b := toDisagreement(d)
		one := report.Disagreement{Item: "result " + strconv.FormatInt(d.ID, 10), People: b.Human, Judge: b.Judge, Reasoning: d.Reasoning, Input: d.Input, Output: d.Output}
		switch {
		case b.TestCaseID != nil:
			one.Item = "item " + *b.TestCaseID + " of run " + *b.EvaluationRunID
			if i, ok := items[itemOf(d.Result)]; ok {
				one.Input, one.Expected = i.Content.Input, i.Content.ExpectedOutput
				if j.Prompt(CaseOf(i, i.Content.Output)) == d.Prompt { // else the judge saw another answer
					one.Output = i.Content.Output
				}
			}
		case b.TraceID != nil:
			one.Item = "trace " + *b.TraceID
		}
		out.Disagreements = append(out.Disagreements, one)
	}
	return out, nil
}
