package gather

import (
	"context"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

// ofTraces makes items of what went in and came out of traces, the newest that match.
func (r Reader) ofTraces(ctx context.Context, org principal.OrgID, from *Source, g *gathered) error {
	switch from.Only {
	case OnlyFailed:
		failed := true
		from.Traces.HasError = &failed
	case OnlyLowConfidence, OnlyInformative:
		return from.onlyAll("traces, or failed")
	case OnlyAll:
	}
	var found []span.TraceID
	page := trace.Page{Limit: maxSourced}
	for len(found) < maxSourced {
		list, err := r.Traces.List(ctx, org, *from.Traces, page)
		if err != nil {
			return err
		}
		for _, t := range list.Traces[:min(len(list.Traces), maxSourced-len(found))] {
			found = append(found, t.ID)
		}
		if page.After = list.Next; !list.More || len(list.Traces) == 0 {
			break
		}
	}
	found, err := choose(from, found)
	if err != nil {
		return err
	}
	for _, id := range found {
		t, err := r.Traces.Find(ctx, org, id)
		if err != nil {
			return err
		}
		i := Item{Trace: &id}
		if t.Input != nil || t.Output != nil {
			if i.Content, err = shownContent(dataset.Content{Input: t.Input}, t.Output); err != nil {
				return err
			}
		}
		if err := g.add(ctx, i); err != nil {
			return err
		}
	}
	return nil
}
