package streamdb

import (
	"context"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
)

// List returns a page of records, newest first, and whether others follow. The ids come
// first: bodies are read of the page alone. Newest finds an id that no record is newer than.
func (s DB) List(ctx context.Context, org principal.OrgID, l record.List, newest func(context.Context, principal.OrgID) (int64, error)) (page []record.Record, more bool, err error) {
	var first int64
	if !pointed(l) {
		if first = l.Below; first == 0 {
			if first, err = newest(ctx, org); err != nil {
				return nil, false, err
			}
		}
	}
	found, err := s.pick(ctx, org, l, first)
	if err != nil {
		return nil, false, err
	}
	ids, more := fitting(found, l.Limit)
	page, err = s.Some(ctx, org, []kind.Name{l.Kind.Name}, ids)
	return page, more, err
}

const (
	// firstIDs is how many of the newest ids a list looks at first. If they are not
	// enough it goes on to so many times as many.
	firstIDs = 1 << 16
	growth   = 16
	// wholeIDs is from where on it looks at all that are left.
	wholeIDs = firstIDs * growth * growth
	// mostAtOnce is how many ids one question names; it has to fit into the server's
	// limit for its text.
	mostAtOnce = 10_000
)

// pick finds the records of a page, and one more if there is one. It looks at the newest
// first, and then at more and more others: what is common is found among few, and what is
// rare by what the table knows of its parts.
func (s DB) pick(ctx context.Context, org principal.OrgID, l record.List, first int64) (found []picked, err error) {
	need, width := l.Offset+l.Limit+1, int64(firstIDs)
	asked, from := min(need, mostAtOnce), max(0, first-width)
	for {
		ids, err := s.candidates(ctx, org, l, from, asked)
		if err != nil {
			return nil, err
		}
		matching, err := s.verified(ctx, org, l, ids)
		if err != nil {
			return nil, err
		}
		found = append(found, matching...)
		full := len(ids) == asked
		switch {
		case len(found) >= need || !full && from == 0:
			return found[min(l.Offset, len(found)):], nil
		case full: // there are others, but some of these have been replaced
			l.Below = ids[len(ids)-1]
			asked = min(asked*growth, mostAtOnce)
		default:
			l.Below = from
			if width *= growth; width > wholeIDs {
				width = first
			}
			from = max(0, first-width)
		}
	}
}
