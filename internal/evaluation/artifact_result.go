package evaluation

import (
	"context"
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/score"
)

// pageBytes is about how many bytes of results are in memory at a time, and
// maxPage how many results however small.
const (
	pageBytes = 8 << 20
	maxPage   = 2000
)

// writeResults writes the results of a run as lines of JSON and as a table, and
// takes down on the way what a report says about them. Memory is bounded: the
// results are read page by page.
func (s *Service) writeResults(ctx context.Context, org principal.OrgID, r Run) (*findings, error) {
	definitions, err := s.definitions(r)
	if err != nil {
		return nil, err
	}
	found := newFindings(r, definitions)
	if r.Resolved == nil {
		return found, nil
	}
	names := make([]string, len(definitions))
	for i, d := range definitions {
		names[i] = d.Name
	}
	lines := s.create(ctx, org, r, KindResults, "results.jsonl", "application/x-ndjson")
	sheet := s.create(ctx, org, r, KindResults, "results.csv", "text/csv; charset=utf-8")
	table := newTable(sheet, names)
	err = s.eachResult(ctx, org, r, func(one Result) error {
		found.add(one)
		if _, err := lines.Write(append(encode(toResultBody(one)), '\n')); err != nil {
			return err
		}
		return table.write(one)
	})
	if err != nil {
		return nil, err
	}
	if err := lines.Close(); err != nil {
		return nil, err
	}
	if err := table.flush(); err != nil {
		return nil, err
	}
	return found, sheet.Close()
}

// eachResult calls fn for every result of a run, in the order of items and
// epochs. Pages shrink as results grow.
func (s *Service) eachResult(ctx context.Context, org principal.OrgID, r Run, fn func(Result) error) error {
	f := score.Filter{Limit: 20}
	for {
		page, _, err := s.scores.Page(ctx, r.at(org), f)
		if err != nil || len(page) == 0 {
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
		if len(page) < f.Limit {
			return nil
		}
		f.After = page[len(page)-1].Key
		f.Limit = min(maxPage, f.Limit*4, max(1, pageBytes*len(page)/max(1, size)))
	}
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

// table writes results as comma-separated values.
type table struct {
	csv     *csv.Writer
	metrics []string
	record  []string
}

func newTable(w io.Writer, metrics []string) *table {
	t := &table{csv: csv.NewWriter(w), metrics: metrics}
	t.record = append(t.record, "test_case_id", "epoch", "status", "overall")
	t.record = append(t.record, metrics...)
	t.record = append(t.record, "duration_ms", "cost_usd", "input_tokens", "output_tokens", "calls", "error_code", "error_message", "cluster", "split", "input", "expected_output", "output")
	_ = t.csv.Write(t.record) // the error stays with the writer
	return t
}

func (t *table) write(r Result) error {
	b := toResultBody(r)
	row := append(t.record[:0], b.TestCaseID.String(), strconv.Itoa(b.Epoch), string(b.Status), figure(b.Overall))
	for _, name := range t.metrics {
		row = append(row, figure(b.Scores[name]))
	}
	t.record = append(row, figure(b.DurationMS), figure(b.CostUSD), strconv.FormatUint(uint64(r.InputTokens), 10), strconv.FormatUint(uint64(r.OutputTokens), 10),
		strconv.Itoa(b.Calls), cell(r.ErrorCode), cell(r.ErrorMessage), cell(r.Cluster), cell(r.Item.Split),
		cell(plain(r.Item.Content.Input)), cell(plain(r.Item.Content.ExpectedOutput)), cell(plain(r.Output)))
	return t.csv.Write(t.record)
}

func (t *table) flush() error {
	t.csv.Flush()
	return t.csv.Error()
}

func figure(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// formula are the signs that make a spreadsheet compute a cell, in both widths.
const formula = "=+-@\t\r\n＝＋－＠"

// cell keeps a text from being taken for a formula, also where spaces or quotes
// hide its first sign.
func cell(text string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, " '\"\u00a0"))
	if strings.ContainsRune(formula, first) {
		return "'" + text
	}
	return text
}
