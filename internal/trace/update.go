package trace

import (
	"cmp"
	"context"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// update changes what is said of a trace as a whole and returns the trace. A
// trace that nothing was said of gets a row of its own, which begins with what
// its spans show.
func (s *Service) update(ctx context.Context, org principal.OrgID, id span.TraceID, edit func(*ownRow)) (t Trace, deferred bool, err error) {
	now := s.now()
	var before Trace
	var own ownRow
	var version uint64
	err = together(ctx, func(ctx context.Context) (err error) {
		before, err = s.Find(ctx, org, id)
		return err
	}, func(ctx context.Context) (err error) {
		own, version, err = s.store.ownRow(ctx, org, id)
		return err
	})
	if err != nil {
		return Trace{}, false, err
	}
	if version == 0 {
		own = before.asOwnRow()
	}
	if before.AutoClosed {
		own.Status = "" // open, and read as completed: what is said counts
	}
	was := own
	edit(&own)
	if own.same(was) {
		return before, false, nil
	}
	switch own.Status {
	case was.Status:
		own.Status = cmp.Or(own.Status, StatusRunning)
	default:
		if err := move(before.Status, own.Status); err != nil {
			return Trace{}, false, err
		}
	}
	switch {
	case own.Status == StatusRunning && !own.End.IsZero():
		return Trace{}, false, fault.Invalid("body", "/endTime", "mutually_exclusive", "cannot be given while the trace is running: send a status too")
	case !own.End.IsZero() && own.End.Before(own.Start):
		return Trace{}, false, fault.Invalid("body", "/endTime", "min", "must not be before the trace's start")
	case own.Status != StatusRunning && own.End.IsZero():
		own.End = now
	}
	// The newest version stays, also if another process wrote the last one and
	// its clock is ahead.
	at := max(now.UnixMicro(), int64(version&^endedBit)+1)
	got, err := s.write(ctx, org, &write{own: &own}, at)
	if err != nil {
		return Trace{}, false, err
	}
	if !got.Deferred {
		t, err = s.Find(ctx, org, id)
		return t, false, err
	}
	t = own.trace(before.Ref, before.CreatedAt)
	t.Usage, t.Cost, t.SpanCount, t.ErrorCount = before.Usage, before.Cost, before.SpanCount, before.ErrorCount
	t.UpdatedAt = now
	return t, true, nil
}

// asOwnRow is the own row of a trace that has none: it says what the trace's
// spans show. A trace that is closed only because nothing came for long stays
// open in it.
func (t Trace) asOwnRow() ownRow {
	own := ownRow{Trace: t.ID, Name: t.Name, Status: StatusRunning, Start: t.Start, Input: t.Input, Output: t.Output}
	if t.Status != StatusRunning && !t.AutoClosed {
		own.Status, own.End = t.Status, t.End
	}
	return own
}
