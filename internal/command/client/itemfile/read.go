package itemfile

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Format is how items are written.
type Format string

// The formats.
const (
	CSV   Format = "csv"
	JSONL Format = "jsonl"
)

// maxLine is the longest line of JSON: more than an item may have.
const maxLine = 8 << 20

// Line is one item of a file, in the form of a request, or why there is none.
type Line struct {
	Number int // of the line in the file where the item begins, from 1
	Item   jsontext.Value
	Err    error
}

// Reader reads the items of a file.
type Reader struct {
	next func() (Line, error)
}

// NewReader reads a file. An error says what is wrong with the file as a whole.
func NewReader(from io.Reader, f Format, m Mapping) (*Reader, error) {
	if f == JSONL {
		return &Reader{jsonLines(from, m)}, nil
	}
	next, err := records(from, m)
	return &Reader{next}, err
}

// Next returns the next item, or io.EOF after the last. A line that is not an item
// has an error of its own.
func (r *Reader) Next() (Line, error) { return r.next() }

// records reads CSV as RFC 4180 has it, with a header.
func records(from io.Reader, m Mapping) (func() (Line, error), error) {
	in := csv.NewReader(skipMark(from))
	in.ReuseRecord = true
	in.FieldsPerRecord = -1 // counted here, with words that help
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty: its first line must have the names of the columns")
	}
	if err != nil {
		return nil, fmt.Errorf("the first line cannot be read as CSV: %w", err)
	}
	columns := slices.Clone(header)
	at, err := m.places(columns)
	if err != nil {
		return nil, err
	}
	b := newBuilder()
	return func() (Line, error) {
		cells, err := in.Read()
		var wrong *csv.ParseError
		switch {
		case errors.As(err, &wrong):
			return Line{Number: wrong.StartLine, Err: fmt.Errorf("is not CSV: %w", wrong.Err)}, nil
		case err != nil:
			return Line{}, err
		}
		number, _ := in.FieldPos(0)
		if len(cells) != len(columns) {
			return Line{Number: number, Err: fmt.Errorf("has %d fields, and the header has %d", len(cells), len(columns))}, nil
		}
		b.reset()
		for i, cell := range cells {
			if at[i].field == "" || cell == "" {
				continue
			}
			if err := b.text(at[i], cell); err != nil {
				return Line{Number: number, Err: fmt.Errorf("column %q %w", columns[i], err)}, nil
			}
		}
		item, err := b.item()
		return Line{number, item, err}, nil
	}, nil
}

// skipMark drops the byte order mark that spreadsheets write.
func skipMark(from io.Reader) io.Reader {
	in := bufio.NewReaderSize(from, 64<<10)
	if mark, err := in.Peek(3); err == nil && string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3)
	}
	return in
}

// jsonLines reads an object on each line; empty lines are left out.
func jsonLines(from io.Reader, m Mapping) func() (Line, error) {
	in := bufio.NewScanner(skipMark(from))
	in.Buffer(make([]byte, 64<<10), maxLine)
	number := 0
	b := newBuilder()
	return func() (Line, error) {
		for in.Scan() {
			number++
			if len(in.Bytes()) == 0 {
				continue
			}
			item, err := object(b, in.Bytes(), m)
			return Line{number, item, err}, nil
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

// object is the item of one line of JSON.
func object(b *builder, line []byte, m Mapping) (jsontext.Value, error) {
	var members map[string]jsontext.Value
	if jsontext.Value(line).Kind() != '{' {
		return nil, errors.New("is not a JSON object")
	}
	if err := json.Unmarshal(line, &members); err != nil {
		return nil, fmt.Errorf("is not a JSON object: %w", err)
	}
	b.reset()
	taken := map[string]string{}
	for _, column := range slices.Sorted(maps.Keys(members)) {
		value := members[column]
		field, known := m.field(column)
		switch {
		case !known:
			return nil, fmt.Errorf("has the member %q, which is not a field of an item: map it with --map %s=%s, or leave it out with --map %s=", column, column, suggested(column), column)
		case field == "" || value.Kind() == 'n':
			continue
		case taken[field] != "":
			return nil, fmt.Errorf("has the members %q and %q, which both become %s: leave one out with --map %s=", taken[field], column, field, column)
		}
		taken[field] = column
		if err := b.value(placeOf(field), value); err != nil {
			return nil, fmt.Errorf("member %q %w", column, err)
		}
	}
	return b.item()
}

// number writes a weight as JSON.
func number(text string) (jsontext.Value, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= 1e6) {
		return nil, fmt.Errorf("must be a number from 0 to 1000000, and is %q", text)
	}
	return jsontext.Value(strconv.AppendFloat(nil, v, 'g', -1, 64)), nil
}
