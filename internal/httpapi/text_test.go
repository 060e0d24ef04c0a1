package httpapi_test

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/httpapi/shape"
)

type colour string

func (colour) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum[colour]("red", "green", "blue")
}

// Tags of a field reach the value of a partial update.
func TestBoundsOfPartialUpdates(t *testing.T) {
	t.Parallel()
	type body struct {
		Name   httpapi.Set[string]         `json:"name,omitzero" minLength:"1" maxLength:"3" pattern:"^a*$"`
		Kind   httpapi.Patch[string]       `json:"kind,omitzero" enum:"a,b"`
		Weight httpapi.Patch[float64]      `json:"weight,omitzero" minimum:"0" maximum:"2"`
		Count  httpapi.Set[int]            `json:"count,omitzero" minimum:"1"`
		List   httpapi.Patch[[]string]     `json:"list,omitzero" maxItems:"2" maxLength:"1"`
		Colour httpapi.Set[colour]         `json:"colour,omitzero"`
		Some   httpapi.Set[colour]         `json:"some,omitzero" enum:"red"`
		Tags   httpapi.Patch[httpapi.Tags] `json:"tags,omitzero"`
		More   httpapi.Tags                `json:"more,omitzero" maxItems:"51"`
	}
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	s := shape.Of(registry, registry.Schema(reflect.TypeFor[body](), true, ""), reflect.TypeFor[body]())
	numbered := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, strconv.Quote(strconv.Itoa(i)))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	for text, want := range map[string]string{
		`{"name":"aaa","kind":"b","weight":2,"count":1,"list":["a","a"],"colour":"blue","some":"red","tags":["a","b"],"more":["a"]}`: "",
		`{"kind":null,"weight":null,"list":null,"tags":null}`:                                                                        "",

		`{"name":""}`:                   "/name length",
		`{"name":"aaaa"}`:               "/name length",
		`{"name":"b"}`:                  "/name pattern",
		`{"name":null}`:                 "/name type",
		`{"kind":"c"}`:                  "/kind enum",
		`{"weight":-1}`:                 "/weight min",
		`{"weight":2.5}`:                "/weight max",
		`{"count":0}`:                   "/count min",
		`{"list":["a","b","c"]}`:        "/list length",
		`{"list":["ab"]}`:               "/list/0 length",
		`{"colour":"black"}`:            "/colour enum",
		`{"some":"blue"}`:               "/some enum",
		`{"tags":` + numbered(51) + `}`: "/tags length",
		`{"more":` + numbered(51) + `}`: "",
		`{"more":` + numbered(52) + `}`: "/more length",
		`{"tags":["a","a"]}`:            "/tags format",
		`{"tags":[""]}`:                 "/tags/0 length",
		`{"tags":["` + strings.Repeat("a", 65) + `"]}`: "/tags/0 length",
	} {
		read, err := s.Read([]byte(text), nil)
		require.NoError(t, err, text)
		var got []string
		for _, v := range read.Violations {
			got = append(got, v.Path+" "+v.Code)
		}
		require.Equal(t, want, strings.Join(got, ", "), text)
	}
}
