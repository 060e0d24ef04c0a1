package evaluation

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// csvTable writes results as comma-separated values, for spreadsheets.
type csvTable struct {
	csv     *csv.Writer
	metrics []string
	record  []string
}

func newCSVTable(w io.Writer, metrics []string) *csvTable {
	scores, _ := metricColumns(metrics)
	t := &csvTable{csv: csv.NewWriter(w), metrics: metrics, record: slices.Concat(firstColumns, scores, lastColumns)}
	_ = t.csv.Write(t.record) // the error stays with the writer
	return t
}

func (t *csvTable) write(r Result, b resultBody) error {
	row := append(t.record[:0], b.TestCaseID.String(), strconv.Itoa(b.Epoch), string(b.Status), figure(b.Overall))
	for _, name := range t.metrics {
		row = append(row, figure(b.Scores[name]))
	}
	t.record = append(row, figure(b.DurationMS), figure(b.CostUSD), strconv.FormatUint(uint64(r.InputTokens), 10), strconv.FormatUint(uint64(r.OutputTokens), 10),
		strconv.Itoa(b.Calls), cell(r.ErrorCode), cell(r.ErrorMessage), cell(r.Cluster), cell(r.Item.Split),
		cell(plain(r.Item.Content.Input)), cell(plain(r.Item.Content.ExpectedOutput)), cell(plain(r.Output)))
	return t.csv.Write(t.record)
}

func (t *csvTable) flush() error {
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
