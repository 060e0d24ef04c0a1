package evaluation

import (
	"context"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/score"
)

// pageBytes is about how many bytes of results are in memory at a time, and
// maxPage how many results however small.
const (
	pageBytes = 8 << 20
	maxPage   = 2000
)

// writeResults writes the results of a run as lines of JSON and as tables for
// spreadsheets and for analysis, and takes down on the way what a report says
// about them. Memory is bounded: the results are read once, page by page.
func (s *Service) writeResults(ctx context.Context, org principal.OrgID, r Run) (*findings, error) {
	definitions, err := s.definitions(r)
	if err != nil {
		return nil, err
	}
	found := newFindings(r, definitions)
	if r.Resolved == nil {
		return found, nil
	}
	metrics := make([]string, len(definitions))
	for i, d := range definitions {
		metrics[i] = d.Name
	}
	lines := s.create(ctx, org, r, KindResults, "results.jsonl", "application/x-ndjson")
	sheet := s.create(ctx, org, r, KindResults, "results.csv", "text/csv; charset=utf-8")
	typed := s.create(ctx, org, r, KindResults, "results.parquet", "application/vnd.apache.parquet")
	cells, values := newCSVTable(sheet, metrics), newParquetTable(typed, metrics)
	err = s.eachResult(ctx, org, r, func(one Result) error {
		found.add(one)
		b := toResultBody(one)
		if _, err := lines.Write(append(encode(b), '\n')); err != nil {
			return err
		}
		if err := cells.write(one, b); err != nil {
			return err
		}
		return values.write(one, b)
	})
	if err != nil {
		return nil, err
	}
	for _, end := range []func() error{lines.Close, cells.flush, sheet.Close, values.close, typed.Close} {
		if err := end(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// eachResult calls fn for every result of a run, in the order of items and
// epochs. It asks for some items at a time, of which the store knows where they
// are, and for fewer as results grow.
func (s *Service) eachResult(ctx context.Context, org principal.OrgID, r Run, fn func(Result) error) error {
	items, err := s.store.items(ctx, org, r.ID, 0, r.Resolved.Items)
	if err != nil {
		return err
	}
	slices.Sort(items)
	for at, limit := 0, 20; at < len(items); {
		some := items[at:min(len(items), at+max(1, limit/r.Request.Repetitions))]
		at += len(some)
		page, err := s.scores.Page(ctx, r.at(org), score.Filter{Items: some, Limit: len(some) * r.Request.Repetitions})
		if err != nil {
			return err
		}
		results, err := s.withItems(ctx, org, r, page)
		if err != nil {
			return err
		}
		size := 0
		for _, one := range results {
			size += weigh(one)
			if err := fn(one); err != nil {
				return err
			}
		}
		limit = min(maxPage, limit*4, max(1, pageBytes*len(page)/max(1, size)))
	}
	return nil
}

// weigh is about how much memory a result takes.
func weigh(r Result) int {
	const fixed, each = 1024, 128 // of the result itself, and of a score
	size := fixed + len(r.Output) + len(r.ToolCalls) + len(r.ErrorMessage) + len(r.Attempts)
	c := r.Item.Content
	size += len(c.Input) + len(c.ExpectedOutput) + len(c.Output) + len(c.Context) + len(c.Messages) + len(c.Tools) + len(c.Labels)
	for _, a := range c.Assertions {
		size += len(a)
	}
	for _, sc := range r.Scores {
		size += each + len(sc.Explanation)
	}
	return size
}

// The columns of a table of results. The scores of its metrics stand between the
// first two; what follows only typed tables have, and then the metrics' reasons.
var (
	firstColumns = []string{"test_case_id", "epoch", "status", "overall"}
	lastColumns  = []string{"duration_ms", "cost_usd", "input_tokens", "output_tokens", "calls", "error_code", "error_message", "cluster", "split", "input", "expected_output", "output"}
	typedColumns = []string{"otel_trace_id"}
)

// metricColumns names the columns that have the scores of metrics, and those
// that say why there is none. A score's column is the metric's name unless
// another column has it already; many readers of tables do not tell names apart
// that differ only in case.
func metricColumns(metrics []string) (scores, reasons []string) {
	used := map[string]bool{}
	unused := func(name, more string) string {
		for used[strings.ToLower(name)] {
			name += more
		}
		used[strings.ToLower(name)] = true
		return name
	}
	for _, name := range slices.Concat(firstColumns, lastColumns, typedColumns) {
		unused(name, "")
	}
	for _, m := range metrics {
		scores = append(scores, unused(m, "_score"))
	}
	for _, m := range metrics {
		reasons = append(reasons, unused(m+"_reason", "_"))
	}
	return scores, reasons
}
