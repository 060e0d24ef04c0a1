package labelfile

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// columns are those of a table, which has a row for each answer, and one for an item
// without answers. Rows with the same item, one after the other, are one item.
var columns = []string{"item", "status", "content", "suggestion", "annotator", "source", "rating", "label", "labels", "feedback", "corrected_output", "confidence", "skipped", "duration_ms", "created_at"}

// cells are the rows of a record, the n-th of the file.
func (r Record) cells(n int) (all [][]string) {
	item := ""
	switch {
	case r.ID != 0:
		item = strconv.FormatInt(r.ID, 10)
	case len(r.Answers) > 1:
		item = "#" + strconv.Itoa(n) // holds its rows together
	}
	answers := r.Answers
	if len(answers) == 0 {
		answers = []Answer{{}}
	}
	for _, a := range answers {
		labels, at := "", ""
		if len(a.Labels) > 0 {
			text, _ := json.Marshal(a.Labels, json.Deterministic(true)) // its parts are JSON
			labels = string(text)
		}
		if !a.CreatedAt.IsZero() {
			at = a.CreatedAt.Format(time.RFC3339Nano)
		}
		row := []string{
			item, written(r.Status), value(r.Content), value(r.Suggestion), written(a.Annotator), written(a.Source), figure(a.Rating), written(a.Label), labels, written(a.Feedback),
			value(a.CorrectedOutput), figure(a.Confidence), written(a.Skipped), "", at,
		}
		if a.DurationMS != nil {
			row[13] = strconv.FormatInt(*a.DurationMS, 10)
		}
		for i := range row {
			row[i] = guarded(row[i])
		}
		all = append(all, row)
	}
	return all
}

func figure(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// formula are the signs that make a spreadsheet compute a cell, in both widths.
const formula = "=+-@\t\r\n＝＋－＠"

// computed reports whether a spreadsheet would compute a cell, also where spaces or
// quotes hide its first sign.
func computed(cell string) bool {
	first, size := utf8.DecodeRuneInString(strings.TrimLeft(cell, " '\"\u00a0"))
	return size > 0 && strings.ContainsRune(formula, first)
}

// guarded keeps a cell from being taken for a formula; plain takes that back.
func guarded(cell string) string {
	if computed(cell) {
		return "'" + cell
	}
	return cell
}

func plain(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && computed(rest) {
		return rest
	}
	return cell
}

// written is a text as a cell: itself, unless it has a character that readers of CSV
// drop, or looks like a text in quotes.
func written(text string) string {
	if !strings.Contains(text, "\r") && !strings.HasPrefix(text, `"`) {
		return text
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return text
	}
	return string(quoted)
}

func read(cell string) string {
	var text string
	if strings.HasPrefix(cell, `"`) && json.Unmarshal([]byte(cell), &text) == nil {
		return text
	}
	return cell
}

// value is a JSON value as a cell: a text is itself, unless it could be taken for JSON.
func value(v jsontext.Value) string {
	var text string
	if v.Kind() != '"' || json.Unmarshal(v, &text) != nil || text == "" || strings.Contains(text, "\r") || jsontext.Value(text).IsValid() {
		return string(v)
	}
	return text
}

// valueOf reads a cell as a JSON value; nil if it is empty.
func valueOf(cell string) jsontext.Value {
	if cell == "" {
		return nil
	}
	if v := jsontext.Value(cell); v.IsValid() {
		return v
	}
	v, err := jsontext.AppendQuote(nil, cell)
	if err != nil {
		return nil
	}
	return v
}

// rows reads a table.
func rows(from io.Reader) (func() (Line, error), error) {
	in := csv.NewReader(from)
	in.FieldsPerRecord = -1 // counted here, with words that help
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty: its first line must have the names of the columns")
	}
	if err != nil {
		return nil, fmt.Errorf("the first line cannot be read as CSV: %w", err)
	}
	for i, name := range header {
		if !slices.Contains(columns, name) {
			return nil, fmt.Errorf("the column %q is not known: name it one of %s, or remove it", name, strings.Join(columns, ", "))
		}
		if slices.Contains(header[:i], name) {
			return nil, fmt.Errorf("there are two columns %q: remove one", name)
		}
	}
	if !slices.Contains(header, "content") {
		return nil, errors.New("the file has no column content: name the column that has what people see")
	}
	t := table{in: in, header: header}
	return t.next, nil
}

