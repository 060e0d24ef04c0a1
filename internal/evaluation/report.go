package evaluation

import (
	"bytes"
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/artifact"
	"github.com/assayhq/assay/internal/measure/report"
	"github.com/assayhq/assay/internal/measure/stat"
)

// writeReport writes the report of a run.
func (s *Service) writeReport(ctx context.Context, org principal.OrgID, e Evaluation, r Run, metrics []report.Metric, found *report.Findings, c *Comparison) error {
	compared, err := s.toReportComparison(ctx, org, r, c)
	if err != nil {
		return err
	}
	var rows func(string) ([]stat.Observation, error)
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
		rows = func(name string) ([]stat.Observation, error) { return s.metricRows(ctx, org, of, name) }
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
		Name: e.Name, ID: r.ID, Status: string(r.Status), StartedAt: r.StartedAt, Completed: r.Completed, Target: r.Request.Plan.Target.Text(),
		Environment: r.Request.Environment, ReleaseID: r.Request.ReleaseID, ClusterKey: r.Request.ClusterKey, Repetitions: r.Request.Repetitions,
		Sampled: r.Request.SampleSize > 0, Resumes: r.Request.Resumes, Passing: r.Request.Plan.PassRule.Reported(), Metrics: metrics,
		Outcome: report.Outcome{
			Items: o.Items, Passed: o.Passed, Failed: o.Failed, Errored: o.Errored, Skipped: o.Skipped, Calls: o.Calls, InputTokens: o.InputTokens,
			OutputTokens: o.OutputTokens, CostNanoUSD: o.CostNanoUSD,
			Statistics: report.Statistics{
				Overall: o.Statistics.Overall, PassRate: o.Statistics.PassRate, Metrics: o.Statistics.Metrics, Corrected: o.Statistics.Corrected, Resolution: o.Statistics.Resolution,
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

// toReportComparison adds the inputs of the regressions that the report shows.
func (s *Service) toReportComparison(ctx context.Context, org principal.OrgID, r Run, c *Comparison) (*report.Comparison, error) {
	if c == nil {
		return nil, nil
	}
	out := &report.Comparison{
		Baseline: c.Baseline.ID, Margin: c.Margin, Overall: c.Overall.Reported(), PassRate: c.PassRate.Reported(), Items: report.Changes(c.Items), Reasons: c.Reasons,
	}
	for _, m := range c.Metrics {
		out.Metrics = append(out.Metrics, m.Reported())
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
