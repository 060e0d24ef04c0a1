package telemetry_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/test/testkit"
)

// world is spans that were sent, and what must be read of them.
type world struct {
	client *testkit.Client
	spans  map[string]map[string]testkit.OTLPSpan // by trace and id, newest version
	first  map[string]time.Time                   // the first start of each trace
}

func newWorld(c *testkit.Client) *world {
	return &world{client: c, spans: map[string]map[string]testkit.OTLPSpan{}, first: map[string]time.Time{}}
}

// send sends spans in one request. A later version of a span replaces an
// earlier one, except that an open one never replaces one that has ended.
func (w *world) send(t testing.TB, spans ...testkit.OTLPSpan) {
	t.Helper()
	w.client.SendOTLP(t, testkit.Spans(spans...))
	for _, s := range spans {
		of := w.spans[s.Trace]
		if of == nil {
			of = map[string]testkit.OTLPSpan{}
			w.spans[s.Trace] = of
			w.first[s.Trace] = s.Start
		}
		if s.Start.Before(w.first[s.Trace]) {
			w.first[s.Trace] = s.Start
		}
		if before, ok := of[s.ID]; !ok || before.Duration == 0 || s.Duration > 0 {
			of[s.ID] = s
		}
	}
}

// expected is a trace as plain code derives it from its spans.
type expected struct {
	ID, Name, Status                         string
	Start, End                               time.Time
	Environment, Agent, Release, User, Talk  string
	Tags                                     []string
	Spans, Errors, InputTokens, OutputTokens int
	Cost                                     float64
	AutoClosed                               bool
	words                                    []string // lower case, by span
}

func text(s testkit.OTLPSpan, key string) string {
	v, _ := s.Attributes[key].(string)
	return v
}

func whole(s testkit.OTLPSpan, key string) int {
	v, _ := s.Attributes[key].(int)
	return v
}

// traces are all traces, newest first. idle is whether nothing came for long.
func (w *world) traces(idle bool) []expected {
	var out []expected
	for id, of := range w.spans {
		e := expected{ID: id, Status: "running", Start: w.first[id], Tags: []string{}}
		var rows []testkit.OTLPSpan
		for _, s := range of {
			rows = append(rows, s)
		}
		// A root tells first, then what started first.
		slices.SortFunc(rows, func(a, b testkit.OTLPSpan) int {
			return cmp.Or(cmp.Compare(min(len(a.Parent), 1), min(len(b.Parent), 1)), a.Start.Compare(b.Start), cmp.Compare(b.ID, a.ID))
		})
		told := rows[0]
		e.Name = told.Name
		if told.Parent == "" && told.Duration > 0 {
			e.Status, e.End = "completed", told.Start.Add(told.Duration)
			if told.Error != "" {
				e.Status = "failed"
			}
		}
		last := time.Time{}
		for _, s := range rows {
			e.add(s)
			last = slices.MaxFunc([]time.Time{last, s.Start, s.Start.Add(s.Duration)}, time.Time.Compare)
		}
		if idle && e.Status == "running" {
			e.Status, e.AutoClosed, e.End = "completed", true, last
		}
		slices.Sort(e.Tags)
		e.Tags = slices.Compact(e.Tags)
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b expected) int { return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(b.ID, a.ID)) })
	return out
}

func (e *expected) add(s testkit.OTLPSpan) {
	e.Environment = cmp.Or(e.Environment, text(s, "deployment.environment.name"))
	e.Agent = cmp.Or(e.Agent, text(s, "gen_ai.agent.name"))
	e.Release = cmp.Or(e.Release, text(s, "assay.release_id"))
	e.User = cmp.Or(e.User, text(s, "user.id"))
	e.Talk = cmp.Or(e.Talk, text(s, "gen_ai.conversation.id"))
	if tags, ok := s.Attributes["tag.tags"].([]any); ok {
		for _, tag := range tags {
			e.Tags = append(e.Tags, fmt.Sprint(tag))
		}
	}
	e.Spans++
	if s.Error != "" {
		e.Errors++
	}
	e.InputTokens += whole(s, "gen_ai.usage.input_tokens")
	e.OutputTokens += whole(s, "gen_ai.usage.output_tokens")
	if cost, ok := s.Attributes["gen_ai.usage.cost"].(float64); ok {
		e.Cost += cost
	}
	e.words = append(e.words, strings.ToLower(fmt.Sprint(text(s, "input.value"), " ", text(s, "output.value"))), strings.ToLower(text(s, "note")), "name:"+strings.ToLower(s.Name))
}

