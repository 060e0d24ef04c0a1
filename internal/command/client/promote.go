package client

import (
	"context"
	"strings"

	"github.com/assayhq/assay/internal/command/client/api"
)

// promoteAtOnce is how many traces one request makes items of.
const promoteAtOnce = 100

// Promoted is what became of traces that were added to a dataset.
type Promoted struct {
	Created int
	Skipped []api.SkippedTrace
}

// AddTraces makes an item of each trace, or of each span that is named as
// TRACE/SPAN. With output, what came out becomes the expected output. Repeating it
// is safe: content that the dataset has is skipped.
func (c *Client) AddTraces(ctx context.Context, dataset string, names []string, output bool) (Promoted, error) {
	var done Promoted
	var traces []string
	var spans []api.SpanName
	for _, name := range names {
		name = strings.TrimPrefix(name, "#") // as Trace takes it
		if trace, span, ok := strings.Cut(name, "/"); ok {
			spans = append(spans, api.SpanName{TraceID: trace, SpanID: span})
		} else {
			traces = append(traces, name)
		}
	}
	for len(traces)+len(spans) > 0 {
		in := api.AddTracesToDataset{DatasetID: dataset, IncludeOutput: &output}
		if len(traces) > 0 {
			in.TraceIDs, traces = cut(traces)
		} else {
			in.Spans, spans = cut(spans)
		}
		if err := c.promote(ctx, in, &done); err != nil {
			return done, err
		}
	}
	return done, nil
}

// cut is what fits into a request, and the rest.
func cut[T any](list []T) (some, rest []T) {
	n := min(len(list), promoteAtOnce)
	return list[:n], list[n:]
}

func (c *Client) promote(ctx context.Context, in api.AddTracesToDataset, done *Promoted) error {
	var added api.AddedTraces
	if _, err := c.Call(func(k api.Client) (err error) {
		added, err = k.AddTracesToDataset(ctx, in)
		return err
	}); err != nil {
		return err
	}
	done.Created += len(added.Items)
	done.Skipped = append(done.Skipped, added.Skipped...)
	return nil
}

// AllTraces returns the newest traces that the query asks for, as many as its
// limit, however many pages they take.
func (c *Client) AllTraces(ctx context.Context, q Query) ([]Trace, error) {
	var all []Trace
	most := q.Limit
	for len(all) < most {
		q.Limit = min(most-len(all), lookPage)
		page, _, err := c.Traces(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Traces...)
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	return all, nil
}
