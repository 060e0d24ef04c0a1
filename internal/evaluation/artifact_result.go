package evaluation

import (
	"context"
	"slices"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/artifact"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/report"
)

// maxPage is how many results are in memory at a time, however small.
const maxPage = 2000

// writeResults writes the results of a run as lines of JSON and as tables for
// spreadsheets and for analysis, and adds each to the findings of the report.
// Memory is bounded: the results are read once, page by page.
func (s *Service) writeResults(ctx context.Context, org principal.OrgID, r Run, definitions []metric.Definition, found *report.Findings) error {
	if r.Resolved == nil {
		return nil
	}
	metrics := make([]string, len(definitions))
	for i, d := range definitions {
		metrics[i] = d.Name
	}
	lines := s.artifacts.Create(ctx, org, r.Evaluation, r.ID, artifact.KindResults, "results.jsonl", "application/x-ndjson")
	sheet := s.artifacts.Create(ctx, org, r.Evaluation, r.ID, artifact.KindResults, "results.csv", "text/csv; charset=utf-8")
	typed := s.artifacts.Create(ctx, org, r.Evaluation, r.ID, artifact.KindResults, "results.parquet", "application/vnd.apache.parquet")
	cells, values := artifact.NewCSV(sheet, metrics), artifact.NewParquet(typed, metrics)
	err := s.eachResult(ctx, org, r, func(one scoring.Result) error {
		found.Add(one.Reported())
		if _, err := lines.Write(append(encode(one.Body()), '\n')); err != nil {
			return err
		}
		row := artifact.Row{Outcome: one.Outcome, Split: one.Item.Split, Input: one.Item.Content.Input, ExpectedOutput: one.Item.Content.ExpectedOutput}
		if err := cells.Write(row); err != nil {
			return err
		}
		return values.Write(row)
	})
	if err != nil {
		return err
	}
	for _, end := range []func() error{lines.Close, cells.Flush, sheet.Close, values.Close, typed.Close} {
		if err := end(); err != nil {
			return err
		}
	}
	return nil
}

// eachResult calls fn for every result of a run, in the order of items and
// epochs. It asks for some items at a time, of which the store knows where they
// are, and page by page.
func (s *Service) eachResult(ctx context.Context, org principal.OrgID, r Run, fn func(scoring.Result) error) error {
	items, err := s.store.items(ctx, org, r.ID, 0, r.Resolved.Items)
	if err != nil {
		return err
	}
	slices.Sort(items)
	for some := range slices.Chunk(items, max(1, maxPage/r.Request.Repetitions)) {
		f := result.Filter{Items: some, Limit: len(some) * r.Request.Repetitions}
		for more := true; more; {
			var page []scoring.Result
			if page, more, err = s.resultPage(ctx, org, r, f); err != nil {
				return err
			}
			for _, one := range page {
				if err := fn(one); err != nil {
					return err
				}
				f.After = one.Key
			}
		}
	}
	return nil
}
