package httpapi

import (
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"
)

func TestValuesOfAMapAreReadInBothCasings(t *testing.T) {
	t.Parallel()
	price := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"perMillion": {Type: huma.TypeNumber}}}
	s := newShape(nil, &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
		"pricesByModel": {Type: huma.TypeObject, AdditionalProperties: price},
	}})

	got, err := s.normalize([]byte(`{"prices_by_model":{"snake_model":{"per_million":1},"camelModel":{"perMillion":2,"extra":3}}}`), func(string) bool { return true })

	require.NoError(t, err)
	require.JSONEq(t, `{"pricesByModel":{"snake_model":{"perMillion":1},"camelModel":{"perMillion":2}}}`, string(got.body), "names of entries are the caller's")
	require.Equal(t, []string{"/pricesByModel/camelModel/extra"}, got.ignored)
}
