package provider

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzReadScores feeds whatever a service may answer: there is one score for each
// answer, each a number that can be added up, or nothing is read.
func FuzzReadScores(f *testing.F) {
	for _, seed := range []string{
		`{"scores":[1]}`, `{"scores":[null]}`, `{"scores":[{"value":0.5,"explanation":"so"}]}`, `{"scores":[{"value":"1"}]}`, `{"scores":[1e999]}`,
		`{"scores":[[]]}`, `{"scores":[1,2]}`, `{"scores":{}}`, `{}`, `[]`, ``, `{"scores":["1"]}`, `{"scores":[true]}`, `{"scores":[{"explanation":1}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		given, ok := readScores(text, 1)
		if !ok {
			require.Nil(t, given)
			return
		}
		require.Len(t, given, 1)
		if v := given[0].Value; v != nil {
			require.Empty(t, given[0].Failed)
			require.False(t, math.IsNaN(*v) || math.IsInf(*v, 0))
		}
	})
}
