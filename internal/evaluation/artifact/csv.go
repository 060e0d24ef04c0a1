package artifact

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// CSV writes results as comma-separated values, for spreadsheets.
type CSV struct {
	csv     *csv.Writer
	metrics []string
	record  []string
}

// NewCSV begins a table with a column for each metric.
func NewCSV(w io.Writer, metrics []string) *CSV {
	scores, _ := metricColumns(metrics)
	t := &CSV{csv: csv.NewWriter(w), metrics: metrics, record: slices.Concat(firstColumns, scores, lastColumns)}
	_ = t.csv.Write(t.record) // the error stays with the writer
	return t
}

// Write adds a row.
func (t *CSV) Write(r Row) error {
	row := append(t.record[:0], strconv.FormatInt(r.Item, 10), strconv.Itoa(r.Epoch), string(r.Status), figure(r.Overall))
	for _, score := range r.scores(t.metrics) {
		row = append(row, figure(score.Value))
	}
	t.record = append(row, figure(r.DurationMS()), figure(r.CostUSD()), strconv.FormatUint(uint64(r.InputTokens), 10), strconv.FormatUint(uint64(r.OutputTokens), 10),
		strconv.Itoa(r.Calls), cell(r.ErrorCode), cell(r.ErrorMessage), cell(r.Cluster), cell(r.Split), cell(plain(r.Input)), cell(plain(r.ExpectedOutput)), cell(plain(r.Output)))
	return t.csv.Write(t.record)
}

// Flush writes what is left. It must be called last.
func (t *CSV) Flush() error {
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

// plain is the text of a JSON string, and any other value as JSON.
func plain(v jsontext.Value) string {
	var text string
	if v.Kind() == '"' && json.Unmarshal(v, &text) == nil {
		return text
	}
	return string(v)
}
