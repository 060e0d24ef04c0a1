package itemfile

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Item is an item of a dataset, as far as a file has it.
type Item struct {
	Input          jsontext.Value   `json:"input"`
	ExpectedOutput jsontext.Value   `json:"expected_output,omitzero"`
	Output         jsontext.Value   `json:"output,omitzero"`
	Context        jsontext.Value   `json:"context,omitzero"`
	Messages       jsontext.Value   `json:"messages,omitzero"`
	Tools          jsontext.Value   `json:"tools,omitzero"`
	Assertions     []jsontext.Value `json:"assertions,omitempty"`
	Labels         jsontext.Value   `json:"labels,omitzero"`
	Split          string           `json:"split,omitzero"`
	Weight         float64          `json:"weight"`
	SourceType     string           `json:"source_type,omitzero"`
	SourceID       string           `json:"source_id,omitzero"`
}

// columns are the names of an item's fields in a file, in the order of cells.
var columns = []string{"input", "expected_output", "output", "context", "messages", "tools", "assertions", "labels", "split", "weight", "source_type", "source_id"}

// Writer writes items as lines that a Reader reads without a mapping.
type Writer struct {
	add   func(Item) error
	flush func() error
}

// NewWriter writes to a file.
func NewWriter(to io.Writer, f Format) (*Writer, error) {
	if f == JSONL {
		out := bufio.NewWriter(to)
		return &Writer{add: func(i Item) error { return jsonLine(out, i) }, flush: out.Flush}, nil
	}
	out := csv.NewWriter(to)
	w := &Writer{
		add: func(i Item) error {
			cells, err := i.cells()
			if err != nil {
				return err
			}
			return out.Write(cells)
		},
		flush: func() error { out.Flush(); return out.Error() },
	}
	return w, out.Write(columns)
}

// Write adds an item.
func (w *Writer) Write(i Item) error { return w.add(i) }

// Close writes what is left.
func (w *Writer) Close() error { return w.flush() }

func jsonLine(out *bufio.Writer, i Item) error {
	text, err := json.Marshal(i, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write an item: %w", err)
	}
	_, err = out.Write(append(text, '\n'))
	return err
}

func (i Item) cells() ([]string, error) {
	assertions := ""
	if len(i.Assertions) > 0 {
		text, err := json.Marshal(i.Assertions)
		if err != nil {
			return nil, fmt.Errorf("write assertions: %w", err)
		}
		assertions = string(text)
	}
	weight := ""
	if i.Weight != 1 {
		weight = strconv.FormatFloat(i.Weight, 'g', -1, 64)
	}
	return []string{
		cell(i.Input), cell(i.ExpectedOutput), cell(i.Output), cell(i.Context), string(i.Messages), string(i.Tools), assertions, cell(i.Labels),
		i.Split, weight, i.SourceType, i.SourceID,
	}, nil
}

// cell is a value as a reader takes it for the same one: a string is itself, unless
// it could be taken for JSON, or has a character that readers of CSV drop.
func cell(v jsontext.Value) string {
	var text string
	if v.Kind() != '"' || json.Unmarshal(v, &text) != nil || text == "" || looksLikeJSON(text) || strings.Contains(text, "\r") {
		return string(v)
	}
	return text
}
