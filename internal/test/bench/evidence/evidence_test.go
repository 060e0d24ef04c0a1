// Package evidence_test measures what evidence costs: events that are taken next to a
// COPY of the rows that they become, filtered lists of many records next to the same
// lists of few, and bytes on disk next to bytes of JSON.
package evidence_test

import (
	"flag"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/bench"
)

// size says how much is measured.
type size struct {
	batches   int // envelopes that make one measure
	few, many int // records that a list selects from
	fewest    int // rounds
	most      int
}

var (
	records = flag.Int("records", 0, "how many records lists select from; by default as many as the bench wants")
	only    = flag.String("figures", "", "measure the figures with a name that this expression matches; by default all")
)

func TestBench(t *testing.T) {
	t.Parallel()
	wanted := regexp.MustCompile(*only).MatchString
	n := size{batches: 2, few: 10_000, many: 40_000, fewest: bench.MinRounds, most: bench.MinRounds}
	if bench.Whole() {
		n = size{batches: 20, few: 10_000, many: 10_000_000, fewest: 15, most: 31}
	}
	if *records > 0 {
		n.many = *records
	}
	few, many := newWorld(t), newWorld(t)
	few.fill(t, n.few)
	many.fill(t, n.many)
	var figures []func() bench.Figure
	if wanted("evidence-ingest") || wanted("evidence-stream-bytes") {
		s := newSender(t, newWorld(t), n.batches)
		figures = append(figures, func() bench.Figure { return ingest(t, s, n) }, func() bench.Figure { return streamBytes(t, s) })
	}
	if wanted("evidence-state-bytes") {
		figures = append(figures, func() bench.Figure { return stateBytes(t, many) })
	}
	for _, l := range lists {
		if wanted(l.name) {
			figures = append(figures, func() bench.Figure { return l.measure(t, few, many, n) })
		}
	}
	if wanted("evidence-overview") {
		figures = append(figures, func() bench.Figure { return overview(t, few, many, n) })
	}
	bench.Report(t, figures...)
}

// run measures sides in alternation until the interval of the first one's ratio to the
// second is narrow. Each side warms up.
func run(t testing.TB, n size, sides ...bench.Side) bench.Rounds {
	t.Helper()
	for _, side := range sides {
		_, err := side()
		require.NoError(t, err)
	}
	rounds, err := bench.Run(n.fewest, n.most, func(r bench.Rounds) bool {
		ratio := r.Ratio(0, 1)
		return ratio.High-ratio.Low < 0.1*ratio.Median
	}, sides...)
	require.NoError(t, err)
	return rounds
}
