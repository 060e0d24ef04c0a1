package trace

import (
	"context"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
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
	in := newIntake(caller.Org, settings, s.now().UnixMicro())
	defer in.rows.Release()
	var d span.LogDecoder
	var got Receipt
	var bad span.Rejected
	err = in.read(ctx, len(body), func() error {
		return d.Logs(body, func(r *span.LogRecord) error {
			reason, err := in.addLog(&d, r)
			switch {
			case err != nil:
				return err
			case reason != "":
				bad.Add(reason)
			default:
				got.Accepted++
			}
			return in.next()
		})
	})
	if err != nil {
		return Receipt{}, in.unreadable(err)
	}
	got.Rejected, got.Reason = bad.Count, bad.Reason
	return s.keep(ctx, in, got)
}

// addLog takes one record; reason says why it is rejected.
func (in *intake) addLog(d *span.LogDecoder, r *span.LogRecord) (reason string, err error) {
	if r.TraceID == (span.TraceID{}) {
		return "the record names no trace", nil
	}
	switch now := in.stamp.Ingested; {
	case r.Time <= 0 || r.Time > now+spandb.ClockAhead:
		r.Time = now
	case r.Time < span.Earliest:
		return "the time of the record is before 2000-01-01; it must be in nanoseconds since 1970", nil
	}
	if err := d.ReadTexts(); err != nil {
		return "", err
	}
	for _, text := range []*[]byte{&r.Body, &r.Attributes} {
		if out, changed := in.cleaned(*text, in.redactor.JSONText); changed {
			*text = d.Keep(out)
		}
	}
	return in.rows.AppendEvent(r, in.stamp), nil
}
