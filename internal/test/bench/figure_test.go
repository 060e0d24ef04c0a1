package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/bench"
)

// TestFigure shows that a figure beyond its bound fails: in a whole run at the
// bound, in a short one when no round kept it.
func TestFigure(t *testing.T) {
	doubtful := bench.Ratio{Median: 1.2, Low: 1.1, High: 1.3, Rounds: 9}
	for _, c := range []struct {
		name         string
		f            bench.Figure
		short, whole bool // whether it fails
	}{
		{"within", bench.Figure{Got: doubtful, Bound: 1.25}, false, false},
		{"beyond, but not beyond doubt", bench.Figure{Got: doubtful, Bound: 1.15}, false, true},
		{"beyond doubt", bench.Figure{Got: doubtful, Bound: 1.05}, true, true},
		{"beyond doubt, but short", bench.Figure{Got: doubtful, Bound: 1.05, Short: 1.5}, false, true},
		{"beyond even what is short", bench.Figure{Got: bench.Once(1.6), Bound: 1.05, Short: 1.5}, true, true},
		{"at least", bench.Figure{Got: doubtful, Bound: 1.15, Least: true}, false, false},
		{"less, but not beyond doubt", bench.Figure{Got: doubtful, Bound: 1.25, Least: true}, false, true},
		{"less", bench.Figure{Got: doubtful, Bound: 1.35, Least: true}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("ASSAY_BENCH", "")
			require.Equal(t, c.short, c.f.Judge() != nil, "short")
			t.Setenv("ASSAY_BENCH", "whole")
			require.Equal(t, c.whole, c.f.Judge() != nil, "whole")
			if c.whole {
				require.Contains(t, c.f.String(), "NOT REACHED")
			} else {
				require.NotContains(t, c.f.String(), "NOT REACHED")
			}
		})
	}
}
