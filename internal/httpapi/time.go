package httpapi

import (
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Time is a point in time, written in UTC with milliseconds.
type Time time.Time

// MarshalJSON writes 2026-01-31T12:00:00.000Z.
func (t Time) MarshalJSON() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
}

// UnmarshalJSON reads RFC 3339 with any offset.
func (t *Time) UnmarshalJSON(b []byte) error {
	return (*time.Time)(t).UnmarshalJSON(b)
}

// Schema documents the format.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Examples: []any{"2026-01-31T12:00:00.000Z"}}
}

// NullTime is a point in time as a response shows it, or null.
func NullTime(t *time.Time) Null[Time] { return NullOf((*Time)(t)) }