// seen is a listed trace in the same form.
func seen(t api.Trace) expected {
	e := expected{
		ID: t.ID, Name: api.Value(t.Name), Status: t.Status, Start: t.StartTime, End: api.Value(t.EndTime), Environment: api.Value(t.Environment), Agent: api.Value(t.AgentName),
		Release: api.Value(t.ReleaseID), User: api.Value(t.UserID), Talk: api.Value(t.ConversationID), Tags: t.Tags, Spans: int(t.SpanCount), Errors: int(t.ErrorCount),
		InputTokens: int(t.Usage.InputTokens), OutputTokens: int(t.Usage.OutputTokens), AutoClosed: t.AutoClosed,
	}
	if t.CostUSD != nil {
		e.Cost = *t.CostUSD
	}
	return e
}

// listed is what a list shows of a trace.
func listed(d testkit.Trace) (out api.Trace) {
	text, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(err)
	}
	return out
}

func exported(lines []testkit.ExportedTrace) []expected {
	out := make([]expected, len(lines))
	for i, l := range lines {
		out[i] = seen(listed(l.Trace))
	}
	return out
}

func seenAll(list []api.Trace) []expected {
	out := make([]expected, len(list))
	for i, t := range list {
		out[i] = seen(t)
	}
	return out
}

// plain leaves out what the interface does not show.
func plain(list []expected) []expected {
	out := slices.Clone(list)
	for i := range out {
		out[i].words = nil
		out[i].Cost = float64(int64(out[i].Cost*1e9+0.5)) / 1e9
	}
	return out
}

func idsOf(list []expected) []string {
	ids := make([]string, len(list))
	for i, e := range list {
		ids[i] = e.ID
	}
	return ids
}

// walkCursor reads all pages by their cursors.
func walkCursor(t testing.TB, c *testkit.Client, query string, limit int) (ids []string) {
	t.Helper()
	cursor := ""
	for range 1000 {
		page, err := c.ListTraces(t.Context(), fmt.Sprintf("%s&limit=%d&cursor=%s", query, limit, url.QueryEscape(cursor)))
		require.NoError(t, err)
		ids = append(ids, idsOf(seenAll(page.Traces))...)
		require.Equal(t, page.HasMore, api.Value(page.NextCursor) != "")
		if !page.HasMore {
			return ids
		}
		cursor = api.Value(page.NextCursor)
	}
	t.Fatal("the list does not end")
	return nil
}

// walkOffset reads all pages by their offsets.
func walkOffset(t testing.TB, c *testkit.Client, query string, limit int) (ids []string) {
	t.Helper()
	for {
		page, err := c.ListTraces(t.Context(), fmt.Sprintf("%s&limit=%d&offset=%d", query, limit, len(ids)))
		require.NoError(t, err)
		ids = append(ids, idsOf(seenAll(page.Traces))...)
		if !page.HasMore {
			return ids
		}
	}
}

// merges stops or starts the merging of rows, or does all of it at once.
func merges(t testing.TB, k *testkit.Kit, what string) {
	t.Helper()
	db, err := clickhouse.Open(k.App.Config.ClickHouse)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	for _, table := range []string{"spans", "span_payloads", "traces", "trace_starts"} {
		statement := "SYSTEM " + what + " MERGES " + table
		if what == "FINISH" {
			statement = "OPTIMIZE TABLE " + table + " FINAL"
		}
		require.NoError(t, db.Writer().Exec(context.WithoutCancel(t.Context()), statement))
	}
}

