package trace

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/VictoriaMetrics/easyproto"

	"github.com/assayhq/assay/internal/principal"
)

// IngestLogs stores the records of an OTLP ExportLogsServiceRequest that name a
// trace: events of a model's work, such as the result of an evaluation, which
// are shown with the span that they belong to. Other records are rejected:
// this is no place for logs.
func (s *Service) IngestLogs(ctx context.Context, caller principal.Caller, body []byte) (Receipt, error) {
	records, err := countSpans(body) // the two messages have one shape
	if err != nil {
		return Receipt{}, ErrUnreadable
	}
	if err := s.spend(ctx, caller, records, len(body)); err != nil {
		return Receipt{}, err
	}
	settings, err := s.settings.get(ctx, caller.Org)
	if err != nil {
		return Receipt{}, err
	}
	return s.collect(ctx, len(body), func(b *block, p pass, got *Receipt) error {
		in := logIntake{block: b, pass: p, settings: settings, stored: stored{org: caller.Org, ingested: s.now().UnixMicro(), retention: settings.retention}}
		var bad rejected
		err := eachMessage(body, 1, func(rl []byte) error {
			return eachMessage(rl, 2, func(sl []byte) error {
				return eachMessage(sl, 2, func(record []byte) error {
					taken, reason, err := in.add(record)
					switch {
					case err != nil:
						return err
					case reason != "":
						bad.add(reason)
					case taken:
						got.Accepted++
					default:
						got.later++
					}
					return nil
				})
			})
		})
		got.Rejected, got.Reason = bad.spans, bad.reason
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		return nil
	})
}

// logIntake reads log records and adds them to a block.
type logIntake struct {
	block    *block
	pass     pass
	settings *orgSettings
	stored   stored
	scratch  arena
	redacted []byte
}

// add takes one LogRecord; reason says why it is rejected. One that is neither
// taken nor rejected belongs to the other pass.
func (in *logIntake) add(src []byte) (taken bool, reason string, err error) {
	in.scratch.reset()
	var r logRow
	var fc easyproto.FieldContext
	var nano, observed uint64
	var eventName []byte
	var body value
	for rest := src; len(rest) > 0; {
		if rest, err = fc.NextField(rest); err != nil {
			return false, "", errProtobuf
		}
		ok := true
		switch fc.FieldNum {
		case 1:
			nano, ok = fc.Fixed64()
		case 3:
			r.severity, ok = fc.Bytes()
		case 5:
			var data []byte
			if data, ok = fc.MessageData(); ok {
				body, err = anyValue(data)
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
			if id, ok = fc.Bytes(); ok && len(id) == len(r.trace) {
				copy(r.trace[:], id)
			}
		case 10:
			var id []byte
			if id, ok = fc.Bytes(); ok && len(id) == len(r.span) {
				copy(r.span[:], id)
			}
		case 11:
			observed, ok = fc.Fixed64()
		case 12:
			r.name, ok = fc.Bytes()
		}
		if err != nil {
			return false, "", err
		}
		if !ok {
			return false, "", errProtobuf
		}
	}
	if r.trace == (ID{}) {
		return false, "the record names no trace", nil
	}
	if len(r.name) == 0 {
		r.name = eventName
	}
	if nano == 0 {
		nano = observed
	}
	r.time = int64(nano / 1000)
	switch {
	case r.time <= 0 || r.time > in.stored.ingested+ahead:
		r.time = in.stored.ingested
	case r.time < earliest:
		return false, "the time of the record is before 2000-01-01; it must be in nanoseconds since 1970", nil
	}
	if !in.pass.takes(r.time) {
		return false, "", nil
	}
	if err := in.texts(&r, src, &body); err != nil {
		return false, "", err
	}
	r.id = eventID(&r)
	in.block.appendEvent(&r, in.stored)
	return true, "", nil
}

// texts fills the record's body and attributes, redacted.
func (in *logIntake) texts(r *logRow, src []byte, body *value) error {
	if body.kind != valueEmpty {
		text, err := appendValue(in.scratch.open(), body, 0)
		if err != nil {
			return err
		}
		r.body = in.redact(in.scratch.close(text))
	}
	text, err := appendMap(in.scratch.open(), src, 6, 0)
	if err != nil {
		return err
	}
	r.attributes = in.redact(in.scratch.close(text))
	return nil
}

func (in *logIntake) redact(text []byte) []byte {
	out, changed := in.settings.redactor.JSONText(in.redacted[:0], text)
	if !changed {
		return text
	}
	in.redacted = out[:0]
	return in.scratch.close(append(in.scratch.open(), out...))
}

// eventID is the same for the same record, so that sending it again adds
// nothing.
func eventID(r *logRow) (id [16]byte) {
	h := sha256.New()
	h.Write(r.trace[:])
	h.Write(r.span[:])
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(r.time)))
	for _, text := range [][]byte{r.name, r.severity, r.body, r.attributes} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write(text)
	}
	copy(id[:], h.Sum(nil))
	return id
}