// table reads the rows of items.
type table struct {
	in     *csv.Reader
	header []string
	held   *row // read, and not yet part of an item
	end    error
}

// row is a row of a table.
type row struct {
	number int
	item   string
	record Record // with one answer, or none
	err    error
}

// next gathers the rows of an item.
func (t *table) next() (Line, error) {
	first := t.take()
	if first == nil {
		return Line{}, t.end
	}
	l := Line{Number: first.number, Record: first.record, Err: first.err}
	for first.item != "" {
		more := t.take()
		if more == nil {
			break
		}
		if more.item != first.item {
			t.held = more
			break
		}
		l.Record.Answers = append(l.Record.Answers, more.record.Answers...)
		l.Err = errors.Join(l.Err, more.err)
	}
	if l.Err == nil {
		l.Err = l.Record.check()
	}
	return l, nil
}

// take is the next row; nil at the end.
func (t *table) take() *row {
	if r := t.held; r != nil {
		t.held = nil
		return r
	}
	if t.end != nil {
		return nil
	}
	cells, err := t.in.Read()
	var wrong *csv.ParseError
	if errors.As(err, &wrong) {
		return &row{number: wrong.StartLine, err: fmt.Errorf("is not CSV: %w", wrong.Err)}
	}
	if err != nil {
		t.end = err
		return nil
	}
	number, _ := t.in.FieldPos(0)
	r := &row{number: number}
	if len(cells) != len(t.header) {
		r.err = fmt.Errorf("has %d fields, and the header has %d", len(cells), len(t.header))
		return r
	}
	var a Answer
	for i, cell := range cells {
		if cell = plain(cell); cell == "" {
			continue
		}
		if !utf8.ValidString(cell) {
			r.err = fmt.Errorf("column %q is not UTF-8: save the file as UTF-8", t.header[i])
			return r
		}
		if err := r.set(&a, t.header[i], cell); err != nil {
			r.err = fmt.Errorf("column %q %w", t.header[i], err)
			return r
		}
	}
	if a.Said() || a.Annotator != "" {
		r.record.Answers = []Answer{a}
	}
	return r
}

// set reads one cell.
func (r *row) set(a *Answer, column, cell string) (err error) {
	number := func(to **float64) error {
		n, err := strconv.ParseFloat(cell, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return fmt.Errorf("is not a number: %q", cell)
		}
		*to = &n
		return nil
	}
	switch column {
	case "item":
		r.item = cell
		if id, err := strconv.ParseInt(cell, 10, 64); err == nil && id > 0 && strconv.FormatInt(id, 10) == cell {
			r.record.ID = id
		}
	case "status":
		r.record.Status = read(cell)
	case "content":
		r.record.Content = valueOf(cell)
	case "suggestion":
		r.record.Suggestion = valueOf(cell)
	case "annotator":
		a.Annotator = read(cell)
	case "source":
		a.Source = read(cell)
	case "rating":
		return number(&a.Rating)
	case "label":
		a.Label = read(cell)
	case "labels":
		if err := json.Unmarshal([]byte(cell), &a.Labels); err != nil {
			return errors.New(`is not a JSON object such as {"topic": "billing"}`)
		}
	case "feedback":
		a.Feedback = read(cell)
	case "corrected_output":
		a.CorrectedOutput = valueOf(cell)
	case "confidence":
		return number(&a.Confidence)
	case "skipped":
		a.Skipped = read(cell)
	case "duration_ms":
		n, err := strconv.ParseInt(cell, 10, 64)
		if err != nil {
			return fmt.Errorf("is not a whole number: %q", cell)
		}
		a.DurationMS = &n
	case "created_at":
		if a.CreatedAt, err = time.Parse(time.RFC3339Nano, cell); err != nil {
			return fmt.Errorf("is not a time such as 2026-11-17T09:30:00Z: %q", cell)
		}
	}
	return nil
}
