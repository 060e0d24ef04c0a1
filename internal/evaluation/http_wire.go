package evaluation

import (
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Types of fields that tags cannot bound, because they stand in generic types
// or lists.
type (
	nameText    string
	longText    string
	datasetText string
	versionText int
	tagList     []string
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
