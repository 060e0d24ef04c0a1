package span

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// OTLP/JSON is turned into protobuf, so that there is one way into the columns.
// It is written while it is read: what is made of a body takes no more than
// JSONRatio times as much memory, whatever the body says. Only fields that the
// decoders read are written.

// JSONRatio is how much longer the protobuf of a body is at most.
const JSONRatio = 2

// TracesFromJSON makes protobuf of an ExportTraceServiceRequest. It calls pause
// from time to time, whose error ends it.
func TracesFromJSON(body []byte, pause func() error) ([]byte, error) {
	return fromJSON(body, tracesJSON, pause)
}

// LogsFromJSON is TracesFromJSON for an ExportLogsServiceRequest.
func LogsFromJSON(body []byte, pause func() error) ([]byte, error) {
	return fromJSON(body, logsJSON, pause)
}

// jsonWriter reads JSON and writes protobuf.
type jsonWriter struct {
	dec   *jsontext.Decoder
	size  int // of the body
	out   []byte
	plain []byte // the text of the last string, without escapes
	pause func() error
	read  int64 // bytes at the last pause
}

// smallMessage is as much as the smallest messages take.
const smallMessage = 16

// pauseBytes is how much is read between two pauses.
const pauseBytes = 256 << 10

// maxJSONDepth is deeper than any message goes whose values are not nested too
// deep to be stored.
const maxJSONDepth = 500

var errJSON = errors.New("a field has a value that is not of its type")

func fromJSON(body []byte, m *jsonMessage, pause func() error) ([]byte, error) {
	w := jsonWriter{
		pause: pause, size: len(body),
		dec: jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)),
		out: make([]byte, 0, len(body)),
	}
	err := w.message(m)
	if err == nil {
		if _, err = w.dec.ReadToken(); errors.Is(err, io.EOF) {
			return w.out, nil
		}
		err = cmp.Or(err, errJSON) // something follows
	}
	return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
}

// message writes the fields of an object. Null is an object without any.
func (w *jsonWriter) message(m *jsonMessage) error {
	token, err := w.dec.ReadToken()
	if err != nil {
		return err
	}
	seen := 0
	switch token.Kind() {
	case 'n':
	case '{':
		for w.dec.PeekKind() != '}' {
			raw, err := w.dec.ReadValue() // a name
			if err != nil {
				return err
			}
			f, known := m.fields[string(w.unquote(raw))]
			if !known {
				err = w.dec.SkipValue()
			} else {
				if i := slices.Index(m.ids, f.num); i >= 0 {
					seen |= 1 << i
				}
				err = w.field(f)
			}
			if err != nil {
				return err
			}
		}
		if _, err := w.dec.ReadToken(); err != nil {
			return err
		}
	default:
		return errJSON
	}
	for i, num := range m.ids {
		if seen&(1<<i) == 0 {
			w.tag(num, wireBytes)
			w.out = append(w.out, 0)
		}
	}
	return nil
}

// The wire types of protobuf.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

func (w *jsonWriter) tag(num, wire uint32) { w.out = binary.AppendUvarint(w.out, uint64(num<<3|wire)) }

// field writes the value that is next.
func (w *jsonWriter) field(f jsonField) error {
	switch f.form {
	case jsonOne:
		return w.nested(f)
	case jsonMany:
		return w.list(f)
	}
	raw, err := w.dec.ReadValue()
	if err != nil {
		return err
	}
	kind := raw.Kind()
	text := []byte(raw)
	if kind == '"' {
		text = w.unquote(raw)
	}
	switch f.form {
	case jsonText:
		if kind == 'n' {
			text = nil
		} else if kind != '"' {
			return errJSON
		}
		w.bytes(f.num, text)
	case jsonBase64, jsonID:
		return w.encoded(f, kind, text)
	case jsonBool:
		w.tag(f.num, wireVarint)
		switch kind {
		case 't':
			w.out = append(w.out, 1)
		case 'f':
			w.out = append(w.out, 0)
		default:
			return errJSON
		}
	default:
		if kind != '"' && kind != '0' {
			return errJSON
		}
		return w.number(f, kind, string(text))
	}
	return nil
}

