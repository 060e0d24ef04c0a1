package trace

import (
	"context"
	"strconv"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// resolve finds the id of the trace that a path names, by its hexadecimal id or
// by its number. An id may name a trace that does not exist yet.
func (s *Service) resolve(ctx context.Context, org principal.OrgID, text string) (span.TraceID, error) {
	if len(text) == 2*len(span.TraceID{}) {
		id, ok := span.ParseTraceID(text)
		if !ok {
			return span.TraceID{}, ErrNotFound
		}
		return id, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || text != strconv.FormatInt(n, 10) {
		return span.TraceID{}, ErrNotFound
	}
	r, err := s.store.findNumber(ctx, org, n)
	return r.trace, err
}

// Resolve finds the id of a trace that the organization has, by its hexadecimal id or
// by its number.
func (s *Service) Resolve(ctx context.Context, org principal.OrgID, text string) (span.TraceID, error) {
	id, err := s.resolve(ctx, org, text)
	if err != nil {
		return span.TraceID{}, err
	}
	r, ok, err := s.store.findRef(ctx, org, id)
	if err != nil {
		return span.TraceID{}, err
	}
	if ok && r.alive() {
		return id, nil
	}
	ok, err = s.isStored(ctx, org, id)
	if err == nil && !ok {
		err = ErrNotFound
	}
	return id, err
}

// isStored reports whether ClickHouse has something of the trace that came after
// its last deletion.
func (s *Service) isStored(ctx context.Context, org principal.OrgID, id span.TraceID) (bool, error) {
	e, ok, err := s.store.Extent(ctx, org, id)
	if err != nil || !ok {
		return false, err
	}
	d, deleted, err := s.store.findDeletion(ctx, org, id)
	return !deleted || e.LastIngest.After(d.requested), err
}

// Numbered returns the trace that has a number.
func (s *Service) Numbered(ctx context.Context, org principal.OrgID, number int64) (span.TraceID, error) {
	r, err := s.store.findNumber(ctx, org, number)
	return r.trace, err
}
