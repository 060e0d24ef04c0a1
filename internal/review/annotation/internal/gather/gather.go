// Package gather makes the items of an annotation task from what there is already: the
// answers of a run, a dataset or traces.
package gather

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

const (
	// maxSourced is how many items a source can give: as many as one transaction adds.
	maxSourced = 1000
	// maxSourcedBytes is how many bytes the items of a source can have together: as many
	// as a request that adds items.
	maxSourcedBytes = 32 << 20
)

// Only says which part of a source is meant.
type Only string

// The parts.
const (
	OnlyAll           Only = "all"
	OnlyFailed        Only = "failed"
	OnlyLowConfidence Only = "low_confidence"
	OnlyInformative   Only = "most_informative"
)

// Source is what items are made from: a run, a dataset or traces.
type Source struct {
	Run     string        `json:"evaluation_run_id,omitzero"`
	Dataset string        `json:"dataset_id,omitzero"`
	Traces  *trace.Filter `json:"-"`
	Filter  any           `json:"trace_filter,omitzero"` // Traces as the caller sent them
	Version int           `json:"dataset_version,omitzero"`
	Sample  int           `json:"sample,omitzero"`
	Only    Only          `json:"only"`
	// Candidates counts what the sample was drawn from: all that the source has of the
	// part that is meant.
	Candidates int `json:"candidates"`
	// LeftOut counts what has no content, or too much of it.
	LeftOut int `json:"left_out"`
}

// Scope is what a caller needs to read the source.
func (s Source) Scope() principal.Scope {
	if s.Traces != nil {
		return principal.TracesRead
	}
	return principal.EvalRead
}

// Item is a copy of what a source has.
type Item struct {
	Run, TestCase int64
	Trace         *span.TraceID
	Content       jsontext.Value
	// Probability is how probable it was that the item was chosen; zero if it was not
	// chosen by chance.
	Probability float64
}

// Reader reads sources.
type Reader struct {
	Postgres    *postgres.DB
	Datasets    *dataset.Service
	Evaluations *evaluation.Service
	Scores      *score.Service
	Traces      *trace.Service
	// MaxItem is how many bytes an item can have.
	MaxItem int
}

// gathered are the items of a source so far. What a person could not be shown is left
// out before the next item is read.
type gathered struct {
	from  *Source
	most  int // bytes of an item
	items []Item
	bytes int
}

// probability is that of each candidate to be chosen; zero if chance did not choose.
func (s Source) probability() float64 {
	switch {
	case s.Sample == 0 || s.Sample >= s.Candidates:
		return 1
	case s.Only == OnlyInformative:
		return 0
	}
	return float64(s.Sample) / float64(s.Candidates)
}

// add keeps an item, if it has content and not too much of it, and takes its bytes from
// the budget of the request.
func (g *gathered) add(ctx context.Context, i Item) error {
	if i.Content == nil || len(i.Content) > g.most {
		g.from.LeftOut++
		return nil
	}
	if g.bytes += len(i.Content); g.bytes > maxSourcedBytes {
		return fault.Invalid("body", "/source/sample", "length", "must choose fewer: the items of the source have more than 32 MiB together")
	}
	if err := admission.From(ctx).Wait(ctx, len(i.Content)); err != nil {
		return err
	}
	i.Probability = g.from.probability()
	g.items = append(g.items, i)
	return nil
}

// Items makes items of a source, at most as many as one transaction adds.
func (r Reader) Items(ctx context.Context, org principal.OrgID, from *Source) ([]Item, error) {
	g := gathered{from: from, most: r.MaxItem}
	var err error
	switch {
	case from.Traces != nil:
		err = r.ofTraces(ctx, org, from, &g)
	case from.Run != "":
		err = r.ofRun(ctx, org, from, &g)
	default:
		err = r.ofDataset(ctx, org, from, &g)
	}
	return g.items, err
}

// choose takes a random sample of candidates, or the first ones if they are in the order
// of what they tell, or all of them in their order. More than fit need a sample, which the
// caller has to ask for.
func choose[T any](from *Source, all []T) ([]T, error) {
	from.Candidates = len(all)
	if from.Sample == 0 || from.Sample >= len(all) {
		if len(all) > maxSourced {
			return nil, fault.Invalid("body", "/source/sample", "required", fmt.Sprintf("is required: the source has %d items, and a task begins with at most %d", len(all), maxSourced))
		}
		return all, nil
	}
	if from.Only != OnlyInformative {
		//nolint:gosec // a sample takes chance, not secrecy
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return all[:from.Sample], nil
}

// onlyAll refuses a part that a source does not have.
func (s Source) onlyAll(what string) error {
	if s.Only != OnlyAll {
		return fault.Invalid("body", "/source/only", "enum", "must be all for "+what)
	}
	return nil
}

// Unknown turns what is not found into a violation of the field that names it.
func Unknown(err error, field, message string) error {
	if fault.IsNotFound(err) {
		return fault.Invalid("body", field, "unknown_reference", message)
	}
	return err
}
