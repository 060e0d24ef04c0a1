package evaluation

import (
	"context"
	"slices"

	"github.com/assayhq/assay/internal/artifact"
	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/report"
	"github.com/assayhq/assay/internal/result"
)

// pageBytes is about how many bytes of results are in memory at a time, and
// maxPage how many results however small.
const (
	pageBytes = 8 << 20
	maxPage   = 2000
)

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
	err := s.eachResult(ctx, org, r, func(one Result) error {
		found.Add(toReportResult(one))
		if _, err := lines.Write(append(encode(toResultBody(one)), '\n')); err != nil {
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
// are, and for as many as fit in a page.
func (s *Service) eachResult(ctx context.Context, org principal.OrgID, r Run, fn func(Result) error) error {
	items, err := s.store.items(ctx, org, r.ID, 0, r.Resolved.Items)
	if err != nil {
		return err
	}
	slices.Sort(items)
	for some := range slices.Chunk(items, max(1, maxPage/r.Request.Repetitions)) {
		sizes, err := s.results.Sizes(ctx, r.at(org), some)
		if err != nil {
			return err
		}
		for _, page := range pages(some, sizes) {
			if err := s.eachOf(ctx, org, r, page, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachOf calls fn for the results of some items.
func (s *Service) eachOf(ctx context.Context, org principal.OrgID, r Run, items []int64, fn func(Result) error) error {
	page, err := s.results.Page(ctx, r.at(org), result.Filter{Items: items, Limit: len(items) * r.Request.Repetitions})
	if err != nil {
		return err
	}
	results, err := s.withItems(ctx, org, r, page)
	if err != nil {
		return err
	}
	for _, one := range results {
		if err := fn(one); err != nil {
			return err
		}
	}
	return nil
}

// pages cuts items into such that fit in a page each. Those without results are
// in none.
func pages(items []int64, sizes map[int64]int) (all [][]int64) {
	full := pageBytes
	for _, id := range items {
		size, ok := sizes[id]
		if !ok {
			continue
		}
		if full += size; full > pageBytes {
			all, full = append(all, nil), size
		}
		last := len(all) - 1
		all[last] = append(all[last], id)
	}
	return all
}
