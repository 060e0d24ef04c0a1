package httpapi

import (
	"context"
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/fault"
)

// Page is the offset paging of every list.
type Page struct {
	Limit  int `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"Maximum number of entries to return."`
	Offset int `query:"offset" minimum:"0" maximum:"2147483647" default:"0" doc:"Number of entries to skip."`
}

// Paging is the response's part for a page of n out of total entries.
func (p Page) Paging(n int, total int64) Paging {
	return Paging{Limit: p.Limit, Offset: p.Offset, HasMore: int64(p.Offset+n) < total, Total: total}
}

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

// CursorPage adds cursors, for lists that may be long.
type CursorPage struct {
	Page
	Cursor       string `query:"cursor" maxLength:"200" doc:"The next_cursor of the previous page. Cannot be combined with offset."`
	IncludeTotal bool   `query:"includeTotal" doc:"Whether to count all entries, which takes time on long lists."`
}

// maxOffset is where skipping becomes more expensive than a cursor's seek.
const maxOffset = 100_000

// Check refuses combinations that have no meaning.
func (p *CursorPage) Check(context.Context) error {
	if p.Cursor != "" && p.Offset > 0 {
		return fault.Invalid("query", "cursor", "mutually_exclusive", "cannot be combined with offset")
	}
	if p.Offset > maxOffset {
		return fault.New(fault.Validation, "use_cursor", "offset is too large for this list: follow next_cursor instead.").
			WithFields(fault.Field{In: "query", Path: "offset", Code: "max", Message: "must be at most 100000; follow next_cursor instead", Limit: maxOffset})
	}
	return nil
}

// After returns the position that the cursor names, or MaxInt64 if there is no
// cursor: lists are newest first and continue below a position.
func (p CursorPage) After() (int64, error) {
	if p.Cursor == "" {
		return math.MaxInt64, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err == nil {
		if n, ok := ParseID(strings.TrimPrefix(string(text), "c1:")); ok && strings.HasPrefix(string(text), "c1:") {
			return n, nil
		}
	}
	return 0, fault.Invalid("query", "cursor", "format", "is not a cursor that this list returned")
}

// Cut ends a page that was read with one entry more than it may have: the entry
// too many says that there is a next page. total counts if the caller asked.
func Cut[T any](p CursorPage, found []T, total int64, position func(T) int64) ([]T, CursorPaging) {
	paging := CursorPaging{Limit: p.Limit, Offset: p.Offset}
	if p.IncludeTotal {
		paging.Total = &total
	}
	if len(found) > p.Limit {
		found = found[:p.Limit]
		next := NextCursor(position(found[p.Limit-1]))
		paging.HasMore, paging.NextCursor = true, &next
	}
	return found, paging
}

// NextCursor names the position after the last entry of a page.
func NextCursor(last int64) string {
	return base64.RawURLEncoding.EncodeToString([]byte("c1:" + strconv.FormatInt(last, 10)))
}

// Paging are the paging fields of a list that counts its entries.
type Paging struct {
	Limit   int   `json:"limit" doc:"Entries per page, as requested."`
	Offset  int   `json:"offset" doc:"Entries skipped, as requested."`
	HasMore bool  `json:"has_more" doc:"Whether there are entries after this page."`
	Total   int64 `json:"total" doc:"Number of entries on all pages."`
}

// CursorPaging are the paging fields of a list that may be long.
type CursorPaging struct {
	Limit      int     `json:"limit" doc:"Entries per page, as requested."`
	Offset     int     `json:"offset" doc:"Entries skipped, as requested."`
	HasMore    bool    `json:"has_more" doc:"Whether there are entries after this page."`
	NextCursor *string `json:"next_cursor" doc:"The cursor of the next page; null on the last one."`
	Total      *int64  `json:"total" doc:"Number of entries on all pages; null unless the request has includeTotal=true."`
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
