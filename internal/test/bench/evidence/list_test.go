package evidence_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/bench"
)

// list is a filtered list of records of a kind.
type list struct {
	name, kind string
	query      string
	match      func(n int) bool
	// rare selects what the oldest records alone have.
	rare string
}

// lists are a kind of each class with both filters. Of the kinds that last, the ledger of
// side effects is the one that has both fields.
var lists = []list{
	{"evidence-stream-failed", "tool-invocation-evidence", "status=failed&runtimeKey=agent-3", failed, "status=failed&runtimeKey=" + retired},
	{"evidence-stream-class", "tool-invocation-evidence", "sideEffectClass=administer", administers, "sideEffectClass=delete"},
	{"evidence-state-failed", "side-effect-ledger", "status=failed&runtimeKey=agent-3", failed, "status=failed&runtimeKey=" + retired},
	{"evidence-state-class", "side-effect-ledger", "sideEffectClass=administer", administers, "sideEffectClass=delete"},
	{"evidence-state-either", "side-effect-ledger", "status=failed,unknown&runtimeKey=agent-3", failed, "status=failed,unknown&runtimeKey=" + retired},
}

const (
	pageRows = 50
	// requests is how many of a kind make one measure.
	requests = 5
)

// path of the first page of a list.
func (l list) path(query string) string {
	return fmt.Sprintf("/api/agent-evidence/%s?%s&limit=%d", l.kind, query, pageRows)
}

// measure compares a page of many records with one of few.
func (l list) measure(t testing.TB, few, many *world, n size) bench.Figure {
	t.Helper()
	side := func(w *world, query string) bench.Side { return w.asking(l.path(query)) }
	for _, w := range []*world{few, many} {
		l.agree(t, w, l.query, l.match)
		l.agree(t, w, l.rare, old)
	}
	rare := run(t, size{fewest: min(n.fewest, 3), most: 3}, side(many, l.rare), side(few, l.rare))
	_, _ = fmt.Fprintf(os.Stdout, "%s?%s, which only the %d oldest records have: %.1f ms of %d records ÷ %.1f ms of %d: %v\n",
		l.kind, l.rare, oldest, 1e3*rare.Median(0), many.records, 1e3*rare.Median(1), few.records, rare.Ratio(0, 1))
	rounds := run(t, n, side(many, l.query), side(few, l.query))
	return bench.Figure{
		Name: l.name, Goal: 1.5, Bound: 3, Short: 10, Got: rounds.Ratio(0, 1),
		Says: fmt.Sprintf("a page of %s?%s of %d records (%.1f ms) ÷ of %d (%.1f ms)", l.kind, l.query, many.records, 1e3*rounds.Median(0), few.records, 1e3*rounds.Median(1)),
	}
}

// asking is how long a page takes.
func (w *world) asking(path string) bench.Side {
	return func() (float64, error) {
		took := make([]float64, requests)
		for i := range took {
			began := time.Now()
			if _, err := w.list(path); err != nil {
				return 0, err
			}
			took[i] = time.Since(began).Seconds()
		}
		return bench.Median(took), nil
	}
}

// overview compares the overview of many records with that of few.
func overview(t testing.TB, few, many *world, n size) bench.Figure {
	t.Helper()
	const path = "/api/agent-evidence"
	rounds := run(t, n, many.asking(path), few.asking(path))
	return bench.Figure{
		Name: "evidence-overview", Goal: 3, Bound: 10, Short: 20, Got: rounds.Ratio(0, 1),
		Says: fmt.Sprintf("the overview of %d records of each class (%.1f ms) ÷ of %d (%.1f ms)", many.records, 1e3*rounds.Median(0), few.records, 1e3*rounds.Median(1)),
	}
}

// agree proves that a page holds what it should.
func (l list) agree(t testing.TB, w *world, query string, match func(n int) bool) {
	t.Helper()
	var want, got []string
	for n := w.records - 1; n >= 0 && len(want) < pageRows; n-- {
		if match(n) {
			want = append(want, strconv.Itoa(n+1))
		}
	}
	p := w.page(t, l.path(query))
	for _, r := range p.Records {
		got = append(got, string(r["id"]))
		require.NotEqual(t, "null", string(r["trace_id"]), "the trace has a number")
	}
	require.Equal(t, strings.Join(want, " "), strings.Join(got, " "), "%s of %d records", query, w.records)
	require.Len(t, got, pageRows)
	require.True(t, p.HasMore)
}
