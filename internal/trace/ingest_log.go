package trace

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
	"github.com/assayhq/assay/internal/trace/internal/spandb"
)

// IngestLogs stores the records of an OTLP ExportLogsServiceRequest that name a
// trace: events of a model's work, such as the result of an evaluation, which
// are shown with the span that they belong to. Other records are rejected:
// this is not a store for logs.
func (s *Service) IngestLogs(ctx context.Context, caller principal.Caller, body []byte) (Receipt, error) {
	records, err := span.Count(body)
	if err != nil {
		return Receipt{}, span.ErrUnreadable
	}
	if err := s.spend(ctx, caller, records, len(body)); err != nil {
		return Receipt{}, err
	}
	settings, err := s.settings.get(ctx, caller.Org)
	if err != nil {
		return Receipt{}, err
	}
	return s.collect(ctx, len(body), func(b *spandb.Block, p spandb.Pass, got *Receipt) error {
		in := logIntake{block: b, pass: p, settings: settings, stamp: spandb.Stamp{Org: caller.Org, Ingested: s.now().UnixMicro(), Retention: settings.retention}}
		var bad span.Rejected
		err := in.decoder.Logs(body, func(r *span.LogRecord) error {
			taken, reason, err := in.add(r)
			switch {
			case err != nil:
				return err
			case reason != "":
				bad.Add(reason)
			case taken:
				got.Accepted++
			default:
				got.later++
			}
			return nil
		})
		got.Rejected, got.Reason = bad.Count, bad.Reason
		if err != nil {
			return fmt.Errorf("%w: %w", span.ErrUnreadable, err)
		}
		return nil
	})
}

// logIntake reads log records and adds them to a block.
type logIntake struct {
	decoder  span.LogDecoder
	block    *spandb.Block
	pass     spandb.Pass
	settings *orgSettings
	stamp    spandb.Stamp
	redacted []byte
}

// add takes one record; reason says why it is rejected. One that is neither
// taken nor rejected belongs to the other pass.
func (in *logIntake) add(r *span.LogRecord) (taken bool, reason string, err error) {
	if r.TraceID == (span.TraceID{}) {
		return false, "the record names no trace", nil
	}
	switch {
	case r.Time <= 0 || r.Time > in.stamp.Ingested+spandb.ClockAhead:
		r.Time = in.stamp.Ingested
	case r.Time < span.Earliest:
		return false, "the time of the record is before 2000-01-01; it must be in nanoseconds since 1970", nil
	}
	if !in.pass.Takes(r.Time) {
		return false, "", nil
	}
	if err := in.decoder.ReadTexts(); err != nil {
		return false, "", err
	}
	in.redact(&r.Body)
	in.redact(&r.Attributes)
	in.block.AppendEvent(r, in.stamp)
	return true, "", nil
}

// redact removes secrets from a text.
func (in *logIntake) redact(text *[]byte) {
	if len(*text) == 0 {
		return
	}
	out, changed := in.settings.redactor.JSONText(in.redacted[:0], *text)
	if !changed {
		return
	}
	in.redacted = out[:0]
	*text = in.decoder.Keep(out)
}
