package spandb

import (
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/telemetry/span"
)

var foldedTraces = flag.Int("traces", 600, "how many traces TestFoldingIsAggregating makes")

// TestFoldingIsAggregating has traces of every shape summarized here and by
// ClickHouse: late versions, no root, two roots, remote parents, a trace row,
// running ones. Both say the same and both match the same filters.
func TestFoldingIsAggregating(t *testing.T) {
	t.Parallel()
	ch, err := clickhouse.Open(clickhousetest.New(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	s, org := DB{ch: ch}, principal.OrgID(uuid.New())
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := generator{r: rand.New(rand.NewPCG(seed, 1)), start: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	idle := g.start.UnixMilli() + 500
	var matched, excluded int
	for done := 0; done < *foldedTraces; {
		n := min(200, *foldedTraces-done)
		of := g.insert(t, ch, org, n)
		done += n
		for _, f := range append(g.filters(3), Filter{}) {
			q := SummaryQuery{Org: org, Of: of, Filter: f, idle: idle}
			here, ok, err := s.fold(t.Context(), q)
			require.NoError(t, err)
			require.True(t, ok)
			there, err := s.aggregate(t.Context(), q)
			require.NoError(t, err)
			requireSame(t, there, here, f)
			matched, excluded = matched+len(here), excluded+n-len(here)
		}
	}
	require.NotZero(t, matched)
	require.NotZero(t, excluded)
	t.Logf("%d traces, equal; %d summaries matched a filter, %d did not", *foldedTraces, matched, excluded)
}

// TestALargeTraceIsAggregated has ClickHouse summarize what has too many rows to
// be read.
func TestALargeTraceIsAggregated(t *testing.T) {
	t.Parallel()
	ch, err := clickhouse.Open(clickhousetest.New(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	s, org := DB{ch: ch}, principal.OrgID(uuid.New())
	g := generator{r: rand.New(rand.NewPCG(1, 2)), start: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), least: maxFoldedRows + 1000}
	q := SummaryQuery{Org: org, Of: g.insert(t, ch, org, 1)}
	_, ok, err := s.fold(t.Context(), q)
	require.NoError(t, err)
	require.False(t, ok)
	there, err := s.Summaries(t.Context(), q)
	require.NoError(t, err)
	rows, err := s.foldedRows(t.Context(), foldedQuery{org: org, of: q.Of, limit: 10 * maxFoldedRows})
	require.NoError(t, err)
	rows = newest(rows)
	m := Summarize(rows)
	m.preview(rows)
	requireSame(t, there, []Summary{m}, Filter{})
}

func requireSame(t *testing.T, there, here []Summary, f Filter) {
	t.Helper()
	byID := func(list []Summary) map[span.TraceID]Summary {
		out := make(map[span.TraceID]Summary, len(list))
		for _, m := range list {
			m.tags = append([]string{}, m.tags...)
			out[m.ID] = m
		}
		return out
	}
	want, got := byID(there), byID(here)
	for id, m := range want {
		require.Equal(t, m, got[id], "trace %s, filter %+v", id, f)
	}
	require.Len(t, got, len(want), "filter %+v", f)
}

// generator makes traces whose spans have few different values, so that they
// compete for everything that a summary says.
type generator struct {
	r     *rand.Rand
	start time.Time
	least int // spans
}

func (g generator) pick(of ...string) string { return of[g.r.IntN(len(of))] }

func (g generator) filters(n int) (out []Filter) {
	for range n {
		var f Filter
		yes, length := g.r.IntN(2) == 0, time.Duration(g.r.IntN(900))*time.Microsecond
		switch g.r.IntN(6) {
		case 0:
			f.Status = []Status{[]Status{StatusRunning, StatusCompleted, StatusFailed}[g.r.IntN(3)]}
		case 1:
			f.HasError = &yes
		case 2:
			f.MinDuration = &length
		case 3:
			f.ConversationID, f.Environment = g.pick("", "a"), g.pick("a", "b")
		case 4:
			f.UserID, f.Tag = g.pick("", "a"), g.pick("a", "b", "c")
		case 5:
			f.AgentName, f.ReleaseID = g.pick("", "a"), g.pick("a", "b")
		}
		out = append(out, f)
	}
	return out
}

// insert stores traces and returns where they are.
func (g generator) insert(t *testing.T, ch *clickhouse.DB, org principal.OrgID, n int) (of Scope) {
	t.Helper()
	batch, err := ch.Writer().PrepareBatch(t.Context(), `INSERT INTO spans (org_id, trace_id, span_id, parent_span_id, start_time, duration_us, state, status, kind, primitive_type,
		name, service_name, environment, release_id, agent_name, conversation_id, user_id, input_tokens, output_tokens, cost_nano_usd, cost_known, tags, attrs_json,
		input_preview, output_preview, retention_days, ingested_at, version)`)
	require.NoError(t, err)
	for range n {
		b := Bounds{ID: span.TraceID(uuid.New()), First: g.start.UnixMicro(), last: g.start.UnixMicro() + minute}
		spans := max(1+g.r.IntN(1+g.r.IntN(30)), g.least)
		for i := range spans {
			var id, parent span.ID
			binary.BigEndian.PutUint64(id[:], g.r.Uint64()|1)
			switch {
			case i == 0 && g.r.IntN(4) == 0:
				id = span.ID{} // a trace row
			case g.r.IntN(spans+1) > 1:
				parent = span.ID{7}
			}
			for range 1 + g.r.IntN(8)/7 {
				attrs := map[string]string{}
				for key, values := range map[string][]string{span.KeyRemoteParent: {"", "", "", "true"}, string(keyMetadata): {"", "", `{"a":1}`}, span.KeyMetadata: {"", `{"b":2}`}} {
					if v := g.pick(values...); v != "" {
						attrs[key] = v
					}
				}
				preview := [2]string{g.pick("", "", "asked"), g.pick("", "", "said")}
				for k := range preview {
					if preview[k] != "" {
						preview[k] += strconv.Itoa(g.r.IntN(1000))
					}
				}
				err := batch.Append(org.String(), string(b.ID[:]), string(id[:]), string(parent[:]), g.start.Add(time.Duration(g.r.IntN(300))*time.Microsecond), uint64(g.r.IntN(600)),
					g.pick("open", "ended", "ended"), g.pick("unset", "ok", "ok", "error"), g.pick("internal", "internal", "server", "client", "consumer"),
					g.pick("", "model_call", "tool_call", "agent_invocation", "workflow", "retrieval"), g.pick("one", "two", "three"),
					g.pick("", "a", "b"), g.pick("", "a", "b"), g.pick("", "a", "b"), g.pick("", "a", "b"), g.pick("", "a", "b"), g.pick("", "a", "b"),
					g.r.Uint32N(100), g.r.Uint32N(100), uint64(g.r.IntN(1000)), g.r.IntN(2) == 0, slices.Repeat([]string{g.pick("a", "b", "c"), g.pick("a", "d")}, g.r.IntN(2)), attrs,
					preview[0], preview[1], uint16(90), g.start.Add(time.Duration(g.r.IntN(1000))*time.Millisecond), g.r.Uint64N(1<<40)+1)
				require.NoError(t, err)
			}
		}
		of = append(of, b)
	}
	require.NoError(t, batch.Send())
	return of
}
