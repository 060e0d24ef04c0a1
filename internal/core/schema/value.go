package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDocument bounds the bytes that are read of one JSON value. An output of a
// megabyte is within it, and a tree of it fits in some tens of megabytes.
const MaxDocument = 4 << 20

// Bounds of what is in one JSON value.
const (
	maxDepth  = 200
	maxValues = 500_000
)

// Decode reads a JSON document into nil, bool, string, json.Number, []any and
// map[string]any. Of members with the same name the last counts, as it does for
// most readers.
func (w *Work) Decode(doc []byte) (any, error) {
	if len(doc) > MaxDocument {
		return nil, ErrTooLarge
	}
	if !w.Spend(CostDecode * int64(len(doc))) {
		return nil, ErrTooCostly
	}
	if text, ok := plainText(doc); ok {
		return text, nil
	}
	r := reader{dec: jsontext.NewDecoder(bytes.NewBuffer(doc), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	v, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, ErrNotJSON
	}
	return v, nil
}

// plainText reads a text without escapes, which most documents are, at a fraction
// of what a decoder costs.
func plainText(doc []byte) (string, bool) {
	if len(doc) < 2 || doc[0] != '"' || doc[len(doc)-1] != '"' {
		return "", false
	}
	text := doc[1 : len(doc)-1]
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			return "", false
		}
	}
	return string(text), utf8.Valid(text)
}

type reader struct {
	dec    *jsontext.Decoder
	values int
}

func (r *reader) value(depth int) (any, error) {
	if r.values++; r.values > maxValues || depth > maxDepth {
		return nil, ErrTooLarge
	}
	switch r.dec.PeekKind() {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	case '0':
		raw, err := r.dec.ReadValue()
		if err != nil {
			return nil, ErrNotJSON
		}
		return json.Number(raw), nil
	}
	tok, err := r.dec.ReadToken()
	if err != nil {
		return nil, ErrNotJSON
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return tok.String(), nil
	default:
		return nil, ErrNotJSON
	}
}

func (r *reader) object(depth int) (any, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, ErrNotJSON
	}
	out := map[string]any{}
	for r.dec.PeekKind() != '}' {
		name, err := r.dec.ReadToken()
		if err != nil {
			return nil, ErrNotJSON
		}
		key := name.String()
		if out[key], err = r.value(depth + 1); err != nil {
			return nil, err
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, ErrNotJSON
	}
	return out, nil
}

func (r *reader) list(depth int) (any, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, ErrNotJSON
	}
	out := []any{}
	for r.dec.PeekKind() != ']' {
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, ErrNotJSON
	}
	return out, nil
}
