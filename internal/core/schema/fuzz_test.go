package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/schema"
)

// FuzzCheck shows that no schema and no document makes a check panic, contradict
// itself, or answer differently the second time.
func FuzzCheck(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"items":{"$ref":"#"},"uniqueItems":true,"multipleOf":0.1}`, `[[1,2.0],[]]`},
		{`{"type":"object","enum":[1e3],"pattern":"a{3}"}`, `"aaa"`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}}`, `{"a":1}`},
		{`{"patternProperties":{"(a|b)*$":false},"propertyNames":{"maxLength":1}}`, `{"ab":null}`},
		{`{"$id":"https://example.com/a","$defs":{"n":{"type":"number"}},"items":{"$ref":"a#/$defs/n"}}`, `[1,"2"]`},
		{`{"format":"date","contentSchema":{}}`, `"日本 é"`},
		{`true`, `1e400`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, text, doc []byte) {
		s, err := schema.Compile(string(text))
		if err != nil {
			require.Nil(t, s)
			return
		}
		w := schema.NewWork()
		v, err := w.Decode(doc)
		if err != nil {
			return
		}
		first, again := w, w
		matches, wrong, err := s.Check(&first, v)
		if matches || err != nil {
			require.Empty(t, wrong)
			require.False(t, matches && err != nil)
		}
		sameMatch, sameWrong, sameErr := s.Check(&again, v)
		require.Equal(t, matches, sameMatch)
		require.ElementsMatch(t, wrong, sameWrong)
		require.Equal(t, err, sameErr)
		require.Equal(t, first, again, "the same check spends the same work")
	})
}
