package httpapi

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/fault"
)

// Page is the offset paging of every list.
type Page struct {
	Limit  int `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"Entries per page."`
	Offset int `query:"offset" minimum:"0" maximum:"2147483647" default:"0" doc:"Entries to skip."`
}

// Paging is the response's part for a page of n out of total entries.
func (p Page) Paging(n int, total int64) Paging {
	return Paging{Limit: p.Limit, Offset: p.Offset, HasMore: int64(p.Offset+n) < total, Total: &total}
}

// Created bounds a list by when its entries were made.
type Created struct {
	CreatedAfter  time.Time `query:"createdAfter"`
	CreatedBefore time.Time `query:"createdBefore"`
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
	Cursor       string `query:"cursor" maxLength:"200" doc:"The next_cursor of the page before; not together with offset."`
	IncludeTotal bool   `query:"includeTotal" doc:"Also count all entries, which costs time on long lists."`
}

// maxOffset is where skipping becomes more expensive than a cursor's seek.
const maxOffset = 100_000

// Resolve refuses combinations that have no meaning.
func (p *CursorPage) Resolve(huma.Context) []error {
	if p.Cursor != "" && p.Offset > 0 {
		return []error{errInvalid.WithFields(fault.Field{In: "query", Path: "cursor", Code: "mutually_exclusive", Message: "cannot be combined with offset"})}
	}
	if p.Offset > maxOffset {
		return []error{fault.New(fault.Validation, "use_cursor", "offset is too large for this list: follow next_cursor instead.").
			WithFields(fault.Field{In: "query", Path: "offset", Code: "max", Message: "must be at most 100000; follow next_cursor instead", Limit: maxOffset})}
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

// NextCursor names the position after the last entry of a page.
func NextCursor(last int64) string {
	return base64.RawURLEncoding.EncodeToString([]byte("c1:" + strconv.FormatInt(last, 10)))
}

// Paging are the paging fields of a list's response.
type Paging struct {
	Limit      int    `json:"limit"`
	Offset     int    `json:"offset"`
	HasMore    bool   `json:"has_more"`
	NextCursor string `json:"next_cursor,omitempty"`
	Total      *int64 `json:"total,omitempty"`
}

// Deleted is the response of a deletion.
type Deleted struct {
	ID      ID   `json:"id"`
	Deleted bool `json:"deleted"`
}
