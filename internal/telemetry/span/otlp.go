package span

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"

	"github.com/VictoriaMetrics/easyproto"

	"github.com/assayhq/assay/internal/core/fault"
)

// Limits of what a request may hold.
const (
	maxDepth      = 32  // of nested attribute values
	maxAttributes = 512 // of one span; what is above is dropped and counted
)

// ErrUnreadable is what a sender sees of a body that cannot be read.
var ErrUnreadable = fault.New(fault.Validation, "otlp_unreadable", "The body is not the OTLP message that its content type announces.")

var errProtobuf = errors.New("the body is not an OTLP message")

// Decoder reads OTLP protobuf straight into rows. It is reused from
// request to request and then allocates nothing.
type Decoder struct {
	record   Record
	resource []byte // the resource's attributes, as JSON
	events   [][]byte
	links    [][]byte
	dropped  int // attributes above maxAttributes
}

// Rejected counts spans that are not taken, with the reason of the first.
type Rejected struct {
	Count  int
	Reason string
}

// Add counts a span that is not taken.
func (r *Rejected) Add(reason string) {
	r.Count++
	if r.Reason == "" {
		r.Reason = reason
	}
}

// Traces calls span for every span of an ExportTraceServiceRequest. A span
// that cannot be taken is counted; a body that cannot be read is an error.
func (d *Decoder) Traces(body []byte, bad *Rejected, span func(*Record) error) error {
	return eachMessage(body, 1, func(rs []byte) error {
		if err := d.readResource(rs); err != nil {
			return err
		}
		return eachMessage(rs, 2, func(ss []byte) error {
			return d.scopeSpans(ss, bad, span)
		})
	})
}

func (d *Decoder) scopeSpans(src []byte, bad *Rejected, span func(*Record) error) error {
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
		d.record.reset()
		reason, err := d.span(data)
		if err != nil {
			return err
		}
		if reason != "" {
			bad.Add(reason)
			continue
		}
		if err := span(&d.record); err != nil {
			return err
		}
	}
	return nil
}

