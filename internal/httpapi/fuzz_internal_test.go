package httpapi

import (
	"bytes"
	stdjson "encoding/json"
	"math"
	"net/url"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// fuzzShape has documented names, nested objects, lists and free-form values.
func fuzzShape() *shape {
	inner := &shape{fields: map[string]*shape{"innerName": nil, "freeForm": nil}, aliases: map[string]string{"inner_name": "innerName", "free_form": "freeForm"}}
	return &shape{
		fields:  map[string]*shape{"name": nil, "maxCount": nil, "inner": inner, "innerList": {elements: inner}, "freeForm": nil},
		aliases: map[string]string{"max_count": "maxCount", "inner_list": "innerList", "free_form": "freeForm"},
	}
}

func FuzzCheckJSON(f *testing.F) {
	for _, seed := range []string{
		`{"name":"n","maxCount":3,"inner":{"innerName":"a"},"innerList":[{"inner_name":"b"}],"freeForm":{"a_b":[1,2.50,"\u00e9"]}}`,
		`{"max_count":1,"maxCount":1.0}`, `{"max_count":1,"maxCount":2}`, `{"MaxCount":1}`, `{"zz":{"maxCount":1},"inner":{"zz":1}}`,
		`{"organizationId":"a","organization_id":"b"}`, `{"a":1,"a":2}`, `{"a":{"b":1,"b":1}}`, `[1,2`, `"\ud800"`, "\"\xff\"", `9007199254740993`,
		`1e999`, `-0`, `1E+2`, `null`, ` {} `, `{} x`, `[[[[]]]]`, `{"":{"":""}}`, `{"a/b~c":1}`, "\ufeff{}", `{"free_form":null,"freeForm":null}`, ``,
	} {
		f.Add([]byte(seed))
	}
	s := fuzzShape()
	f.Fuzz(func(t *testing.T, body []byte) {
		if checkJSON(body) != nil {
			return
		}
		require.True(t, stdjson.Valid(body), "accepted, and no JSON")
		for _, drop := range []bool{true, false} {
			once, err := s.normalize(body, func(string) bool { return drop })
			require.NoError(t, err)
			require.True(t, stdjson.Valid(once.body), "%s", once.body)
			if once.ambiguous != nil {
				continue // left for validation to refuse
			}
			again, err := s.normalize(once.body, func(string) bool { return drop })
			require.NoError(t, err)
			require.Equal(t, string(once.body), string(again.body), "normal is normal")
			require.Empty(t, again.organizations)
			if drop {
				require.Empty(t, again.ignored)
			}
			sameFreeForm(t, body, once.body)
		}
	})
}

// sameFreeForm checks that the free-form value at the top is what was sent.
func sameFreeForm(t *testing.T, before, after []byte) {
	t.Helper()
	var sent, kept map[string]jsontext.Value
	if stdjson.Unmarshal(before, &sent) != nil || stdjson.Unmarshal(after, &kept) != nil {
		return // no object
	}
	value, ok := sent["freeForm"]
	if !ok {
		value, ok = sent["free_form"]
	}
	got, stays := kept["freeForm"]
	require.Equal(t, ok, stays)
	if ok {
		require.True(t, sameJSON(value, got), "%s became %s", value, got)
	}
}

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"", "limit=5", "sort_by=a&sortBy=a", "sort_by=a&sortBy=b", "limit=1&limit=2", "zz=1&%ff=2", "a=%zz", "a;b", "limit=&limit=", "%73ortBy=x", "sort%5Fby=1&=2&&", "oneOf=a&one_of=b&oneOf=a", "id=1"} {
		f.Add(seed)
	}
	q := newQueryShape([]*huma.Param{
		{Name: "limit", In: "query", Schema: &huma.Schema{Type: huma.TypeInteger}},
		{Name: "sortBy", In: "query", Schema: &huma.Schema{Type: huma.TypeString}},
		{Name: "oneOf", In: "query", Schema: &huma.Schema{Type: huma.TypeArray}},
		{Name: "id", In: "path", Schema: &huma.Schema{Type: huma.TypeString}},
	})
	f.Fuzz(func(t *testing.T, raw string) {
		normal, ignored, err := q.normalize(raw)
		if err != nil {
			return
		}
		values, err := url.ParseQuery(normal)
		require.NoError(t, err)
		for name, list := range values {
			repeats, known := q.repeats[name]
			require.True(t, known, name)
			require.True(t, len(list) == 1 || repeats && len(list) <= maxRepeats, name)
		}
		for _, name := range ignored {
			require.NotContains(t, q.repeats, name)
			require.Empty(t, q.aliases[name])
		}
		again, rest, err := q.normalize(normal)
		require.NoError(t, err)
		require.Equal(t, normal, again)
		require.Empty(t, rest)
		requireHeader(t, headerList(ignored))
	})
}

// requireHeader fails unless a value can stand in a header.
func requireHeader(t *testing.T, value string) {
	t.Helper()
	require.Less(t, len(value), 600)
	require.Equal(t, -1, strings.IndexFunc(value, func(c rune) bool { return c < ' ' || c > '~' }), "%q", value)
}

func FuzzLocation(f *testing.F) {
	for _, seed := range []string{"body", "body.name", "body.items[3].weight", "body[3].x", "body.[", "body.]", "body..", "query.limit", "", ".", "body.a/b~c[0][1]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, loc string) {
		in, path := location(loc)
		if in != "body" {
			return
		}
		require.True(t, path == "" || path[0] == '/', path)
		require.NotRegexp(t, `~([^01]|$)`, path, "a JSON Pointer escapes its tildes")
	})
}

func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"", NextCursor(1), NextCursor(maxSafeInteger), "YzE6", "YzE6LTE", "!!", "YzE6MDE"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		n, err := CursorPage{Cursor: cursor}.After()
		if err != nil {
			require.Zero(t, n)
			return
		}
		require.Positive(t, n)
		if cursor == "" {
			require.Equal(t, int64(math.MaxInt64), n)
			return
		}
		same, err := CursorPage{Cursor: NextCursor(n)}.After()
		require.NoError(t, err)
		require.Equal(t, n, same)
	})
}

func FuzzIfMatch(f *testing.F) {
	for _, seed := range []string{"", "*", `"v1"`, `W/"v2"`, `"v+1"`, `"v01"`, `v1`, `"v9223372036854775808"`, `"v1", "v2"`, `W/W/"v1"`} {
		f.Add(seed, int64(0))
	}
	f.Add(`"v3"`, int64(4))
	f.Fuzz(func(t *testing.T, header string, inBody int64) {
		n, err := IfMatch{Header: header}.Expected(inBody)
		switch {
		case err != nil:
			require.Zero(t, n)
		case header == "" || header == "*":
			require.Equal(t, inBody, n)
		default:
			require.Equal(t, strings.TrimPrefix(header, "W/"), ETag(n))
			require.True(t, inBody == 0 || inBody == n)
		}
	})
}

func FuzzID(f *testing.F) {
	for _, seed := range []string{`"1"`, `1`, `0`, `"01"`, `1e3`, `null`, `"\u0031"`, `9007199254740992`, `""`, `"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var id ID
		if !stdjson.Valid(text) || id.UnmarshalJSON(text) != nil {
			return
		}
		require.Positive(t, int64(id))
		require.LessOrEqual(t, int64(id), int64(maxSafeInteger))
		require.Equal(t, id.String(), string(bytes.Trim(text, `"`)))
	})
}
