package scoring

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/metric"
)

// MetricList has names of metrics.
type MetricList []string

// maxMetrics is how many metrics an evaluation may have.
const maxMetrics = 50

// metricName is the form of a metric's name.
const metricName = `^[A-Za-z][A-Za-z0-9_.:-]{0,63}$`

// Schema bounds the names.
func (MetricList) Schema(huma.Registry) *huma.Schema {
	least, most := 1, maxMetrics
	return &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, Pattern: metricName}, MinItems: &least, MaxItems: &most}
}

// MetricsInput are the names of metrics, or the scores that a response has in
// their place, which say nothing.
type MetricsInput struct {
	names []string
	shown bool
}

// Schema allows both forms.
func (MetricsInput) Schema(r huma.Registry) *huma.Schema {
	shown := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeNumber}, Description: "Ignored: what responses have here."}
	return &huma.Schema{OneOf: []*huma.Schema{MetricList(nil).Schema(r), shown}}
}

// UnmarshalJSON reads both forms.
func (m *MetricsInput) UnmarshalJSON(b []byte) error {
	if m.shown = jsontext.Value(b).Kind() == '{'; m.shown {
		return nil
	}
	return json.Unmarshal(b, &m.names)
}

// FromParams reads the parameters of metrics. An empty object has none.
func FromParams(m httpapi.Object) (map[string]metric.Params, error) {
	if len(m) == 0 {
		return nil, nil
	}
	var sent map[string]jsontext.Value
	if err := json.Unmarshal(m, &sent); err != nil {
		return nil, fmt.Errorf("read parameters of metrics: %w", err)
	}
	if len(sent) == 0 {
		return nil, nil
	}
	out := make(map[string]metric.Params, len(sent))
	for name, text := range sent {
		var p metric.Params
		if err := json.Unmarshal(text, &p); err != nil {
			return nil, fault.Invalid("body", string(jsontext.Pointer("/metricParams").AppendToken(name)), "type", fmt.Sprintf("must be an object with the parameters of %s", name))
		}
		out[name] = p
	}
	return out, nil
}

// FromMetrics returns the names of the metrics that a request has, nil for none. The
// object of a response is noted as ignored.
func FromMetrics(ctx context.Context, m MetricsInput, names MetricList) ([]string, error) {
	if m.shown {
		header := request.From(ctx).Header
		header.Set("X-Ignored-Fields", strings.TrimPrefix(header.Get("X-Ignored-Fields")+", /metrics", ", "))
	}
	switch {
	case m.names == nil:
		return names, nil
	case names != nil && !slices.Equal(m.names, names):
		return nil, fault.Invalid("body", "/metricNames", "ambiguous_field", "differs from metrics; send one of them")
	}
	return m.names, nil
}

// FromJudges reads the ids of judge configurations.
func FromJudges(ids []httpapi.IDInput) (all []int64) {
	for _, id := range ids {
		all = append(all, int64(id))
	}
	return all
}