// pick chooses one of the values.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// populate sends traces of every kind: quick and long ones, failed, running and
// without a root, with spans that come late, twice, or open and then ended.
func (w *world) populate(t testing.TB, r *rand.Rand, now time.Time, traces int) {
	t.Helper()
	var early, late []testkit.OTLPSpan
	for n := range traces {
		trace, root := testkit.NewTraceID(), testkit.NewSpanID()
		start := now.Add(-pick(r, 20*time.Second, time.Duration(r.IntN(3600))*time.Second, time.Duration(r.IntN(72*3600))*time.Second)).Truncate(time.Millisecond)
		top := testkit.OTLPSpan{
			Trace: trace, ID: root, Name: pick(r, "Answer a question", "Route a ticket", "Summarize"), Start: start,
			Duration: pick(r, time.Duration(r.IntN(4000)+1)*time.Millisecond, 0, time.Minute), Error: pick(r, "", "", "out of luck"),
			Attributes: map[string]any{
				"deployment.environment.name": pick(r, "production", "staging", ""), "assay.release_id": pick(r, "r-1", "r-2"),
				"user.id": pick(r, "u-1", "u-2", "u-3"), "tag.tags": []any{pick(r, "alpha", "beta"), pick(r, "beta", "gamma")},
				"input.value": pick(r, "Please refund my Order", "Where is the parcel", "Cancel it"), "output.value": fmt.Sprint("Done as number ", n),
			},
		}
		if r.IntN(5) == 0 {
			top.Parent = testkit.NewSpanID() // of a service that sends elsewhere
		}
		spans := []testkit.OTLPSpan{top}
		for range r.IntN(4) {
			began := start.Add(pick(r, time.Second, 10*time.Minute, 2*time.Hour))
			if began.After(now) {
				began = start.Add(time.Second)
			}
			spans = append(spans, testkit.OTLPSpan{
				Trace: trace, ID: testkit.NewSpanID(), Parent: root, Name: pick(r, "chat", "lookup"), Start: began,
				Duration: time.Duration(r.IntN(900)+1) * time.Millisecond, Error: pick(r, "", "", "", "time-out"),
				Attributes: map[string]any{
					"gen_ai.request.model": pick(r, "model-a", "model-b"), "gen_ai.usage.input_tokens": r.IntN(500), "gen_ai.usage.output_tokens": r.IntN(500),
					"gen_ai.usage.cost": float64(r.IntN(1000)) / 1000, "gen_ai.agent.name": pick(r, "helper", "router", ""), "gen_ai.conversation.id": pick(r, "c-1", "c-2", ""),
					"deployment.environment.name": pick(r, "staging", ""), "note": pick(r, "Seen by Ground Control", "nothing"),
				},
			})
		}
		for i, s := range spans {
			switch r.IntN(4) {
			case 0: // late
				late = append(late, s)
			case 1: // open first
				open := s
				open.Duration, open.Error = 0, ""
				early, late = append(early, open), append(late, s)
			default:
				early = append(early, s)
			}
			if i == 0 && r.IntN(6) == 0 { // something earlier, found out late
				before := testkit.OTLPSpan{Trace: trace, ID: testkit.NewSpanID(), Parent: root, Name: "queue", Start: start.Add(-pick(r, time.Second, 4*time.Minute)), Duration: time.Second}
				late = append(late, before)
			}
		}
	}
	r.Shuffle(len(early), func(i, j int) { early[i], early[j] = early[j], early[i] })
	for part := range slices.Chunk(early, 60) {
		w.send(t, part...)
	}
	w.send(t, early[:len(early)/3]...) // again: what is ended replaces itself
	for part := range slices.Chunk(late, 60) {
		w.send(t, part...)
	}
}
