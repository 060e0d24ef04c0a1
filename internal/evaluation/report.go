package evaluation

import (
	"bytes"
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/artifact"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/figure"
	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/plan"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/report"
	"github.com/assayhq/assay/internal/stat"
)

// writeReport writes the report of a run.
func (s *Service) writeReport(ctx context.Context, org principal.OrgID, e Evaluation, r Run, metrics []report.Metric, found *report.Findings, c *Comparison) error {
	compared, err := s.toReportComparison(ctx, org, r, c)
	if err != nil {
		return err
	}
	var rows func(string) ([]stat.Row, error)
	if found.WantsRows() {
		done, err := s.mayRead(ctx, r)
		if err != nil {
			return err
		}
		defer done()
		of, err := s.readSide(ctx, org, r)
		if err != nil {
			return err
		}
		rows = func(name string) ([]stat.Row, error) { return s.metricRows(ctx, org, of, name) }
	}
	var page bytes.Buffer
	if err := report.Write(&page, toReportRun(e, r, metrics), found, compared, rows); err != nil {
		return err
	}
	f := s.artifacts.Create(ctx, org, r.Evaluation, r.ID, artifact.KindReport, "report.html", "text/html; charset=utf-8")
	if _, err := f.Write(page.Bytes()); err != nil {
		return err
	}
	return f.Close()
}

func toReportRun(e Evaluation, r Run, metrics []report.Metric) report.Run {
	o := r.Outcome
	out := report.Run{
		Name: e.Name, ID: r.ID, Status: string(r.Status), StartedAt: r.StartedAt, Completed: r.Completed, Target: targetText(r.Request.Plan.Target),
		Environment: r.Request.Environment, ReleaseID: r.Request.ReleaseID, ClusterKey: r.Request.ClusterKey, Repetitions: r.Request.Repetitions,
		Sampled: r.Request.SampleSize > 0, Passing: toPassing(r.Request.Plan.PassRule), Metrics: metrics,
		Outcome: report.Outcome{
			Items: o.Items, Passed: o.Passed, Failed: o.Failed, Errored: o.Errored, Skipped: o.Skipped, Calls: o.Calls, InputTokens: o.InputTokens,
			OutputTokens: o.OutputTokens, CostNanoUSD: o.CostNanoUSD,
			Statistics: report.Statistics{
				Overall: o.Statistics.Overall, PassRate: o.Statistics.PassRate, Metrics: o.Statistics.Metrics, Resolution: o.Statistics.Resolution,
			},
		},
	}
	for _, one := range o.Statistics.Repeated {
		out.Outcome.Statistics.Repeated = append(out.Outcome.Statistics.Repeated, report.Repeated(one))
	}
	if r.Error != nil {
		out.Problem = r.Error.Message
	}
	if d := r.Resolved; d != nil {
		out.Data = &report.Data{Dataset: d.Dataset, Version: d.Version, VersionDigest: d.VersionDigest, Items: d.Items, Seed: d.Seed, ConfigDigest: d.ConfigDigest}
	}
	return out
}

func toReportMetrics(definitions []metric.Definition) []report.Metric {
	all := make([]report.Metric, len(definitions))
	for i, d := range definitions {
		all[i] = report.Metric{Definition: d, Range: figure.Range(d)}
	}
	return all
}

func targetText(t plan.Target) string {
	switch t.Type {
	case plan.TargetModel:
		return "model " + t.Model
	case plan.TargetHTTP:
		return "application over HTTP"
	case plan.TargetClient:
		return "results sent by a client"
	default:
		return "recorded outputs"
	}
}

func toPassing(p plan.PassRule) report.Passing {
	out := report.Passing{MinOverall: plan.DefaultMinOverall, Any: p.Mode == plan.PassAny}
	if p.MinOverall != nil {
		out.MinOverall = *p.MinOverall
	}
	if p.Mode != plan.PassWeighted {
		out.Thresholds = p.Thresholds
	}
	return out
}

func toReportResult(r plan.Result) report.Result {
	out := report.Result{
		Item: r.Outcome.Item, Epoch: r.Epoch, Status: string(r.Status), Overall: r.Overall, Priced: r.CostNanoUSD != nil, Cluster: r.Cluster, Split: r.Item.Split,
		Input: r.Item.Content.Input, Expected: r.Item.Content.ExpectedOutput, Output: r.Output, ErrorCode: r.ErrorCode, ErrorMessage: r.ErrorMessage,
		Scores: make([]report.Score, len(r.Scores)),
	}
	for i, sc := range r.Scores {
		out.Scores[i] = report.Score(sc)
	}
	return out
}

func toReportCompared(c figure.Compared) report.Compared {
	return report.Compared{Name: c.Name, Better: c.Better, Role: string(c.Role), Comparison: c.Comparison}
}

// toReportComparison adds the inputs of the regressions that the report shows.
func (s *Service) toReportComparison(ctx context.Context, org principal.OrgID, r Run, c *Comparison) (*report.Comparison, error) {
	if c == nil {
		return nil, nil
	}
	out := &report.Comparison{
		Baseline: c.Baseline.ID, Margin: c.Margin, Overall: toReportCompared(c.Overall), PassRate: toReportCompared(c.PassRate), Items: report.Changes(c.Items), Reasons: c.Reasons,
	}
	for _, m := range c.Metrics {
		out.Metrics = append(out.Metrics, toReportCompared(m))
	}
	shown := c.Regressions[:min(len(c.Regressions), report.MaxRegressions)]
	ids := make([]int64, len(shown))
	for i, one := range shown {
		ids[i] = one.Item
	}
	inputs := make(map[int64]jsontext.Value, len(ids))
	err := s.eachItem(ctx, org, r.Resolved.Dataset, r.Resolved.Version, ids, func(item dataset.Item) bool {
		inputs[item.ID] = item.Content.Input
		return true
	})
	if err != nil {
		return nil, err
	}
	for _, one := range shown {
		w := report.Regression{
			Item: one.Item, Delta: one.Delta, ByPass: one.ByPass, Baseline: report.ItemScores{Overall: one.Baseline.Overall, PassRate: one.Baseline.PassRate},
			Candidate: report.ItemScores{Overall: one.Candidate.Overall, PassRate: one.Candidate.PassRate}, Input: inputs[one.Item],
		}
		out.Regressions = append(out.Regressions, w)
	}
	return out, nil
}
