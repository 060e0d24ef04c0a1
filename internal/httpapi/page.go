package httpapi

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
)

// Created bounds a list by when its entries were made.
type Created struct {
	CreatedAfter  time.Time `query:"createdAfter" doc:"Only entries created after this time."`
	CreatedBefore time.Time `query:"createdBefore" doc:"Only entries created before this time."`
}

// Bounds are nil where the caller gave none.
func (c Created) Bounds() (after, before *time.Time) {
	if !c.CreatedAfter.IsZero() {
		after = &c.CreatedAfter
	}
	if !c.CreatedBefore.IsZero() {
		before = &c.CreatedBefore
	}
	return after, before
}

// CursorPage selects a page of a list: every list has these parameters.
type CursorPage struct {
	Limit        int    `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"Maximum number of entries to return."`
	Offset       int    `query:"offset" minimum:"0" maximum:"2147483647" default:"0" doc:"Number of entries to skip, at most 100,000. To read a whole list, follow next_cursor."`
	Cursor       string `query:"cursor" maxLength:"200" doc:"The next_cursor of the previous page. Cannot be combined with offset."`
	IncludeTotal bool   `query:"includeTotal" doc:"Whether to count all entries, which takes time on long lists."`
}

// MaxOffset is where skipping becomes more expensive than a cursor's seek.
const MaxOffset = 100_000

// Check refuses combinations that have no meaning.
func (p *CursorPage) Check(context.Context) error {
	if p.Cursor != "" && p.Offset > 0 {
		return fault.Invalid("query", "cursor", "mutually_exclusive", "cannot be combined with offset")
	}
	if p.Offset > MaxOffset {
		return fault.New(fault.Validation, "use_cursor", "offset is too large for this list: follow next_cursor instead.").
			WithFields(fault.Field{In: "query", Path: "offset", Code: "max", Message: "must be at most 100000; follow next_cursor instead", Limit: MaxOffset})
	}
	return nil
}

// Paging is the response's part for a page that the one at the cursor next
// follows, or none if next is empty. total counts if the caller asked for it.
func (p CursorPage) Paging(next string, total int64) CursorPaging {
	paging := CursorPaging{Paging: Paging{Limit: p.Limit, Offset: p.Offset, HasMore: next != "", NextCursor: OrNull(next)}}
	if p.IncludeTotal {
		paging.Total = &total
	}
	return paging
}

// Cut ends a page that was read with one entry more than it may have: the entry
// too many shows that there is a next page, which begins after the cursor of the
// last entry.
func Cut[T any](p CursorPage, found []T, total int64, cursor func(last T) string) ([]T, CursorPaging) {
	if len(found) <= p.Limit {
		return found, p.Paging("", total)
	}
	found = found[:p.Limit]
	return found, p.Paging(cursor(found[p.Limit-1]), total)
}

// Paging are the paging fields of every list.
type Paging struct {
	Limit      int     `json:"limit" doc:"Entries per page, as requested."`
	Offset     int     `json:"offset" doc:"Entries skipped, as requested."`
	HasMore    bool    `json:"has_more" doc:"Whether there are entries after this page."`
	NextCursor *string `json:"next_cursor" doc:"The cursor of the next page; null on the last one."`
}

// CursorPaging are the paging fields of a list that counts its entries on
// request.
type CursorPaging struct {
	Paging
	Total *int64 `json:"total" doc:"Number of entries on all pages; null unless the request has includeTotal=true."`
}

// Deleted is the response of every deletion.
type Deleted[T string | int64] struct {
	ID      T    `json:"id" doc:"The id of what was deleted."`
	Deleted bool `json:"deleted" doc:"Always true."`
}

// DeletedOutput is the output of an operation that deletes.
type DeletedOutput[T string | int64] struct{ Body Deleted[T] }

// NewDeleted says that the resource with the id was deleted.
func NewDeleted[T string | int64](id T) *DeletedOutput[T] {
	return &DeletedOutput[T]{Body: Deleted[T]{ID: id, Deleted: true}}
}
