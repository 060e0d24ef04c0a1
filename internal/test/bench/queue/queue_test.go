// Package queue_test measures what people wait for: the next item of a queue of a
// million beside one of a thousand, and reads of the adjudication queue over HTTP
// beside pgbench with the same statements.
package queue_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/testkit"
)

// size says how much is measured.
type size struct {
	long, short int // items that wait
	items       int // of the adjudication queue that is read
	fewest      int // rounds
	most        int
	slice       int // requests that make one measure
}

func TestBench(t *testing.T) {
	t.Parallel()
	n := size{long: 100_000, short: 1000, items: 2000, fewest: bench.MinRounds, most: 21, slice: 200}
	switch {
	case bench.Raced:
		n = size{long: 2000, short: 200, items: 200, fewest: 2, most: 2, slice: 20}
	case bench.Whole():
		n = size{long: 1_000_000, short: 1000, items: 10_000, fewest: 31, most: 31, slice: 1000}
	}
	w := newWorld(t)
	people := w.kit.Org(t)
	queue := w.kit.Org(t)
	short, long := w.task(t, people, n.short), w.task(t, people, n.long)
	w.adjudication(t, queue.Org, n.items)
	few, many := w.kit.Org(t), w.kit.Org(t)
	w.adjudication(t, few.Org, n.short)
	w.adjudication(t, many.Org, n.long)
	w.settle(t)
	bench.Report(t,
		func() bench.Figure { return next(t, n, people, short, long) },
		func() bench.Figure { return head(t, w, n, few, many) },
		func() bench.Figure { return point(t, w, n, queue) },
		func() bench.Figure { return page(t, w, n, queue) },
	)
}

// takes is how many items a person takes for one measure.
const takes = 11

// next compares taking an item of a long queue with taking one of a short queue. What
// is taken is answered before the next is, as people do, but not timed.
func next(t testing.TB, n size, c *testkit.Client, short, long int64) bench.Figure {
	t.Helper()
	_, person := c.Person(t, principal.Annotator)
	side := func(task int64) bench.Side {
		return func() (float64, error) {
			took := make([]float64, takes)
			for i := range took {
				began := time.Now()
				got, err := person.TakeAnnotationItem(t.Context(), task, nil)
				took[i] = time.Since(began).Seconds()
				if err != nil || got.Item == nil {
					return 0, fmt.Errorf("no item: %w", err)
				}
				if _, err := person.Answer(t.Context(), task, got.Item.ID, map[string]any{"rating": 3}); err != nil {
					return 0, err
				}
			}
			return bench.Median(took), nil
		}
	}
	rounds := measure(t, n, side(long), side(short))
	return bench.Figure{
		Name: "next-item", Goal: 1.2, Bound: 2, Got: rounds.Ratio(0, 1),
		Says: fmt.Sprintf("take the next of %d items (%.1f ms) ÷ of %d (%.1f ms)", n.long, 1e3*rounds.Median(0), n.short, 1e3*rounds.Median(1)),
	}
}

// head compares the item that adjudicators see first.
func head(t testing.TB, w *world, n size, few, many *testkit.Client) bench.Figure {
	t.Helper()
	const path = "/api/adjudication/items?status=open&status=assigned&limit=1"
	side := func(c *testkit.Client) bench.Side {
		l := w.load(t, c, path)
		return func() (float64, error) {
			rate, err := l.Rate(n.slice / 4)
			return 1 / rate, err
		}
	}
	rounds := measure(t, n, side(many), side(few))
	return bench.Figure{
		Name: "queue-head", Goal: 1.2, Bound: 2, Got: rounds.Ratio(0, 1),
		Says: fmt.Sprintf("show the first of %d items for adjudication ÷ of %d", n.long, n.short),
	}
}

