package trace

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

const mediaLines = "application/x-ndjson"

func (s *Service) registerExport(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "exportTraces", Method: http.MethodGet, Path: "/api/traces/export", Tag: tag, Scope: principal.TracesRead, Status: 200, ContentType: mediaLines,
		Summary: "Export traces",
		Description: "Returns one trace per line, newest first, with its spans and without feedback. Each line has a `cursor`, which continues the export after that line. " +
			"An export that fails on the way or runs out of time breaks the connection, so that it cannot be mistaken for a complete one.",
	}, s.getExport)
}

type exportInput struct {
	FilterQuery
	Limit  int    `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"Maximum number of traces to return."`
	Cursor string `query:"cursor" maxLength:"200" doc:"The cursor of the last line that was read; the export continues after it."`
}

// exportLine is a trace on its line.
type exportLine struct {
	Cursor string `json:"cursor"`
	TraceBody
	Spans          []spanBody      `json:"spans"`
	SpansTruncated bool            `json:"spans_truncated"`
	Events         []spanEventBody `json:"events"`
}

// getExport sends lines as they are read. What fails before the first line is
// answered like any other error.
func (s *Service) getExport(ctx context.Context, in *exportInput) (*httpapi.Stream, error) {
	after, err := fromCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	lines := make(chan []byte)
	failed := make(chan error, 1)
	reading, stop := context.WithCancel(ctx)
	go func() {
		defer close(lines)
		defer func() {
			// No handler stands above this goroutine: a panic would end the process.
			if p := recover(); p != nil {
				failed <- fmt.Errorf("export panicked: %v\n%s", p, debug.Stack())
			}
		}()
		failed <- s.Export(reading, principal.From(ctx).Org, in.filter(), after, in.Limit, func(e *Exported) error {
			line, err := json.Marshal(toExportLine(e), json.Deterministic(true))
			if err != nil {
				return err
			}
			select {
			case lines <- append(line, '\n'):
				return nil
			case <-reading.Done():
				return reading.Err()
			}
		})
	}()
	first, ok := <-lines
	if !ok {
		if err := <-failed; err != nil {
			stop()
			return nil, err
		}
	}
	return httpapi.NewStream(ctx, map[string]string{"Content-Type": mediaLines}, func(w io.Writer) error {
		defer stop()
		if !ok {
			return nil
		}
		_, err := w.Write(first)
		for line := range lines {
			if err != nil {
				stop() // the caller has gone
				continue
			}
			_, err = w.Write(line)
		}
		if err == nil {
			err = <-failed
		}
		return err
	}), nil
}

func toExportLine(e *Exported) exportLine {
	return exportLine{
		Cursor: toCursor(e.At), TraceBody: toTraceBody(e.Trace), Spans: toSpanBodies(e.Spans), SpansTruncated: e.Truncated, Events: toEventBodies(e.Events),
	}
}