// span reads one span into the record; reason says why it is not taken.
func (d *Decoder) span(src []byte) (reason string, err error) {
	const startTag, endTag = 7<<3 | 1, 8<<3 | 1 // eight bytes follow
	r := &d.record
	var startNano, endNano uint64
	var flags uint32
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
			r.Kind = spanKind(kind)
		case 7:
			startNano, ok = fc.Fixed64()
		case 8:
			endNano, ok = fc.Fixed64()
		case 16:
			flags, ok = fc.Fixed32()
		}
		if !ok {
			return "", errProtobuf
		}
	}
	r.Start, r.End = int64(startNano/1000), int64(endNano/1000)
	if d.dropped > 0 {
		b := strconv.AppendInt(r.scratch.open(), int64(d.dropped), 10)
		r.Attributes = append(r.Attributes, Attribute{Key: keyDropped, Value: r.scratch.close(b), JSON: true})
	}
	if flags&flagRemote == flagRemote && r.ParentID != (ID{}) {
		r.Attributes = append(r.Attributes, Attribute{Key: keyRemoteParent, Value: valueTrue, JSON: true})
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
func (d *Decoder) spanField(num uint32, data []byte) (reason string, err error) {
	r := &d.record
	switch num {
	case 9:
		if len(r.Attributes) >= maxAttributes {
			d.dropped++
			return "", nil
		}
		return "", d.attribute(data)
	case 1:
		if len(data) != len(r.TraceID) {
			return "trace_id must have 16 bytes", nil
		}
		copy(r.TraceID[:], data)
	case 2:
		if len(data) != len(r.ID) {
			return "span_id must have 8 bytes", nil
		}
		copy(r.ID[:], data)
	case 4:
		if len(data) != 0 && len(data) != len(r.ParentID) {
			return "parent_span_id must have 8 bytes or none", nil
		}
		copy(r.ParentID[:], data)
	case 5:
		r.Name = data
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

// KeyRemoteParent is the attribute of a span whose parent is in another process.
const KeyRemoteParent = "assay.remote_parent"

var keyRemoteParent, valueTrue = []byte(KeyRemoteParent), []byte("true")

// flagRemote are the flags of a span whose parent is in another process: one says
// that the sender knows where the parent is, the other where it is.
const flagRemote = 0x100 | 0x200

// spanKind maps OTLP's kinds to the column's.
func spanKind(kind int32) int8 {
	switch kind {
	case 2:
		return KindServer
	case 3:
		return KindClient
	case 4:
		return KindProducer
	case 5:
		return KindConsumer
	default:
		return KindInternal
	}
}

func (d *Decoder) status(src []byte) error {
	var fc easyproto.FieldContext
	var err error
	for len(src) > 0 {
		if src, err = fc.NextField(src); err != nil {
			return errProtobuf
		}
		ok := true
		switch fc.FieldNum {
		case 2:
			d.record.StatusMessage, ok = fc.Bytes()
		case 3:
			var code int32
			code, ok = fc.Enum()
			if code == StatusOK || code == StatusError {
				d.record.Status = int8(code)
			}
		}
		if !ok {
			return errProtobuf
		}
	}
	return nil
}

// attribute reads a KeyValue into the record: as a column if a convention says
// what it means, and as an attribute.
func (d *Decoder) attribute(src []byte) error {
	var v value
	key, ok := shortKeyValue(src, &v)
	if !ok {
		var err error
		if key, v, err = keyValue(src); err != nil {
			return err
		}
	}
	return d.record.attribute(key, &v)
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

// attribute adds an attribute to the record and lets the conventions read it.
func (r *Record) attribute(key []byte, v *value) error {
	if r.lift(key, v) {
		return nil
	}
	if v.kind == valueText {
		r.Attributes = append(r.Attributes, Attribute{Key: key, Value: v.text})
		return nil
	}
	b, err := appendValue(r.scratch.open(), v, 0)
	if err != nil {
		return err
	}
	r.Attributes = append(r.Attributes, Attribute{Key: key, Value: r.scratch.close(b), JSON: true})
	return nil
}

// Count counts the spans of an ExportTraceServiceRequest or the records of
// an ExportLogsServiceRequest, which have one shape, without looking into them.
func Count(body []byte) (n int, err error) {
	err = eachRecord(body, func([]byte) error {
		n++
		return nil
	})
	return n, err
}

// eachRecord calls fn for every span or log record of a request.
func eachRecord(body []byte, fn func([]byte) error) error {
	return eachMessage(body, 1, func(resource []byte) error {
		return eachMessage(resource, 2, func(scope []byte) error {
			return eachMessage(scope, 2, fn)
		})
	})
}

// IsMessage reports whether a body is a list of messages, whatever they hold.
func IsMessage(body []byte) bool {
	return eachMessage(body, 1, func([]byte) error { return nil }) == nil
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
func (d *Decoder) readResource(rs []byte) error {
	r := &d.record
	r.Service, r.Environment, r.Release, r.Resource = nil, nil, nil, nil
	d.resource = d.resource[:0]
	return eachMessage(rs, 1, func(res []byte) error {
		before := len(d.resource)
		text, err := appendMap(d.resource, res, 1, 0)
		if err != nil {
			return err
		}
		text = joined(text, before)
		d.resource, r.Resource = text, text
		return eachMessage(res, 1, func(kv []byte) error {
			key, v, err := keyValue(kv)
			if err == nil {
				r.liftResource(key, &v)
			}
			return err
		})
	})
}

// joined makes one JSON object of two, the second of which begins at at: a
// message that comes in two pieces is one.
func joined(text []byte, at int) []byte {
	switch {
	case at == 0:
		return text
	case string(text[at:]) == "{}":
		return text[:at]
	case at == len("{}"):
		return append(text[:0], text[at:]...)
	}
	text[at-1] = ','
	return append(text[:at], text[at+1:]...)
}
