package trace

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/db"
)

// ref is a trace's number and what is known of how the trace came to be.
type ref struct {
	number int64
	trace  span.TraceID
	// stub is true while the trace is only named.
	stub bool
	// digest names what created the trace over REST; nil if nothing did.
	digest  []byte
	created time.Time
}

// alive reports whether the trace exists even if ClickHouse shows nothing of
// it: it is named, or was created and is still on its way.
func (r ref) alive() bool { return r.stub || r.digest != nil }

// findRef returns the trace's number; ok is false if it has none.
func (s store) findRef(ctx context.Context, org principal.OrgID, trace span.TraceID) (r ref, ok bool, err error) {
	row, err := db.New(s.db.Org(org)).FindRef(ctx, db.FindRefParams{OrgID: org, TraceID: trace[:]})
	if postgres.NoRows(err) {
		return ref{}, false, nil
	}
	if err != nil {
		return ref{}, false, fmt.Errorf("find trace number: %w", err)
	}
	return toRef(row), true, nil
}

// findNumber returns the trace behind a number.
func (s store) findNumber(ctx context.Context, org principal.OrgID, number int64) (ref, error) {
	row, err := db.New(s.db.Org(org)).FindRefByNumber(ctx, db.FindRefByNumberParams{OrgID: org, TraceRef: number})
	if postgres.NoRows(err) {
		return ref{}, ErrNotFound
	}
	if err != nil {
		return ref{}, fmt.Errorf("find trace by number: %w", err)
	}
	return toRef(db.FindRefRow(row)), nil
}

func toRef(r db.FindRefRow) ref {
	return ref{number: r.TraceRef, trace: span.TraceID(r.TraceID), stub: r.Stub, digest: r.Digest, created: r.CreatedAt}
}

// claim is what became of the attempt to create a trace.
type claim struct {
	number  int64
	created time.Time // when the trace got its number
	// made is true if the trace had no number before, mine if its content is
	// what was brought.
	made, mine bool
}

// claimRef notes the digest of what creates a trace; the first one stays.
func (s store) claimRef(ctx context.Context, org principal.OrgID, trace span.TraceID, digest [32]byte, now time.Time) (claim, error) {
	r, err := db.New(s.db.Org(org)).ClaimRef(ctx, db.ClaimRefParams{OrgID: org, TraceID: trace[:], Digest: digest[:], CreatedAt: now})
	if err != nil {
		return claim{}, fmt.Errorf("claim trace: %w", err)
	}
	return claim{number: r.TraceRef, created: r.CreatedAt, made: r.Made, mine: bytes.Equal(r.Digest, digest[:])}, nil
}

// allocateRef gives the trace a number, or finds the one that it has.
func (s store) allocateRef(ctx context.Context, org principal.OrgID, trace span.TraceID, at time.Time) (int64, error) {
	r, err := db.New(s.db.Org(org)).AllocateRef(ctx, db.AllocateRefParams{OrgID: org, TraceID: trace[:], CreatedAt: at})
	if err != nil {
		return 0, fmt.Errorf("give trace a number: %w", err)
	}
	return r.TraceRef, nil
}

// refs returns the numbers of traces. Those that have none get one if they are mentioned at a
// time that is not zero.
func (s store) refs(ctx context.Context, q db.DBTX, org principal.OrgID, ids []span.TraceID, mentioned time.Time) (map[span.TraceID]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	raw := make([][]byte, len(ids))
	for i := range ids {
		raw[i] = ids[i][:]
	}
	if !mentioned.IsZero() {
		if err := db.New(q).MentionRefs(ctx, db.MentionRefsParams{OrgID: org, TraceIds: raw, CreatedAt: mentioned}); err != nil {
			return nil, fmt.Errorf("mention traces: %w", err)
		}
	}
	rows, err := db.New(q).RefsOf(ctx, db.RefsOfParams{OrgID: org, TraceIds: raw})
	if err != nil {
		return nil, fmt.Errorf("find numbers of traces: %w", err)
	}
	out := make(map[span.TraceID]int64, len(rows))
	for _, r := range rows {
		out[span.TraceID(r.TraceID)] = r.TraceRef
	}
	return out, nil
}
