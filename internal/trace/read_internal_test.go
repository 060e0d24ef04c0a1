package trace

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/span"
)

func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add(toCursor(position{start: 1, id: span.TraceID{1}}))
	f.Add(toSpanCursor(spanPosition{start: 1 << 60, span: span.ID{2}}))
	f.Add("dDE6NTo")
	f.Fuzz(func(t *testing.T, text string) {
		// A cursor that is taken is the only one that names its position.
		if p, err := fromCursor(text); err == nil && text != "" {
			require.Equal(t, text, toCursor(p))
		}
		if p, err := fromSpanCursor(text); err == nil && text != "" {
			require.Equal(t, text, toSpanCursor(p))
		}
	})
}

// TestWilson compares with values from the literature: Newcombe (1998), table
// I, method 3.
func TestWilson(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k, n      uint64
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}, {20, 20, 0.8389, 1}} {
		p := wilson(c.k, c.n)
		require.InDelta(t, c.low, p.Low, 0.00006)
		require.InDelta(t, c.high, p.High, 0.00006)
		require.InDelta(t, float64(c.k)/float64(c.n), p.Value, 1e-12)
	}
}

func TestWholeMinutes(t *testing.T) {
	t.Parallel()
	rows := func(minutes ...int64) (out []candidate) {
		for i, m := range minutes {
			out = append(out, candidate{at: m * minute, id: span.TraceID{byte(i)}})
		}
		return out
	}
	require.Equal(t, 0, wholeMinutes(nil, 5, false))
	require.Equal(t, 3, wholeMinutes(rows(9, 9, 8), 10, false), "everything is there")
	require.Equal(t, 2, wholeMinutes(rows(9, 9, 8), 10, true), "the last minute may be cut")
	require.Equal(t, 0, wholeMinutes(rows(9, 9, 9), 1, true), "all of it may be cut")
	require.Equal(t, 2, wholeMinutes(rows(9, 9, 8, 8, 7), 1, true), "no more minutes than needed")
	require.Equal(t, 4, wholeMinutes(rows(9, 9, 8, 8, 7), 3, true))
}
