package labelfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxLine is the longest line of JSON: more than an item may have.
const maxLine = 8 << 20

// Line is one item of a file, or why there is none.
type Line struct {
	// Number is that of the line where the item begins, or of the entry of a list; from 1.
	Number int
	Record Record
	Err    error
}

// Reader reads the items of a file.
type Reader struct{ next func() (Line, error) }

// NewReader reads a file. An error says what is wrong with the file as a whole.
func NewReader(from io.Reader, f Format) (*Reader, error) {
	in := bufio.NewReaderSize(from, 64<<10)
	// Spreadsheets write a byte order mark.
	if mark, err := in.Peek(3); err == nil && string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3)
	}
	switch f {
	case JSONL:
		return &Reader{lines(in)}, nil
	case CSV:
		next, err := rows(in)
		return &Reader{next}, err
	case LabelStudio:
		next, err := entries(in)
		return &Reader{next}, err
	}
	return nil, fmt.Errorf("the format %q is not known: use jsonl, csv or label-studio", f)
}

// Next returns the next item, or io.EOF after the last. An item that cannot be read has
// an error of its own.
func (r *Reader) Next() (Line, error) { return r.next() }

// lines reads an object on each line; empty lines are left out.
func lines(from io.Reader) func() (Line, error) {
	in := bufio.NewScanner(from)
	in.Buffer(make([]byte, 64<<10), maxLine)
	number := 0
	return func() (Line, error) {
		for in.Scan() {
			number++
			if len(in.Bytes()) == 0 {
				continue
			}
			l := Line{Number: number}
			l.Record, l.Err = record(in.Bytes())
			return l, nil
		}
		if errors.Is(in.Err(), bufio.ErrTooLong) {
			return Line{}, fmt.Errorf("line %d is longer than %d MiB", number+1, maxLine>>20)
		}
		if in.Err() != nil {
			return Line{}, in.Err()
		}
		return Line{}, io.EOF
	}
}

// record is the item of one line of JSON.
func record(line []byte) (r Record, err error) {
	if jsontext.Value(line).Kind() != '{' {
		return r, errors.New("is not a JSON object")
	}
	if err := json.Unmarshal(line, &r, json.RejectUnknownMembers(true)); err != nil {
		return r, fmt.Errorf("is not an item: %w", err)
	}
	return r, r.check()
}
