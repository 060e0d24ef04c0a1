package trace

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// promotion is traces, or spans of them, on their way into a dataset.
type promotion struct {
	dataset int64
	output  bool // whether outputs become expected outputs
	// list is the member of the request that names them.
	list   string
	traces []promoted
}

// spanName names a span; the zero id names its whole trace.
type spanName struct {
	trace string // id or number
	span  span.ID
}

// promoted is one of them and what became of it.
type promoted struct {
	id            span.TraceID
	span          span.ID // zero for a whole trace
	input, output jsontext.Value
	// item is the item that has the trace's content, zero if the trace has no
	// input.
	item      int64
	digest    string
	duplicate bool
}

// gatherAtOnce bounds how many traces are read at a time.
const gatherAtOnce = 8

// gather reads the traces and spans. Those that do not exist are reported
// together.
func (s *Service) gather(ctx context.Context, org principal.OrgID, names []spanName, p *promotion) error {
	p.traces = make([]promoted, len(names))
	missing := make([]bool, len(names))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(gatherAtOnce)
	for i, name := range names {
		g.Go(func() (err error) {
			p.traces[i], err = s.readNamed(ctx, org, name)
			if errors.Is(err, ErrNotFound) {
				missing[i] = true
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var fields []fault.Field
	for i, gone := range missing {
		if gone {
			what := "the trace"
			if names[i].span != (span.ID{}) {
				what = "the span"
			}
			fields = append(fields, fault.Field{In: "body", Path: p.path(i), Code: "unknown_reference", Message: what + " does not exist"})
		}
	}
	if len(fields) > 0 {
		return fault.New(fault.Validation, "invalid_request", "The request is not valid.").WithFields(fields...)
	}
	return nil
}

// path is where the request names one of them.
func (p *promotion) path(i int) string { return "/" + p.list + "/" + strconv.Itoa(i) }

// readNamed reads what went in and came out of a trace, or of one of its spans.
func (s *Service) readNamed(ctx context.Context, org principal.OrgID, name spanName) (promoted, error) {
	id, err := s.resolve(ctx, org, name.trace)
	if err != nil {
		return promoted{}, err
	}
	if name.span == (span.ID{}) {
		t, err := s.Find(ctx, org, id)
		return promoted{id: id, input: t.Input, output: t.Output}, err
	}
	k, err := s.lookUp(ctx, org, id)
	if err != nil {
		return promoted{}, err
	}
	if !k.stored {
		return promoted{}, ErrNotFound
	}
	found, ok, err := s.store.FindSpan(ctx, org, k.bounds, name.span)
	if err == nil && (!ok || found.Before(k.deleted)) {
		err = ErrNotFound
	}
	return promoted{id: id, span: name.span, input: spandb.JSONValue(found.Input), output: spandb.JSONValue(found.Output)}, err
}

// Payload is what went in and came out of a trace, or of one of its spans if it is
// named.
func (s *Service) Payload(ctx context.Context, org principal.OrgID, trace span.TraceID, of span.ID) (input, output jsontext.Value, err error) {
	p, err := s.readNamed(ctx, org, spanName{trace.String(), of})
	return p.input, p.output, err
}

// items are what becomes of the traces that have an input, with the trace of each.
func (p *promotion) items() (items []dataset.Item, from []int) {
	for i, t := range p.traces {
		if len(t.input) == 0 {
			continue
		}
		item := dataset.Item{Content: dataset.Content{Input: t.input}, Weight: 1, Source: t.source()}
		if p.output {
			item.Content.ExpectedOutput = t.output
		}
		items, from = append(items, item), append(from, i)
	}
	return items, from
}

// source is where the item of a trace comes from.
func (t *promoted) source() dataset.Source {
	if t.span != (span.ID{}) {
		return dataset.Source{Type: "span", ID: t.id.String() + "/" + t.span.String()}
	}
	return dataset.Source{Type: "trace", ID: t.id.String()}
}

// preparing prepares the items of a promotion whenever it is called; from says which trace each is of.
func (s *Service) preparing(ctx context.Context, org principal.OrgID, p *promotion) (prepare func() (dataset.Prepared, error), from []int) {
	items, from := p.items()
	return func() (dataset.Prepared, error) { return s.datasets.PrepareItems(ctx, org, p.dataset, items) }, from
}

// promoteTx adds the items of traces to the dataset.
func (s *Service) promoteTx(ctx context.Context, tx postgres.Tx, p *promotion, items dataset.Prepared, from []int) error {
	added, err := s.datasets.AddItemsTx(ctx, tx, items)
	if errors.Is(err, dataset.ErrNotFound) {
		return fault.Invalid("body", "/datasetId", "unknown_reference", "the dataset does not exist")
	}
	if err != nil {
		return p.inTermsOfTraces(err, from)
	}
	for _, a := range added {
		t := &p.traces[from[a.Index]]
		t.item, t.digest, t.duplicate = a.ID, a.Digest.String(), a.Duplicate
	}
	return nil
}

// inTermsOfTraces names the traces that items came from which do not match the
// dataset's schema.
func (p *promotion) inTermsOfTraces(err error, from []int) error {
	f, ok := fault.From(err)
	if !ok || len(f.Fields) == 0 {
		return err
	}
	translated := *f
	translated.Fields = nil
	for _, field := range f.Fields {
		rest, found := strings.CutPrefix(field.Path, "/items/")
		number, _, _ := strings.Cut(rest, "/")
		if n, err := strconv.Atoi(number); found && err == nil && n < len(from) {
			field.Message = strings.TrimSuffix("the item at "+strings.TrimPrefix(rest, number), " at ") + ": " + field.Message
			field.Path = p.path(from[n])
		}
		translated.Fields = append(translated.Fields, field)
	}
	return &translated
}
