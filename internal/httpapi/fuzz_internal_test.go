package httpapi

import (
	"bytes"
	stdjson "encoding/json"
	"math"
	"net/url"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/httpapi/shape"
)

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"", "limit=5", "sort_by=a&sortBy=a", "sort_by=a&sortBy=b", "limit=1&limit=2", "zz=1&%ff=2", "a=%zz", "a;b", "limit=&limit=", "%73ortBy=x", "sort%5Fby=1&=2&&", "oneOf=a&one_of=b&oneOf=a", "id=1"} {
		f.Add(seed)
	}
	q := newQueryShape(nil, []*huma.Param{
		{Name: "limit", In: "query", Schema: &huma.Schema{Type: huma.TypeInteger}},
		{Name: "sortBy", In: "query", Schema: &huma.Schema{Type: huma.TypeString}},
		{Name: "oneOf", In: "query", Schema: &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}}},
		{Name: "id", In: "path", Schema: &huma.Schema{Type: huma.TypeString}},
	})
	f.Fuzz(func(t *testing.T, raw string) {
		normal, ignored, violations, err := q.normalize(raw)
		if err != nil || len(violations) > 0 {
			return
		}
		values, err := url.ParseQuery(normal)
		require.NoError(t, err)
		for name, list := range values {
			s, known := q.shapes[name]
			require.True(t, known, name)
			require.True(t, len(list) == 1 || s.Repeats() && len(list) <= maxRepeats, name)
		}
		for _, name := range ignored {
			require.NotContains(t, q.shapes, name)
			require.Empty(t, q.aliases[name])
		}
		again, rest, violations, err := q.normalize(normal)
		require.NoError(t, err)
		require.Equal(t, normal, again)
		require.Empty(t, rest)
		require.Empty(t, violations)
		requireHeader(t, headerList(ignored))
	})
}

// requireHeader fails unless a value can stand in a header.
func requireHeader(t *testing.T, value string) {
	t.Helper()
	require.Less(t, len(value), 600)
	require.Equal(t, -1, strings.IndexFunc(value, func(c rune) bool { return c < ' ' || c > '~' }), "%q", value)
}

func FuzzCursor(f *testing.F) {
	ids, other := IDCursor("things"), IDCursor("others")
	traces, spans, results := Cursor[[16]byte]("traces"), Cursor[[8]byte]("spans"), Cursor[uint16]("results")
	for _, seed := range []string{
		"", "!!", "AAAA", ids.Text(1), ids.Text(shape.MaxSafeInteger), ids.Text(0), ids.Text(-1), other.Text(1), ids.Text(1) + "\n",
		traces.Text(Place[[16]byte]{At: 1, Tie: [16]byte{15: 1}}), spans.Text(Place[[8]byte]{At: maxAt}), results.Text(Place[uint16]{At: 7, Tie: 99}),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		readCursor(t, Cursor[struct{}](ids), text)
		readCursor(t, traces, text)
		readCursor(t, spans, text)
		readCursor(t, results, text)
		below, err := ids.Below(text)
		require.Equal(t, err == nil, below > 0)
		if text == "" {
			require.Equal(t, int64(math.MaxInt64), below)
		}
	})
}

// readCursor fails if a list reads a cursor that is not the one of the place
// that it names.
func readCursor[T comparable](t *testing.T, list Cursor[T], text string) {
	t.Helper()
	p, err := list.Place(text)
	if err != nil || text == "" {
		require.Zero(t, p)
		return
	}
	require.Equal(t, text, list.Text(p))
	require.True(t, 0 < p.At && p.At <= maxAt)
	_, err = (list + "2").Place(text)
	require.Error(t, err, "another list reads it")
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
		require.LessOrEqual(t, int64(id), int64(shape.MaxSafeInteger))
		require.Equal(t, id.String(), string(bytes.Trim(text, `"`)))
	})
}
