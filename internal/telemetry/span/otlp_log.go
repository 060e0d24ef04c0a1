package span

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/VictoriaMetrics/easyproto"
)

// LogRecord is a log record that names a trace.
type LogRecord struct {
	TraceID                          TraceID
	SpanID                           ID
	Time                             int64
	Name, Severity, Body, Attributes []byte
}

// LogDecoder reads log records from OTLP protobuf, one after another; a record is
// good until the next one.
type LogDecoder struct {
	record  LogRecord
	src     []byte // the record
	body    value
	scratch arena
}

// Logs calls record for every record of an ExportLogsServiceRequest.
func (d *LogDecoder) Logs(body []byte, record func(*LogRecord) error) error {
	return eachRecord(body, func(src []byte) error {
		if err := d.read(src); err != nil {
			return err
		}
		return record(&d.record)
	})
}

// read reads one LogRecord without its body and attributes.
func (d *LogDecoder) read(src []byte) (err error) {
	d.scratch.reset()
	d.record, d.src, d.body = LogRecord{}, src, value{}
	r := &d.record
	var fc easyproto.FieldContext
	var nano, observed uint64
	var eventName []byte
	for rest := src; len(rest) > 0; {
		if rest, err = fc.NextField(rest); err != nil {
			return errProtobuf
		}
		ok := true
		switch fc.FieldNum {
		case 1:
			nano, ok = fc.Fixed64()
		case 3:
			r.Severity, ok = fc.Bytes()
		case 5:
			var data []byte
			if data, ok = fc.MessageData(); ok {
				err = d.body.read(data)
			}
		case 6:
			var kv []byte
			if kv, ok = fc.MessageData(); ok {
				var key []byte
				var v value
				if key, v, err = keyValue(kv); err == nil && string(key) == "event.name" && v.kind == valueText {
					eventName = v.text
				}
			}
		case 9:
			var id []byte
			if id, ok = fc.Bytes(); ok && len(id) == len(r.TraceID) {
				copy(r.TraceID[:], id)
			}
		case 10:
			var id []byte
			if id, ok = fc.Bytes(); ok && len(id) == len(r.SpanID) {
				copy(r.SpanID[:], id)
			}
		case 11:
			observed, ok = fc.Fixed64()
		case 12:
			r.Name, ok = fc.Bytes()
		}
		if err != nil {
			return err
		}
		if !ok {
			return errProtobuf
		}
	}
	if len(r.Name) == 0 {
		r.Name = eventName
	}
	if nano == 0 {
		nano = observed
	}
	r.Time = int64(nano / 1000)
	return nil
}

// ReadTexts reads the record's body and attributes.
func (d *LogDecoder) ReadTexts() error {
	if d.body.kind != valueEmpty {
		text, err := appendValue(d.scratch.open(), &d.body, 0)
		if err != nil {
			return err
		}
		d.record.Body = d.scratch.close(text)
	}
	text, err := appendMap(d.scratch.open(), d.src, 6, 0)
	if err != nil {
		return err
	}
	d.record.Attributes = d.scratch.close(text)
	return nil
}

// Keep copies a text into memory that is good until the next record.
func (d *LogDecoder) Keep(text []byte) []byte {
	return d.scratch.close(append(d.scratch.open(), text...))
}

// ID is the same for the same record, so that sending it again adds
// nothing.
func (r *LogRecord) ID() (id [16]byte) {
	h := sha256.New()
	h.Write(r.TraceID[:])
	h.Write(r.SpanID[:])
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(r.Time)))
	for _, text := range [][]byte{r.Name, r.Severity, r.Body, r.Attributes} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write(text)
	}
	copy(id[:], h.Sum(nil))
	return id
}
