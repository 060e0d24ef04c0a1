package labelfile

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
)

// Media is the media type of a format.
func (f Format) Media() string {
	switch f {
	case CSV:
		return "text/csv; charset=utf-8"
	case LabelStudio:
		return "application/octet-stream" // a file to keep: a JSON response has a schema of ours
	}
	return "application/x-ndjson"
}

// Ending is how the name of a file of the format ends.
func (f Format) Ending() string {
	switch f {
	case CSV:
		return ".csv"
	case LabelStudio:
		return ".json"
	}
	return ".jsonl"
}

// Writer writes records that a Reader reads.
type Writer struct {
	write func(Record) error
	close func() error
}

// NewWriter writes to a file.
func NewWriter(to io.Writer, f Format) (*Writer, error) {
	switch f {
	case CSV:
		out, n := csv.NewWriter(to), 0
		w := &Writer{
			write: func(r Record) error {
				n++
				for _, cells := range r.cells(n) {
					if err := out.Write(cells); err != nil {
						return err
					}
				}
				return nil
			},
			close: func() error { out.Flush(); return out.Error() },
		}
		return w, out.Write(columns)
	case LabelStudio:
		out := bufio.NewWriter(to)
		before := "[\n"
		return &Writer{
			write: func(r Record) error {
				text, err := json.Marshal(toTask(r), json.Deterministic(true))
				if err != nil {
					return fmt.Errorf("write an item: %w", err)
				}
				_, err = out.WriteString(before + string(text))
				before = ",\n"
				return err
			},
			close: func() error {
				if before == "[\n" {
					_, _ = out.WriteString("[") // the error stays with the writer
				}
				_, _ = out.WriteString("\n]\n")
				return out.Flush()
			},
		}, nil
	}
	out := bufio.NewWriter(to)
	return &Writer{
		write: func(r Record) error {
			text, err := json.Marshal(r, json.Deterministic(true))
			if err != nil {
				return fmt.Errorf("write an item: %w", err)
			}
			_, err = out.Write(append(text, '\n'))
			return err
		},
		close: out.Flush,
	}, nil
}

// Write adds a record.
func (w *Writer) Write(r Record) error { return w.write(r) }

// Close writes what is left.
func (w *Writer) Close() error { return w.close() }