// nested writes a message that is the value of a field, in front of it its
// length. That is known afterwards: nearly always it has one byte, and else the
// message moves on.
func (w *jsonWriter) nested(f jsonField) error {
	if w.dec.StackDepth() > maxJSONDepth {
		return fmt.Errorf("the body is nested deeper than %d", maxJSONDepth)
	}
	if at := w.dec.InputOffset(); at-w.read > pauseBytes {
		w.read = at
		if err := w.pause(); err != nil {
			return err
		}
	}
	if most := JSONRatio * w.size; cap(w.out)-len(w.out) < smallMessage && cap(w.out) < most {
		w.out = append(make([]byte, 0, most), w.out...) // once, and not step by step
	}
	w.tag(f.num, wireBytes)
	w.out = append(w.out, 0)
	from := len(w.out)
	if err := w.message(f.message); err != nil {
		return err
	}
	n := len(w.out) - from
	if n < 0x80 {
		w.out[from-1] = byte(n)
		return nil
	}
	var length [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(length[:], uint64(n))
	w.out = append(w.out, length[1:size]...) // for the room
	copy(w.out[from-1+size:], w.out[from:from+n])
	copy(w.out[from-1:], length[:size])
	return nil
}

// list writes a message for every element of an array. Null is an array without
// any.
func (w *jsonWriter) list(f jsonField) error {
	token, err := w.dec.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case 'n':
		return nil
	case '[':
	default:
		return errJSON
	}
	for w.dec.PeekKind() != ']' {
		if err := w.nested(f); err != nil {
			return err
		}
	}
	_, err = w.dec.ReadToken()
	return err
}

func (w *jsonWriter) bytes(num uint32, text []byte) {
	w.tag(num, wireBytes)
	w.out = append(binary.AppendUvarint(w.out, uint64(len(text))), text...)
}

// encoded writes bytes that are sent as text.
func (w *jsonWriter) encoded(f jsonField, kind jsontext.Kind, text []byte) (err error) {
	if kind != '"' {
		return errJSON
	}
	// What it decodes to is shorter, so it fits in the place of the text.
	n := 0
	if f.form == jsonID {
		if len(text) != 0 && len(text) != 2*f.size {
			return fmt.Errorf("an id has %d digits, not %d", len(text), 2*f.size)
		}
		n, err = hex.Decode(text, text)
		if len(bytes.Trim(text[:n], "\x00")) == 0 {
			n = 0 // zero is no id
		}
	} else {
		n, err = base64.StdEncoding.Decode(text, text)
	}
	if err == nil {
		w.bytes(f.num, text[:n])
	}
	return err
}

// number writes a number, which may be sent as text.
func (w *jsonWriter) number(f jsonField, kind jsontext.Kind, text string) error {
	switch f.form {
	case jsonFixed64:
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return err
		}
		w.tag(f.num, wireFixed64)
		w.out = binary.LittleEndian.AppendUint64(w.out, n)
	case jsonFixed32:
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return err
		}
		w.tag(f.num, wireFixed32)
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(n))
	case jsonDouble:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return err
		}
		w.tag(f.num, wireFixed64)
		w.out = binary.LittleEndian.AppendUint64(w.out, math.Float64bits(n))
	case jsonInt64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return err
		}
		w.tag(f.num, wireVarint)
		w.out = binary.AppendUvarint(w.out, uint64(n))
	case jsonEnum:
		n, known := f.names[text]
		if kind == '0' {
			v, err := strconv.ParseInt(text, 10, 32)
			if err != nil {
				return err
			}
			n, known = int32(v), true
		}
		if !known {
			return fmt.Errorf("there is no %q", text)
		}
		w.tag(f.num, wireVarint)
		w.out = binary.AppendUvarint(w.out, uint64(int64(n)))
	}
	return nil
}

// unquote is how a string reads, good until the next one. Bytes that are not
// UTF-8 stay as they are: they count once, and what is stored as JSON replaces
// them.
func (w *jsonWriter) unquote(raw []byte) []byte {
	in := raw[1 : len(raw)-1]
	w.plain = w.plain[:0]
	for {
		i := bytes.IndexByte(in, '\\')
		if i < 0 {
			w.plain = append(w.plain, in...)
			return w.plain
		}
		w.plain = append(w.plain, in[:i]...)
		c := in[i+1]
		in = in[i+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hexRune(in)
			in = in[4:]
			if utf16.IsSurrogate(r) {
				if len(in) >= 6 && in[0] == '\\' && in[1] == 'u' {
					if both := utf16.DecodeRune(r, hexRune(in[2:])); both != utf8.RuneError {
						r, in = both, in[6:]
					}
				}
			}
			w.plain = utf8.AppendRune(w.plain, r) // half of a pair becomes U+FFFD
			continue
		}
		w.plain = append(w.plain, c)
	}
}

// hexRune is the character of four digits, which the decoder has checked.
func hexRune(text []byte) rune {
	n, _ := strconv.ParseUint(string(text[:4]), 16, 16)
	return rune(n)
}
