package trace

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// promotion is traces on their way into a dataset.
type promotion struct {
	dataset int64
	output  bool // whether outputs become expected outputs
	traces  []promoted
}

// promoted is one of them and what became of it.
type promoted struct {
	id            span.TraceID
	input, output jsontext.Value
	// item is the item that has the trace's content, zero if the trace has no
	// input.
	item      int64
	digest    string
	duplicate bool
}

// gatherAtOnce bounds how many traces are read at a time.
const gatherAtOnce = 8

// gather reads the traces. Those that do not exist are reported together.
func (s *Service) gather(ctx context.Context, org principal.OrgID, names []string, p *promotion) error {
	p.traces = make([]promoted, len(names))
	missing := make([]bool, len(names))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(gatherAtOnce)
	for i, name := range names {
		g.Go(func() error {
			t, err := s.readNamed(ctx, org, name)
			if errors.Is(err, ErrNotFound) {
				missing[i] = true
				return nil
			}
			p.traces[i] = promoted{id: t.ID, input: t.Input, output: t.Output}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var fields []fault.Field
	for i, gone := range missing {
		if gone {
			fields = append(fields, fault.Field{In: "body", Path: "/traceIds/" + strconv.Itoa(i), Code: "unknown_reference", Message: "the trace does not exist"})
		}
	}
	if len(fields) > 0 {
		return fault.New(fault.Validation, "invalid_request", "The request is not valid.").WithFields(fields...)
	}
	return nil
}

func (s *Service) readNamed(ctx context.Context, org principal.OrgID, name string) (Trace, error) {
	id, err := s.resolve(ctx, org, name)
	if err != nil {
		return Trace{}, err
	}
	return s.Find(ctx, org, id)
}

// items are what becomes of the traces that have an input, with the trace of each.
func (p *promotion) items() (items []dataset.Item, from []int) {
	for i, t := range p.traces {
		if len(t.input) == 0 {
			continue
		}
		item := dataset.Item{Content: dataset.Content{Input: t.input}, Weight: 1, Source: dataset.Source{Type: "trace", ID: t.id.String()}}
		if p.output {
			item.Content.ExpectedOutput = t.output
		}
		items, from = append(items, item), append(from, i)
	}
	return items, from
}

// promoteTx adds the items of traces to the dataset.
func (s *Service) promoteTx(ctx context.Context, tx postgres.Tx, p *promotion, items dataset.Prepared, from []int) error {
	added, err := s.datasets.AddItemsTx(ctx, tx, items)
	if errors.Is(err, dataset.ErrNotFound) {
		return fault.Invalid("body", "/datasetId", "unknown_reference", "the dataset does not exist")
	}
	if err != nil {
		return ofTraces(err, from)
	}
	for _, a := range added {
		t := &p.traces[from[a.Index]]
		t.item, t.digest, t.duplicate = a.ID, a.Digest.String(), a.Duplicate
	}
	return nil
}

// ofTraces tells of items that do not match the dataset's schema in terms of
// the traces that they came from.
func ofTraces(err error, from []int) error {
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
			field.Path = "/traceIds/" + strconv.Itoa(from[n])
		}
		translated.Fields = append(translated.Fields, field)
	}
	return &translated
}
