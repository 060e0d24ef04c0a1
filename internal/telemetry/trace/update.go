package trace

import (
	"cmp"
	"context"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// update changes the trace row and returns the trace. A trace that has no row
// gets one, which begins with what its spans show.
func (s *Service) update(ctx context.Context, org principal.OrgID, id span.TraceID, edit func(*spandb.TraceRow)) (t Trace, deferred bool, err error) {
	now := s.now()
	var before Trace
	var row spandb.TraceRow
	var version uint64
	err = spandb.Together(ctx, func(ctx context.Context) (err error) {
		before, err = s.Find(ctx, org, id)
		return err
	}, func(ctx context.Context) (err error) {
		row, version, err = s.store.FindTraceRow(ctx, org, id)
		return err
	})
	if err != nil {
		return Trace{}, false, err
	}
	if version == 0 {
		row = traceRowOf(before)
	}
	if before.AutoClosed {
		row.Status = "" // open, and read as completed: the caller's status counts
	}
	was := row
	edit(&row)
	if row.Same(was) {
		return before, false, nil
	}
	switch row.Status {
	case was.Status:
		row.Status = cmp.Or(row.Status, StatusRunning)
	default:
		if err := move(before.Status, row.Status); err != nil {
			return Trace{}, false, err
		}
	}
	switch {
	case row.Status == StatusRunning && !row.End.IsZero():
		return Trace{}, false, fault.Invalid("body", "/endTime", "mutually_exclusive", "cannot be given while the trace is running: send a status too")
	case !row.End.IsZero() && row.End.Before(row.Start):
		return Trace{}, false, fault.Invalid("body", "/endTime", "min", "must not be before the trace's start")
	case row.Status != StatusRunning && row.End.IsZero():
		row.End = now
	}
	// The newest version stays, also if another process wrote the last one and
	// its clock is ahead.
	at := max(now.UnixMicro(), int64(version&^spandb.EndedBit)+1)
	got, err := s.insert(ctx, org, &batch{row: &row}, at)
	if err != nil {
		return Trace{}, false, err
	}
	if !got.Deferred {
		t, err = s.Find(ctx, org, id)
		return t, false, err
	}
	t = row.AsTrace(before.Ref, before.CreatedAt)
	t.Usage, t.Cost, t.SpanCount, t.ErrorCount = before.Usage, before.Cost, before.SpanCount, before.ErrorCount
	t.UpdatedAt = now
	if len(t.Input) == 0 {
		t.Input = before.Input
	}
	if len(t.Output) == 0 {
		t.Output = before.Output
	}
	return t, true, nil
}

// traceRowOf is the row for a trace that has none: it says what the trace's spans
// show, except for input and output: those are the spans' for as long as nobody
// sets them. A trace that is closed only because nothing came for long stays open
// in it.
func traceRowOf(t Trace) spandb.TraceRow {
	row := spandb.TraceRow{TraceID: t.ID, Name: t.Name, Status: StatusRunning, Start: t.Start}
	if t.Status != StatusRunning && !t.AutoClosed {
		row.Status, row.End = t.Status, t.End
	}
	return row
}
