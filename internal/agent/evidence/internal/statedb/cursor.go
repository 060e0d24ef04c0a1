package statedb

import (
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/internal/db"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

// TakeCursor returns how far the traces of an organization were read, and keeps other
// holders from reading for a while. Free is false if one of them is reading. The first who
// asks begins at a time.
func (s DB) TakeCursor(ctx context.Context, org principal.OrgID, holder int64, begin time.Time, last time.Duration) (at trace.Arrival, free bool, err error) {
	r, err := db.New(s.db.Org(org)).TakeCursor(ctx, db.TakeCursorParams{OrgID: org, AtMs: begin.UnixMilli(), Holder: holder, Seconds: last.Seconds()})
	if postgres.NoRows(err) {
		return at, false, nil
	}
	if err != nil {
		return at, false, fmt.Errorf("take the cursor of traces: %w", err)
	}
	at.At = r.AtMs
	copy(at.ID[:], r.TraceID)
	return at, true, nil
}

// MoveCursor notes how far the traces were read, and lets other holders read on. If one of
// them has, nothing changes.
func (s DB) MoveCursor(ctx context.Context, org principal.OrgID, holder int64, before, after trace.Arrival) error {
	p := db.MoveCursorParams{OrgID: org, Holder: holder, AtMs: after.At, TraceID: after.ID[:], BeforeMs: before.At, BeforeID: before.ID[:]}
	if err := db.New(s.db.Org(org)).MoveCursor(ctx, p); err != nil {
		return fmt.Errorf("move the cursor of traces: %w", err)
	}
	return nil
}
