package cli

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzItems(f *testing.F) {
	for _, text := range []string{`{"input":"a"}`, "[]", `[{"input":"a","expectedOutput":1}]`, "{\"input\":1}\n\n{\"output\":null}\n", `{"expected":1}`, "x", ""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		items, err := decodeItems(bytes.NewReader(text))
		if err != nil {
			require.Empty(t, items, "what cannot be read is not sent in part")
			require.NotEmpty(t, err.Error())
		}
	})
}

func FuzzFraction(f *testing.F) {
	for _, text := range []string{"0.02", "2%", "-1", "1e309", "NaN", "%", " 5 % "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var x fraction
		if x.UnmarshalText([]byte(text)) == nil {
			require.False(t, math.IsNaN(float64(x)) || math.IsInf(float64(x), 0))
		} else {
			require.Zero(t, x)
		}
	})
}