// measure measures sides in alternation; the first round warms up.
func measure(t testing.TB, n size, sides ...bench.Side) bench.Rounds {
	t.Helper()
	rounds, err := bench.Run(n.fewest+1, n.most+1, func(bench.Rounds) bool { return true }, sides...)
	require.NoError(t, err)
	return rounds[1:]
}

// point compares GET of one item with its statements.
func point(t testing.TB, w *world, n size, c *testkit.Client) bench.Figure {
	t.Helper()
	ids := w.ids(t, c.Org, "true", n.items)
	var paths []string
	for i := range 500 {
		paths = append(paths, "/api/adjudication/items/"+strconv.FormatInt(ids[i*len(ids)/500], 10))
	}
	own, tenancy := readStatements(t, "adjudication"), readStatements(t, "tenancy")
	item := map[string]string{"id": ":item", "item_id": ":item", "items": "ARRAY[:item]"}
	script := fmt.Sprintf("\\set item random(%d, %d)\n", slices.Min(ids), slices.Max(ids))
	script += own.scripts(t, item, "FindItem", "Decisions", "ActiveTruths", "Entries", "FindContent") + tenancy.scripts(t, nil, "NameActors")
	bare := newPgbench(t, w.kit.App.Config.Postgres.URL.Reveal(), c.Org, script, w.actors(t, c))
	served := w.load(t, c, paths...)
	rounds := measure(t, n, func() (float64, error) { return served.Rate(n.slice) }, func() (float64, error) { return bare.rate(n.slice) })
	return bench.Figure{
		Name: "point-read", Goal: 0.55, Bound: 0.35, Least: true, Got: rounds.Ratio(0, 1),
		Says: fmt.Sprintf("adjudication items a second over HTTP (%.0f) ÷ pgbench with the same %d statements (%.0f)", rounds.Median(0), strings.Count(script, ";\n"), rounds.Median(1)),
	}
}

// page compares a page of the queue with its total with its statements.
func page(t testing.TB, w *world, n size, c *testkit.Client) bench.Figure {
	t.Helper()
	const rows = 50
	own, tenancy := readStatements(t, "adjudication"), readStatements(t, "tenancy")
	var found []string
	for _, id := range w.ids(t, c.Org, "status = 'open'", rows+1) {
		found = append(found, strconv.FormatInt(id, 10))
	}
	vars := w.actors(t, c)
	vars["statuses"], vars["items"], vars["after_rank"], vars["after_id"] = "{open}", "{"+strings.Join(found, ",")+"}", "1970-01-01", "0"
	vars["reach"], vars["row_limit"], vars["row_offset"] = strconv.Itoa(rows+1), strconv.Itoa(rows+1), "0"
	script := own.scripts(t, nil, "ListItems", "Decisions", "ActiveTruths", "Entries") + tenancy.scripts(t, nil, "NameActors")
	counted := script + own.scripts(t, nil, "CountItems")
	url := w.kit.App.Config.Postgres.URL.Reveal()
	uncounted, bare := newPgbench(t, url, c.Org, script, vars), newPgbench(t, url, c.Org, counted, vars)
	served := w.load(t, c, fmt.Sprintf("/api/adjudication/items?status=open&limit=%d&includeTotal=true", rows))
	slice := max(connections, n.slice/4)
	rounds := measure(t, n, func() (float64, error) { return served.Rate(slice) }, func() (float64, error) { return bare.rate(slice) }, func() (float64, error) { return uncounted.rate(slice) })
	_, _ = fmt.Fprintf(os.Stdout, "pages with a total over HTTP ÷ pgbench without the total: %v\n", rounds.Ratio(0, 2))
	return bench.Figure{
		Name: "list-page", Goal: 0.60, Bound: 0.40, Least: true, Got: rounds.Ratio(0, 1),
		Says: fmt.Sprintf("pages of %d of %d items with the total a second over HTTP (%.0f) ÷ pgbench with the same %d statements (%.0f)", rows, n.items, rounds.Median(0), strings.Count(counted, ";\n"), rounds.Median(1)),
	}
}
