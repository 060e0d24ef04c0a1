package evaluation

import (
	"fmt"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/metric"
)

// Types of fields that tags cannot bound, because they stand in generic types
// or lists.
type (
	nameText    string
	longText    string
	datasetText string
	versionText int
	tagList     []string
	metricList  []string
	judgeList   []httpapi.IDInput
	numberMap   map[string]float64
)

func bounded(low, high int) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, MinLength: &low, MaxLength: &high}
}

func (nameText) Schema(huma.Registry) *huma.Schema { return bounded(1, 200) }
func (longText) Schema(huma.Registry) *huma.Schema { return bounded(0, 10000) }

// Schema allows the number of a dataset too.
func (datasetText) Schema(huma.Registry) *huma.Schema {
	least := 1.0
	return &huma.Schema{OneOf: []*huma.Schema{bounded(1, 200), {Type: huma.TypeInteger, Minimum: &least}}, Examples: []any{"1042"}}
}

// UnmarshalJSON reads a text, or a number as its digits.
func (d *datasetText) UnmarshalJSON(b []byte) error {
	if jsontext.Value(b).Kind() == '0' {
		var n float64 // validation has seen that it is an integer
		err := json.Unmarshal(b, &n)
		*d = datasetText(strconv.FormatFloat(n, 'f', -1, 64))
		return err
	}
	return json.Unmarshal(b, (*string)(d))
}

func (versionText) Schema(huma.Registry) *huma.Schema {
	low, high := 1.0, 2147483647.0
	return &huma.Schema{Type: huma.TypeInteger, Minimum: &low, Maximum: &high}
}

func (tagList) Schema(huma.Registry) *huma.Schema {
	most := 50
	return &huma.Schema{Type: huma.TypeArray, Items: bounded(1, 64), MaxItems: &most}
}

// metricName is the form of a metric's name.
const metricName = `^[A-Za-z][A-Za-z0-9_.:-]{0,63}$`

func (metricList) Schema(huma.Registry) *huma.Schema {
	least, most := 1, 50
	return &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, Pattern: metricName}, MinItems: &least, MaxItems: &most}
}

func (judgeList) Schema(r huma.Registry) *huma.Schema {
	most := 50
	return &huma.Schema{Type: huma.TypeArray, Items: httpapi.IDInput(0).Schema(r), MaxItems: &most}
}

// metricsInput are the names of metrics, or the scores that a response has in
// their place, which say nothing.
type metricsInput struct {
	names []string
	shown bool
}

// Schema allows both forms.
func (metricsInput) Schema(r huma.Registry) *huma.Schema {
	shown := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeNumber}, Description: "Ignored: what responses have here."}
	return &huma.Schema{OneOf: []*huma.Schema{metricList(nil).Schema(r), shown}}
}

// UnmarshalJSON reads both forms.
func (m *metricsInput) UnmarshalJSON(b []byte) error {
	if m.shown = jsontext.Value(b).Kind() == '{'; m.shown {
		return nil
	}
	return json.Unmarshal(b, &m.names)
}

func (numberMap) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeNumber}}
}

// fromParams reads the parameters of metrics. An empty object has none.
func fromParams(m httpapi.Object) (map[string]metric.Params, error) {
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
			return nil, fault.Invalid("body", "/metricParams/"+pointer(name), "type", fmt.Sprintf("must be an object with the parameters of %s", name))
		}
		out[name] = p
	}
	return out, nil
}
