package dataset

import "github.com/danielgtaylor/huma/v2"

// These types carry bounds into partial updates, where tags of the field
// cannot reach the value.
type (
	nameText     string
	longText     string
	statusText   string
	splitText    string
	tagList      []string
	weightNumber float64
)

func bounded(low, high int) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, MinLength: &low, MaxLength: &high}
}

// Schema bounds a name.
func (nameText) Schema(huma.Registry) *huma.Schema { return bounded(1, 200) }

// Schema bounds a description.
func (longText) Schema(huma.Registry) *huma.Schema { return bounded(0, 10000) }

// Schema lists the statuses.
func (statusText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{string(StatusActive), string(StatusArchived)}}
}

// Schema lists the splits.
func (splitText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{"train", "dev", "test"}}
}

// Schema bounds a list of tags.
func (tagList) Schema(huma.Registry) *huma.Schema {
	most := 50
	return &huma.Schema{Type: huma.TypeArray, Items: bounded(1, 64), MaxItems: &most, UniqueItems: true}
}

// Schema bounds a weight.
func (weightNumber) Schema(huma.Registry) *huma.Schema {
	low, high := 0.0, 1e6
	return &huma.Schema{Type: huma.TypeNumber, Minimum: &low, Maximum: &high}
}
