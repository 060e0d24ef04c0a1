package normal

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
)

// Event is an event as the envelope carries it. Time is when it happened, or when it
// was received if its sender does not say.
type Event struct {
	ID, Source, Type, Subject string
	// Format is empty if the sender does not say; it is then inferred from the type
	// and the shape.
	Format      Format
	Time        time.Time
	Traceparent string
	Schema      string // of the data
	Data        jsontext.Value
	// Checked says that the data is known to be JSON.
	Checked bool
}

// Read reads the attributes of an event from a text that is known to be JSON. The fields say
// what is wrong with them. The data is a part of the text, which must not be changed afterwards.
func Read(text jsontext.Value) (e Event, fields []fault.Field) {
	refuse := func(path, code, message string) { fields = append(fields, invalid(path, code, message)) }
	if len(text) > kind.MaxBody {
		refuse("", "length", "must have at most 262144 bytes")
		return e, fields
	}
	members, err := kind.ParseValues(text)
	if err != nil {
		refuse("", "type", "must be an object")
		return e, fields
	}
	get := func(name string, most int, required bool) string {
		raw := members[name]
		s := members.Text(name)
		switch {
		case len(raw) == 0 || raw.Kind() == 'n' || s == "" && raw.Kind() == '"':
			if required {
				refuse("/"+name, "required", "is required")
			}
		case raw.Kind() != '"':
			refuse("/"+name, "type", "must be a string")
		case utf8.RuneCountInString(s) > most || strings.ContainsRune(s, 0):
			refuse("/"+name, "length", fmt.Sprintf("must be text of at most %d characters", most))
		}
		return s
	}
	e = Event{
		ID: get("id", 256, true), Source: get("source", 1024, true), Type: get("type", 256, true), Subject: get("subject", 256, false),
		Traceparent: get("traceparent", 64, false), Format: Format(get("format", 64, false)), Schema: get("dataschema", 1024, false),
		Data: members["data"], Checked: true,
	}
	if at := get("time", 64, false); at != "" {
		t, err := time.Parse(time.RFC3339, at)
		if err != nil || t.Year() < 2000 || t.Year() > 9999 {
			refuse("/time", "format", "must be a time such as 2026-01-31T12:00:00Z, not before 2000")
		}
		e.Time = t.UTC()
	}
	if k := e.Data.Kind(); len(e.Data) == 0 || k == 'n' {
		refuse("/data", "required", "is required")
	}
	if e.Format != "" && !slices.Contains(Formats, e.Format) {
		refuse("/format", "enum", "is not a format that can be read")
	}
	return e, fields
}
