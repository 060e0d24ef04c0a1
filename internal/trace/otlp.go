package trace

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"

	"github.com/VictoriaMetrics/easyproto"
)

// Limits of what a request may hold.
const (
	maxDepth      = 32  // of nested attribute values
	maxAttributes = 512 // of one span; what is above is dropped and counted
)

var errProtobuf = errors.New("the body is not an OTLP message")

// otlpDecoder reads OTLP protobuf straight into rows. It is reused from
// request to request and then allocates nothing.
type otlpDecoder struct {
	row      row
	resource []byte // the resource's attributes, as JSON
	events   [][]byte
	links    [][]byte
	dropped  int // attributes above maxAttributes
}

// rejected counts spans that are not taken, with the reason of the first.
type rejected struct {
	spans  int
	reason string
}

func (r *rejected) add(reason string) {
	r.spans++
	if r.reason == "" {
		r.reason = reason
	}
}

// traces calls span for every span of an ExportTraceServiceRequest. A span
// that cannot be taken is counted; a body that cannot be read is an error.
func (d *otlpDecoder) traces(body []byte, bad *rejected, span func(*row) error) error {
	return eachMessage(body, 1, func(rs []byte) error {
		if err := d.readResource(rs); err != nil {
			return err
		}
		return eachMessage(rs, 2, func(ss []byte) error {
			return d.scopeSpans(ss, bad, span)
		})
	})
}

func (d *otlpDecoder) scopeSpans(src []byte, bad *rejected, span func(*row) error) error {
	var fc easyproto.FieldContext
	for len(src) > 0 {
		var err error
		if src, err = fc.NextField(src); err != nil {
			return errProtobuf
		}
		if fc.FieldNum != 2 {
			continue
		}
		data, ok := fc.MessageData()
		if !ok {
			return errProtobuf
		}
		d.row.reset()
		reason, err := d.span(data)
		if err != nil {
			return err
		}
		if reason != "" {
			bad.add(reason)
			continue
		}
		if err := span(&d.row); err != nil {
			return err
		}
	}
	return nil
}

// span reads one span into the row; reason says why it is not taken.
func (d *otlpDecoder) span(src []byte) (reason string, err error) {
	const startTag, endTag = 7<<3 | 1, 8<<3 | 1 // eight bytes follow
	r := &d.row
	var startNano, endNano uint64
	d.dropped, d.events, d.links = 0, d.events[:0], d.links[:0]
	for len(src) > 0 {
		if num, data, rest := shortField(src); num != 0 {
			if reason, err = d.spanField(num, data); reason != "" || err != nil {
				return reason, err
			}
			src = rest
			continue
		}
		if len(src) > 8 && (src[0] == startTag || src[0] == endTag) {
			nano := binary.LittleEndian.Uint64(src[1:])
			if src[0] == startTag {
				startNano = nano
			} else {
				endNano = nano
			}
			src = src[9:]
			continue
		}
		var fc easyproto.FieldContext
		if src, err = fc.NextField(src); err != nil {
			return "", errProtobuf
		}
		ok := true
		switch fc.FieldNum {
		case 1, 2, 4, 5, 9, 11, 13, 15:
			var data []byte
			if data, ok = fc.Bytes(); ok {
				if reason, err = d.spanField(fc.FieldNum, data); reason != "" || err != nil {
					return reason, err
				}
			}
		case 6:
			var kind int32
			kind, ok = fc.Enum()
			r.kind = spanKind(kind)
		case 7:
			startNano, ok = fc.Fixed64()
		case 8:
			endNano, ok = fc.Fixed64()
		}
		if !ok {
			return "", errProtobuf
		}
	}
	r.start, r.end = int64(startNano/1000), int64(endNano/1000)
	if d.dropped > 0 {
		b := strconv.AppendInt(r.scratch.open(), int64(d.dropped), 10)
		r.attrs = append(r.attrs, attr{key: keyDropped, value: r.scratch.close(b), json: true})
	}
	if err := d.readEvents(); err != nil {
		return "", err
	}
	if err := d.readLinks(); err != nil {
		return "", err
	}
	r.finish()
	return "", nil
}

// shortField reads a field of bytes that has a number below 16 and less than
// 16 KiB, as nearly all have; num is zero if src does not begin with one.
func shortField(src []byte) (num uint32, data, rest []byte) {
	const wireBytes = 2
	if len(src) < 3 || src[0] >= 0x80 || src[0]&7 != wireBytes {
		return 0, nil, nil
	}
	n, from := int(src[1]), 2
	if n >= 0x80 {
		if src[2] >= 0x80 {
			return 0, nil, nil
		}
		n, from = n&0x7f|int(src[2])<<7, 3
	}
	if len(src) < from+n {
		return 0, nil, nil
	}
	return uint32(src[0] >> 3), src[from : from+n : from+n], src[from+n:]
}

