package evidence_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/bench"
)

const (
	// connections that send or copy at once.
	connections = 4
	// usually is how many of a hundred calls fail. Each of those is a failure, too, that
	// is counted in PostgreSQL.
	usually = 3
)

// sender sends batches of events, each of them new.
type sender struct {
	world   *world
	batches int
	load    bench.Load
	source  *source
	sent    int // events
}

func newSender(t testing.TB, w *world, batches int) *sender {
	t.Helper()
	s := &sender{world: w, batches: batches, load: bench.Load{Now: time.Now}, source: newSource(1)}
	for range connections {
		s.load.Conns = append(s.load.Conns, w.dial(t))
	}
	return s
}

// send sends one measure's batches and returns how many events a second were
// acknowledged. In a whole run it is over when the engines have nothing left to do of it,
// so that whatever follows is measured alone.
func (s *sender) send(t testing.TB, failing int) (float64, error) {
	t.Helper()
	s.load.Requests = nil
	for range s.batches {
		r, err := s.source.envelope(s.world.client.Key.Reveal(), failing)
		if err != nil {
			return 0, err
		}
		s.load.Requests = append(s.load.Requests, r)
	}
	rate, err := s.load.Rate(s.batches)
	if err != nil {
		return 0, err
	}
	s.sent += s.batches * batch
	for _, kind := range []string{"tool-invocation-evidence", "raw-events"} {
		if stored := s.world.streamed(t, "SELECT uniqExact(id) FROM evidence WHERE kind = '"+kind+"'"); int(stored) != s.sent {
			return 0, fmt.Errorf("%.0f %s of %d events are stored", stored, kind, s.sent)
		}
	}
	if bench.Whole() {
		bench.Quiet(t)
	}
	return rate * batch, nil
}

// ingest compares how many events a second are taken with how many a second a COPY
// stores, of the same records in a table with the same columns. Both work on batches of
// 1,000 events, over as many connections.
func ingest(t testing.TB, s *sender, n size) bench.Figure {
	t.Helper()
	_, err := s.send(t, usually)
	require.NoError(t, err)
	c := newCopier(t, s.world, s.batches)
	both, one, indexed := c.prepare(t, "bench_plain", ""), c.prepare(t, "bench_one", "tool-invocation-evidence"), c.prepare(t, "bench_indexed", "")
	const ours, bothRows, oneRow, withIndexes, withoutFailures = 0, 1, 2, 3, 4
	rounds := run(t, n,
		func() (float64, error) { return s.send(t, usually) }, both.rate, one.rate, indexed.rate,
		func() (float64, error) { return s.send(t, 0) },
	)
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format+"\n", args...) }
	say("events of %d bytes of JSON on average, of which %d %% are calls that failed ÷ events without any that failed (%.0f events/s): %v", s.source.bytes/s.source.made, usually, rounds.Median(withoutFailures), rounds.Ratio(ours, withoutFailures))
	say("events taken ÷ COPY of one record for each (%.0f events/s): %v", rounds.Median(oneRow), rounds.Ratio(ours, oneRow))
	say("events taken ÷ COPY of both records into a table that has the indexes, too (%.0f events/s): %v", rounds.Median(withIndexes), rounds.Ratio(ours, withIndexes))
	return bench.Figure{
		Name: "evidence-ingest", Goal: 0.5, Bound: 0.3, Short: 0.02, Least: true, Got: rounds.Ratio(ours, bothRows),
		Says: fmt.Sprintf("events taken a second in batches of %d over HTTP (%.0f) ÷ COPY of the two records of each (%.0f)", batch, rounds.Median(ours), rounds.Median(bothRows)),
	}
}
