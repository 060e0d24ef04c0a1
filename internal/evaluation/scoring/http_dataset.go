package scoring

import (
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DatasetText names a dataset in a request.
type DatasetText string

// Schema allows the number of a dataset too.
func (DatasetText) Schema(huma.Registry) *huma.Schema {
	shortest, longest, least := 1, 200, 1.0
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString, MinLength: &shortest, MaxLength: &longest},
		{Type: huma.TypeInteger, Minimum: &least},
	}, Examples: []any{"1042"}}
}

// UnmarshalJSON reads a text, or a number as its digits.
func (d *DatasetText) UnmarshalJSON(b []byte) error {
	if jsontext.Value(b).Kind() == '0' {
		var n float64 // validation has seen that it is an integer
		err := json.Unmarshal(b, &n)
		*d = DatasetText(strconv.FormatFloat(n, 'f', -1, 64))
		return err
	}
	return json.Unmarshal(b, (*string)(d))
}