// spanField reads a field of a span that consists of bytes.
func (d *otlpDecoder) spanField(num uint32, data []byte) (reason string, err error) {
	r := &d.row
	switch num {
	case 9:
		if len(r.attrs) >= maxAttributes {
			d.dropped++
			return "", nil
		}
		return "", d.attribute(data)
	case 1:
		if len(data) != len(r.trace) {
			return "trace_id must have 16 bytes", nil
		}
		copy(r.trace[:], data)
	case 2:
		if len(data) != len(r.span) {
			return "span_id must have 8 bytes", nil
		}
		copy(r.span[:], data)
	case 4:
		if len(data) != 0 && len(data) != len(r.parent) {
			return "parent_span_id must have 8 bytes or none", nil
		}
		copy(r.parent[:], data)
	case 5:
		r.name = data
	case 6, 7, 8:
		return "", errProtobuf // numbers, not bytes
	case 11:
		d.events = append(d.events, data)
	case 13:
		d.links = append(d.links, data)
	case 15:
		return "", d.status(data)
	}
	return "", nil
}

var keyDropped = []byte("assay.dropped_attributes")

// spanKind maps OTLP's kinds to the column's.
func spanKind(kind int32) int8 {
	switch kind {
	case 2:
		return kindServer
	case 3:
		return kindClient
	case 4:
		return kindProducer
	case 5:
		return kindConsumer
	default:
		return kindInternal
	}
}

func (d *otlpDecoder) status(src []byte) error {
	var fc easyproto.FieldContext
	var err error
	for len(src) > 0 {
		if src, err = fc.NextField(src); err != nil {
			return errProtobuf
		}
		ok := true
		switch fc.FieldNum {
		case 2:
			d.row.statusMessage, ok = fc.Bytes()
		case 3:
			var code int32
			code, ok = fc.Enum()
			if code == statusOK || code == statusError {
				d.row.status = int8(code)
			}
		}
		if !ok {
			return errProtobuf
		}
	}
	return nil
}

// attribute reads a KeyValue into the row: as a column if a convention says
// what it means, and as an attribute.
func (d *otlpDecoder) attribute(src []byte) error {
	var v value
	key, ok := shortKeyValue(src, &v)
	if !ok {
		var err error
		if key, v, err = keyValue(src); err != nil {
			return err
		}
	}
	return d.row.attribute(key, &v)
}

// shortKeyValue reads the form that nearly every KeyValue has: a key and a
// text, a number or a bool, each below 128 bytes and once. The Collector writes
// the value first, libraries the key.
func shortKeyValue(src []byte, v *value) (key []byte, ok bool) {
	const keyTag, valueTag, textTag, boolTag, intTag, realTag = 1<<3 | 2, 2<<3 | 2, 1<<3 | 2, 2 << 3, 3 << 3, 4<<3 | 1
	if len(src) < 4 {
		return nil, false
	}
	n := int(src[1])
	if n >= 0x80 || len(src) < n+4 {
		return nil, false
	}
	key, in := src[2:n+2:n+2], src[n+4:]
	if m := int(src[n+3]); m >= 0x80 || m != len(in) {
		return nil, false
	}
	switch {
	case src[0] == keyTag && src[n+2] == valueTag:
	case src[0] == valueTag && src[n+2] == keyTag:
		key, in = in, key
	default:
		return nil, false
	}
	if len(in) < 2 {
		return nil, false
	}
	switch in[0] {
	case textTag:
		v.kind, v.text = valueText, in[2:]
		return key, int(in[1]) == len(in)-2
	case intTag:
		u, size := binary.Uvarint(in[1:])
		v.kind, v.num = valueInt, int64(u)
		return key, size == len(in)-1
	case boolTag:
		v.kind, v.num = valueBool, int64(in[1])
		return key, len(in) == 2 && in[1] <= 1
	case realTag:
		if len(in) != 9 {
			return nil, false
		}
		v.kind, v.real = valueReal, math.Float64frombits(binary.LittleEndian.Uint64(in[1:]))
		return key, true
	default:
		return nil, false
	}
}

// attribute adds an attribute to the row and lets the conventions read it.
func (r *row) attribute(key []byte, v *value) error {
	if r.lift(key, v) {
		return nil
	}
	if v.kind == valueText {
		r.attrs = append(r.attrs, attr{key: key, value: v.text})
		return nil
	}
	b, err := appendValue(r.scratch.open(), v, 0)
	if err != nil {
		return err
	}
	r.attrs = append(r.attrs, attr{key: key, value: r.scratch.close(b), json: true})
	return nil
}

// eachMessage calls fn for every message in a field of src.
func eachMessage(src []byte, field uint32, fn func([]byte) error) error {
	var fc easyproto.FieldContext
	for len(src) > 0 {
		var err error
		if src, err = fc.NextField(src); err != nil {
			return errProtobuf
		}
		if fc.FieldNum != field {
			continue
		}
		data, ok := fc.MessageData()
		if !ok {
			return errProtobuf
		}
		if err := fn(data); err != nil {
			return err
		}
	}
	return nil
}

// readResource keeps what the resource says of its spans.
func (d *otlpDecoder) readResource(rs []byte) error {
	r := &d.row
	r.service, r.environment, r.release, r.resource = nil, nil, nil, nil
	d.resource = d.resource[:0]
	return eachMessage(rs, 1, func(res []byte) error {
		text, err := appendMap(d.resource, res, 1, 0)
		if err != nil {
			return err
		}
		d.resource, r.resource = text, text
		return eachMessage(res, 1, func(kv []byte) error {
			key, v, err := keyValue(kv)
			if err == nil {
				r.liftResource(key, &v)
			}
			return err
		})
	})
}
