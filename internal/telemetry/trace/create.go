package trace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// ErrExists is returned when a trace is created that exists with other
// content.
var ErrExists = fault.New(fault.Conflict, "already_exists", "A trace with this id exists and has other content. Change it with PATCH, or leave the id out to create another.")

// newID makes a trace id. One that comes from an Idempotency-Key is the same
// each time, so that a repetition finds the trace that the first request made.
func newID(org principal.OrgID, key string) (id span.TraceID) {
	if key == "" {
		_, _ = rand.Read(id[:])
		return id
	}
	sum := sha256.Sum256([]byte("trace\n" + org.String() + "\n" + key))
	copy(id[:], sum[:])
	return id
}

// newTrace is what is said when a trace is created.
type newTrace struct {
	spandb.TraceRow
	spans []span.JSONSpan
	// digest names the content: the same content creates the same trace.
	digest [sha256.Size]byte
	// fresh is true if the id was made for this request, fromKey if it comes
	// from an Idempotency-Key.
	fresh, fromKey bool
}

// created is a trace and how it came about.
type created struct {
	trace Trace
	// repeated is true if the same content created the trace before.
	repeated bool
	deferred bool
	// whole is true if the trace cannot have more than was sent now.
	whole bool
}

// create makes a trace, or fills one that is only named or known only from
// telemetry. Creating it again with the same content changes nothing.
//
// The trace's number and the digest of its content are kept first, the content
// second. A repetition writes the content again, at the age of the first
// attempt: it replaces nothing that came later, and it heals an attempt that
// ended in between.
func (s *Service) create(ctx context.Context, org principal.OrgID, n newTrace) (created, error) {
	now := s.now().Truncate(time.Microsecond) // as PostgreSQL keeps it
	var before ref
	var numbered bool
	if !n.fresh {
		var err error
		if before, numbered, err = s.store.findRef(ctx, org, n.TraceID); err != nil {
			return created{}, err
		}
	}
	c, err := s.store.claimRef(ctx, org, n.TraceID, n.digest, now)
	if err != nil {
		return created{}, err
	}
	if !c.mine {
		if n.fromKey {
			return created{}, change.ErrKeyReused
		}
		return created{}, ErrExists.With("id", n.TraceID.String())
	}
	since, at := c.created, now
	if !c.made {
		if since, err = s.since(ctx, org, n.TraceID, c.created); err != nil {
			return created{}, err
		}
	}
	repeated := !c.made && (!numbered || before.digest != nil)
	if repeated {
		at = since
	}
	if n.Start.IsZero() {
		n.Start = since
	}
	if n.Status != StatusRunning && n.End.IsZero() {
		n.End = at
	}
	w := batch{row: &n.TraceRow, spans: n.spans}
	got, err := s.insert(ctx, org, &w, at.UnixMicro())
	if err != nil {
		return created{}, err
	}
	out := created{trace: n.AsTrace(c.number, at), repeated: repeated, deferred: got.Deferred}
	out.trace.SpanCount = len(w.added)
	out.whole = c.made && (n.fresh || n.fromKey) && len(n.spans) == 0
	return out, nil
}

// since is when the trace began to exist for us: when it got its number, or
// when it was last deleted, whichever is later.
func (s *Service) since(ctx context.Context, org principal.OrgID, id span.TraceID, created time.Time) (time.Time, error) {
	d, ok, err := s.store.findDeletion(ctx, org, id)
	if err != nil || !ok || d.requested.Before(created) {
		return created, err
	}
	return d.requested.Add(time.Millisecond), nil
}
