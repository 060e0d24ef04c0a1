package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/request"
)

// The pace of a stream of events.
const (
	lookEvery      = time.Second
	heartbeatEvery = 10 * time.Second // proxies close connections that are silent for a minute
	// A stream ends so long before the request would be cut off, so that it
	// ends in order.
	leaveBefore  = 3 * time.Second
	longestWatch = 5 * time.Minute // where requests have no time limit
)

// Events is a stream of Server-Sent Events that shows how a value of the type
// changes, from its present state to its last.
type Events[B any] struct {
	// Name is the kind of the events: one for the first value and one for each
	// change, at most once a second.
	Name string
	// Last is the kind of one more event, which repeats the last value and ends
	// the stream.
	Last string
	// Look finds the present value and reports whether it is the last.
	Look func(context.Context) (value B, last bool, err error)
	// News is the part of a value whose change is worth an event; nil means all
	// of it.
	News func(B) B
}

// Stream answers with the events. The first look comes before the response, so
// that its error is answered like any other. The stream ends after the last
// value, when the caller leaves or its key ends, when the process shuts down, and
// shortly before the time limit of requests; clients reconnect by themselves.
func (e Events[B]) Stream(ctx context.Context) (*Stream, error) {
	value, last, err := e.Look(ctx)
	if err != nil {
		return nil, err
	}
	return &Stream{Body: func(out huma.Context) {
		out.SetHeader("Content-Type", MediaEvents)
		out.SetHeader("X-Accel-Buffering", "no") // a proxy that collects events makes them late
		out.SetStatus(http.StatusOK)
		_, w := humachi.Unwrap(out)
		f := &feed[B]{Events: e, w: w, control: http.NewResponseController(w)}
		if err := f.watch(ctx, value, last); err != nil && ctx.Err() == nil {
			info := request.From(ctx)
			slog.WarnContext(ctx, "stream of events ends early", "request_id", info.ID, "operation", info.Operation, "error", err)
		}
	}}, nil
}

// feed writes one stream of events.
type feed[B any] struct {
	Events[B]
	w       http.ResponseWriter
	control *http.ResponseController
	sent    []byte // the news of the last event
}

// watch sends events until the stream ends.
func (f *feed[B]) watch(ctx context.Context, value B, last bool) error {
	end, ok := ctx.Deadline()
	if !ok {
		end = time.Now().Add(longestWatch + leaveBefore)
	}
	watching, cancel := context.WithDeadline(ctx, end.Add(-leaveBefore))
	defer cancel()
	if err := f.write("retry: 1000\n\n"); err != nil {
		return err
	}
	looks, heartbeats, stands := time.NewTicker(lookEvery), time.NewTicker(heartbeatEvery), time.NewTicker(standEvery)
	defer looks.Stop()
	defer heartbeats.Stop()
	defer stands.Stop()
	for {
		if err := f.change(value); err != nil {
			return err
		}
		if last {
			return f.event(f.Last, value)
		}
		select {
		case <-watching.Done():
			return nil
		case <-Closing(ctx):
			return nil
		case <-stands.C:
			if standing(watching) != nil {
				return nil // the caller learns why when it comes again
			}
		case <-heartbeats.C:
			if err := f.write(": here\n\n"); err != nil {
				return err
			}
		case <-looks.C:
			var err error
			if value, last, err = f.Look(watching); err != nil {
				if watching.Err() != nil {
					return nil
				}
				return err
			}
		}
	}
}

// change sends a value unless its news are those of the last one.
func (f *feed[B]) change(value B) error {
	news := value
	if f.News != nil {
		news = f.News(value)
	}
	text, err := json.Marshal(news, json.Deterministic(true))
	if err != nil || bytes.Equal(text, f.sent) {
		return err
	}
	f.sent = text
	return f.event(f.Name, value)
}

func (f *feed[B]) event(name string, value B) error {
	data, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return err
	}
	return f.write(fmt.Sprintf("event: %s\ndata: %s\n\n", name, data))
}

func (f *feed[B]) write(text string) error {
	if _, err := f.w.Write([]byte(text)); err != nil {
		return err
	}
	return f.control.Flush()
}
