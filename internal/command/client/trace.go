package client

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client/api"
)

// StatusRunning is the status of a trace that has not ended; every other one
// is an end.
const StatusRunning = "running"

// Trace is one trace of a list.
type Trace struct {
	api.Trace
	// Raw is the trace as the server wrote it, with fields not named here.
	Raw jsontext.Value `json:"-"`
}

// Detail is a trace with its spans.
type Detail struct {
	api.TraceDetail
	Spans []Span `json:"spans"`
	// Raw is the trace as the server wrote it, with fields not named here.
	Raw jsontext.Value `json:"-"`
}

// Span is one span of a trace. What went in and came out is as the server wrote
// it, to the last digit.
type Span struct {
	api.Span
	Input  jsontext.Value `json:"input"`
	Output jsontext.Value `json:"output"`
}

// Query narrows a list of traces. Zero values ask for nothing.
type Query struct {
	Status      string
	Search      string
	UserID      string
	Environment string
	ServiceName string
	AgentName   string
	HasError    bool

	StartAfter, StartBefore time.Time
	Limit                   int
	Cursor                  string
}

// Values are the parameters of the query.
func (q Query) Values() url.Values {
	v := url.Values{}
	for name, text := range map[string]string{
		"status": q.Status, "search": q.Search, "userId": q.UserID, "environment": q.Environment, "serviceName": q.ServiceName, "agentName": q.AgentName,
		"startAfter": moment(q.StartAfter), "startBefore": moment(q.StartBefore), "cursor": q.Cursor,
	} {
		if text != "" {
			v.Set(name, text)
		}
	}
	if q.HasError {
		v.Set("hasError", "true")
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return v
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// Page is one page of a list, newest first.
type Page struct {
	Traces []Trace
	// Next is the cursor of the page that follows, empty on the last one.
	Next string
	// DeferredSince is since when the server has telemetry that it cannot show
	// yet; zero if there is none.
	DeferredSince time.Time
}

// Traces returns one page of the traces that the query asks for.
func (c *Client) Traces(ctx context.Context, q Query) (Page, Answer, error) {
	var body struct {
		Traces        []jsontext.Value `json:"traces"`
		HasMore       bool             `json:"has_more"`
		NextCursor    string           `json:"next_cursor"`
		DeferredSince time.Time        `json:"deferred_since"`
	}
	a, err := c.get(ctx, "/api/traces", q.Values(), &body)
	if err != nil {
		return Page{}, a, err
	}
	if body.Traces == nil {
		return Page{}, a, fmt.Errorf("%s: %w", c.base, errFormat)
	}
	page := Page{Traces: make([]Trace, len(body.Traces)), DeferredSince: body.DeferredSince}
	if body.HasMore {
		page.Next = body.NextCursor
	}
	for i, raw := range body.Traces {
		t := &page.Traces[i]
		if err := json.Unmarshal(raw, t); err != nil || t.ID == "" {
			return Page{}, a, fmt.Errorf("%s: %w", c.base, errFormat)
		}
		t.Raw = raw
	}
	return page, a, nil
}

var traceID = regexp.MustCompile(`^([0-9a-f]{32}|[0-9]{1,16})$`)

// Trace returns a trace with its spans. The id is the trace's 32 hex digits or
// its number.
func (c *Client) Trace(ctx context.Context, id string) (Detail, error) {
	id = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(id), "#"))
	if !traceID.MatchString(id) {
		return Detail{}, fmt.Errorf("%q is not a trace ID: use its 32 hexadecimal digits, or the trace number", plain(id))
	}
	var raw jsontext.Value
	if _, err := c.get(ctx, "/api/traces/"+id, nil, &raw); err != nil {
		return Detail{}, err
	}
	var d Detail
	if err := json.Unmarshal(raw, &d); err != nil || d.ID == "" {
		return Detail{}, fmt.Errorf("%s: %w", c.base, errFormat)
	}
	d.Raw = raw
	return d, nil
}
