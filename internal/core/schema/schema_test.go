package schema_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/schema"
)

// tester is a test, a fuzz target or a property.
type tester interface {
	require.TestingT
	Helper()
}

func compile(tb tester, text string) *schema.Schema {
	tb.Helper()
	s, err := schema.Compile(text)
	require.NoError(tb, err)
	return s
}

func check(tb tester, s *schema.Schema, doc string) (bool, []schema.Violation) {
	tb.Helper()
	w := schema.NewWork()
	v, err := w.Decode([]byte(doc))
	require.NoError(tb, err)
	matches, wrong, err := s.Check(&w, v)
	require.NoError(tb, err)
	return matches, wrong
}

func TestAViolationNamesItsPlaceAndItsRule(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"type":"object","required":["name","mail"],"additionalProperties":false,"properties":{
		"name":{"type":"string"},"mail":true,"age":{"type":["integer","null"],"minimum":0},"a/b~":{"items":false}}}`)
	matches, wrong := check(t, s, `{"name":"Ann","mail":1,"age":3.0}`)
	require.True(t, matches)
	require.Empty(t, wrong)
	for doc, want := range map[string]schema.Violation{
		`{"mail":1}`:                        {Rule: "required", Missing: []string{"name"}},
		`{"name":7,"mail":1}`:               {Pointer: "/name", Rule: "type", Got: "number", Want: []string{"string"}},
		`{"name":"","mail":1,"age":-1}`:     {Pointer: "/age", Rule: "minimum"},
		`{"name":"","mail":1,"x":1,"y":2}`:  {Rule: "additionalProperties", Extra: 2},
		`{"name":"","mail":1,"a/b~":["x"]}`: {Pointer: "/a~1b~0/0"},
	} {
		matches, wrong := check(t, s, doc)
		require.False(t, matches, doc)
		require.Equal(t, []schema.Violation{want}, wrong, doc)
	}
}

func TestWhatCannotBeASchemaIsRefused(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		``:                                      "must be a JSON Schema that refers only to itself",
		`7`:                                     "must be a JSON Schema that refers only to itself",
		`{"type":"strnig"}`:                     "must be a JSON Schema that refers only to itself",
		`{"minimum":1e1000001}`:                 "must be a JSON Schema that refers only to itself",
		`{"pattern":"(?:abcd){1000000}"}`:       "must be a JSON Schema that refers only to itself",
		`{"pattern":"(?:abcdefghijkl){1000}"}`:  "must be a JSON Schema that refers only to itself",
		`{"$ref":"https://example.com/a.json"}`: "must be a JSON Schema that refers only to itself",
		`{"$ref":"file:///etc/passwd"}`:         "must be a JSON Schema that refers only to itself",
		`{"title":"` + strings.Repeat("a", schema.MaxBytes) + `"}`:       "must be a JSON Schema of at most 256 KiB",
		`{"anyOf":[{"type":"string"},{"$ref":"#"}]}`:                     "without going deeper",
		`{"$dynamicAnchor":"a","items":{"$dynamicRef":"#a"}}`:            "without $dynamicRef",
		`{"anyOf":[` + strings.Repeat(`{},`, 2000) + `{}]}`:              "of at most 2000 parts",
		strings.Repeat(`{"not":`, 100) + `{}` + strings.Repeat(`}`, 100): "no more than 64 schemas",
	} {
		_, err := schema.Compile(text)
		require.ErrorContains(t, err, says, text[:min(len(text), 60)])
	}
}

// What was made to take very long is stopped, and by what it does rather than by
// how long it takes: the answer is the same on a slow machine.
func TestCostlyChecksAreStopped(t *testing.T) {
	t.Parallel()
	var ladder strings.Builder // each rung asks twice for the next: 2^30 checks of one value
	ladder.WriteString(`{"$defs":{`)
	for i := range 30 {
		fmt.Fprintf(&ladder, `"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	ladder.WriteString(`"a30":{"type":"array"}},"$ref":"#/$defs/a0"}`)
	numbers := `[` + strings.Repeat("1.5,", 50_000) + `1.5]`
	for title, c := range map[string]struct{ schema, doc string }{
		"a ladder":                          {ladder.String(), `[]`},
		"many numbers in many enumerations": {`{"items":{"enum":` + numbers + `}}`, numbers},
		"large patterns for a long text":    {`{"pattern":"(?:a?b?){400}1"}`, `"` + strings.Repeat("ab", 500_000) + `"`},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := schema.NewWork()
			v, err := w.Decode([]byte(c.doc))
			require.NoError(t, err)
			matches, wrong, err := compile(t, c.schema).Check(&w, v)
			require.ErrorIs(t, err, schema.ErrTooCostly)
			require.False(t, matches)
			require.Empty(t, wrong)
			require.False(t, w.Spend(1), "what is spent is spent")
		})
	}
}

func TestLargeValuesAreNotRead(t *testing.T) {
	t.Parallel()
	for title, doc := range map[string]string{
		"deep":  strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000),
		"wide":  `[` + strings.Repeat("0,", 600_000) + `0]`,
		"large": `"` + strings.Repeat("a", schema.MaxDocument) + `"`,
	} {
		w := schema.NewWork()
		_, err := w.Decode([]byte(doc))
		require.ErrorIs(t, err, schema.ErrTooLarge, title)
	}
	for _, doc := range []string{`1e1000001`, `[{"a":1e-1000001}]`} {
		w := schema.NewWork()
		v, err := w.Decode([]byte(doc))
		require.NoError(t, err)
		_, _, err = compile(t, `{"multipleOf":0.1}`).Check(&w, v)
		require.ErrorIs(t, err, schema.ErrTooLarge, doc)
	}
}

// A compiled copy can serve only one check at a time; a schema has as many as
// are needed.
func TestManyUseOneSchema(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"type":"array","items":{"type":"integer"}}`)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			good, _ := check(t, s, fmt.Sprintf(`[1,2,%d]`, i))
			bad, wrong := check(t, s, `["x"]`)
			if !good || bad || len(wrong) != 1 || wrong[0].Pointer != "/0" {
				t.Errorf("%d: %v %v %v", i, good, bad, wrong)
			}
		})
	}
	wg.Wait()
}
