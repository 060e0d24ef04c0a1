package span

import (
	"encoding/hex"
	"time"

	"github.com/VictoriaMetrics/easyproto"
)

// readEvents keeps the span's events as a JSON array, except those that a
// convention keeps elsewhere.
func (d *Decoder) readEvents() error {
	if len(d.events) == 0 {
		return nil
	}
	r := &d.record
	// The conventions may need scratch space, so they read first.
	kept := d.events[:0]
	for _, src := range d.events {
		e, err := readEvent(src)
		if err != nil {
			return err
		}
		if !r.liftEvent(&e) {
			kept = append(kept, src)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	b := append(r.scratch.open(), '[')
	for i, src := range kept {
		if i > 0 {
			b = append(b, ',')
		}
		e, err := readEvent(src)
		if err != nil {
			return err
		}
		b = AppendTime(append(b, `{"time":`...), int64(e.nano/1000))
		b = AppendJSONString(append(b, `,"name":`...), e.name)
		if b, err = appendMap(append(b, `,"attributes":`...), src, 3, 0); err != nil {
			return err
		}
		b = append(b, '}')
	}
	r.Events = r.scratch.close(append(b, ']'))
	return nil
}

// event is a span's event; its attributes are the KeyValue messages in field
// 3 of src.
type event struct {
	nano uint64
	name []byte
	src  []byte
}

func readEvent(src []byte) (e event, err error) {
	e.src = src
	var fc easyproto.FieldContext
	for len(src) > 0 {
		if src, err = fc.NextField(src); err != nil {
			return e, errProtobuf
		}
		ok := true
		switch fc.FieldNum {
		case 1:
			e.nano, ok = fc.Fixed64()
		case 2:
			e.name, ok = fc.Bytes()
		}
		if !ok {
			return e, errProtobuf
		}
	}
	return e, nil
}

// readLinks keeps the span's links as a JSON array.
func (d *Decoder) readLinks() error {
	if len(d.links) == 0 {
		return nil
	}
	b := append(d.record.scratch.open(), '[')
	for i, src := range d.links {
		var fc easyproto.FieldContext
		var traceID, spanID []byte
		var err error
		for rest := src; len(rest) > 0; {
			if rest, err = fc.NextField(rest); err != nil {
				return errProtobuf
			}
			ok := true
			switch fc.FieldNum {
			case 1:
				traceID, ok = fc.Bytes()
			case 2:
				spanID, ok = fc.Bytes()
			}
			if !ok {
				return errProtobuf
			}
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = hex.AppendEncode(append(b, `{"trace_id":"`...), traceID)
		b = hex.AppendEncode(append(b, `","span_id":"`...), spanID)
		if b, err = appendMap(append(b, `","attributes":`...), src, 4, 0); err != nil {
			return err
		}
		b = append(b, '}')
	}
	d.record.Links = d.record.scratch.close(append(b, ']'))
	return nil
}

// AppendTime appends a JSON string with a time in microseconds.
func AppendTime(b []byte, micros int64) []byte {
	b = append(b, '"')
	b = time.UnixMicro(micros).UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
	return append(b, '"')
}
