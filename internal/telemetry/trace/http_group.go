package trace

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// GroupWindow is the window of a list of conversations or end users.
type GroupWindow struct {
	StartAfter  time.Time `query:"startAfter" doc:"Start of the window; by default 7 days before startBefore, at most 92 days."`
	StartBefore time.Time `query:"startBefore" doc:"End of the window; by default the current time."`
}

// groupCursor is the cursor of conversations or end users, by their latest
// activity.
type groupCursor = httpapi.Cursor[uint64]

// readGroups reads a page of conversations or end users, and counts all of them
// if the caller asks for it.
func (s *Service) readGroups(ctx context.Context, f GroupFilter, in GroupWindow, page httpapi.CursorPage, cursor groupCursor) (Groups, httpapi.CursorPaging, error) {
	org := principal.From(ctx).Org
	f.From, f.To = in.StartAfter, in.StartBefore
	after, err := cursor.Place(page.Cursor)
	if err != nil {
		return Groups{}, httpapi.CursorPaging{}, err
	}
	var found Groups
	var total int64
	err = spandb.Together(ctx, func(ctx context.Context) (err error) {
		found, err = s.ListGroups(ctx, org, f, GroupPage{
			Limit: page.Limit, Offset: page.Offset, After: spandb.TraceGroupPosition{Last: after.At, Hash: after.Tie},
		})
		return err
	}, func(ctx context.Context) (err error) {
		if page.IncludeTotal {
			total, err = s.CountGroups(ctx, org, f)
		}
		return err
	})
	next := ""
	if found.More {
		next = cursor.Text(httpapi.Place[uint64]{At: found.Next.Last, Tie: found.Next.Hash})
	}
	return found, page.Paging(next, total), err
}
