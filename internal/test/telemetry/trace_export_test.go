package telemetry_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestExport(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)
	r := rand.New(rand.NewPCG(1, 9))
	w := newWorld(us)
	w.populate(t, r, time.Now().UTC(), 70)
	all := w.traces(false)

	lines, err := us.ExportTraces(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, plain(all), exported(lines))
	for i := 0; i < len(lines); i += 9 {
		d, err := us.GetTrace(t.Context(), lines[i].ID)
		require.NoError(t, err)
		line := lines[i].Trace
		line.TraceRef, line.Feedback = d.TraceRef, d.Feedback
		require.Equal(t, d, line)
	}

	some, err := us.ExportTraces(t.Context(), "environment=production&limit=4")
	require.NoError(t, err)
	var want []string
	for _, e := range all {
		if e.Environment == "production" && len(want) < 8 {
			want = append(want, e.ID)
		}
	}
	require.Equal(t, want[:4], idsOf(exported(some)))
	more, err := us.ExportTraces(t.Context(), "environment=production&limit=4&cursor="+some[3].Cursor)
	require.NoError(t, err)
	require.Equal(t, want[4:], idsOf(exported(more)), "it goes on after the line")

	none, err := us.ExportTraces(t.Context(), "userId=nobody")
	require.NoError(t, err)
	require.Empty(t, none)
	none, err = them.ExportTraces(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, none)
	for _, limit := range []int{0, 10_001} {
		res, err := us.Send(t.Context(), http.MethodGet, fmt.Sprint("/api/traces/export?limit=", limit), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusBadRequest, res.Status)
	}
}

func TestAnExportThatFailsOnTheWayIsCutOff(t *testing.T) {
	t.Parallel()
	k, _, link := wired(t)
	us := k.Org(t)
	for range 3 {
		var spans []testkit.OTLPSpan
		for i := range 40 {
			spans = append(spans, testkit.OTLPSpan{
				Trace: testkit.NewTraceID(), Name: "large", Start: aMomentAgo().Add(-time.Duration(i) * time.Second), Duration: time.Second,
				Attributes: map[string]any{"input.value": strings.Repeat("word ", 80_000)},
			})
		}
		us.SendOTLP(t, testkit.Spans(spans...))
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, k.URL+"/api/traces/export", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+us.Key.Reveal())
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	require.Equal(t, http.StatusOK, res.StatusCode)

	// The first traces are on their way; what is left of them fills every
	// buffer, so the others are not read yet.
	body := bufio.NewReader(res.Body)
	_, err = body.ReadString('\n')
	require.NoError(t, err)
	link.set(true)
	_, err = io.Copy(io.Discard, body)
	require.Error(t, err)
}

func TestConversation(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)
	start := aMomentAgo().Add(-time.Hour)
	const talk = "thread 7/é"
	var ids []string
	for i := range 5 {
		trace, root := testkit.NewTraceID(), testkit.NewSpanID()
		ids = append(ids, trace)
		attributes := map[string]any{"input.value": fmt.Sprintf(`{"turn":%d}`, i), "output.value": fmt.Sprint("answer ", i)}
		child := map[string]any{"gen_ai.conversation.id": talk, "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2}
		if i > 2 {
			child["gen_ai.usage.cost"] = 0.25
		}
		failed := ""
		if i == 4 {
			failed = "no"
		}
		// The last turn is sent first.
		us.SendOTLP(t, testkit.Spans(
			testkit.OTLPSpan{Trace: trace, ID: root, Name: fmt.Sprint("turn ", i), Start: start.Add(-time.Duration(i) * time.Minute), Duration: time.Second, Error: failed, Attributes: attributes},
			testkit.OTLPSpan{Trace: trace, ID: testkit.NewSpanID(), Parent: root, Name: "chat", Start: start.Add(-time.Duration(i)*time.Minute + time.Second), Duration: time.Second, Attributes: child},
		))
	}
	us.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{Trace: testkit.NewTraceID(), Name: "other", Start: start, Duration: time.Second, Attributes: map[string]any{"gen_ai.conversation.id": "thread 8"}}))
	for range 2 {
		_, err := us.AddTraceFeedback(t.Context(), ids[1], testkit.TraceFeedback{Type: "thumbs", Value: true})
		require.NoError(t, err)
	}

	c, err := us.GetConversation(t.Context(), talk, "includeTotal=true&limit=3&offset=1")
	require.NoError(t, err)
	require.Equal(t, talk, c.ConversationID)
	require.Len(t, c.Turns, 3)
	for i, turn := range c.Turns {
		n := 3 - i
		require.Equal(t, ids[n], turn.TraceID, "oldest first")
		require.Equal(t, map[string]any{"turn": float64(n)}, turn.Input)
		require.Equal(t, fmt.Sprint("answer ", n), turn.Output)
		require.Equal(t, "completed", turn.Status)
		require.EqualValues(t, map[bool]int{true: 2}[n == 1], turn.FeedbackCount)
	}
	require.True(t, c.HasMore)
	require.Equal(t, []any{5, 5, 1, 10, 1, 50, 10, 2, 0.5},
		[]any{int(api.Value(c.Total)), int(c.Totals.Turns), int(c.Totals.FailedTurns), int(c.Totals.Spans), int(c.Totals.Errors), int(c.Totals.Usage.InputTokens), int(c.Totals.Usage.OutputTokens), int(c.Totals.CostKnownTurns), *c.Totals.CostUSD})

	for _, from := range []*testkit.Client{us, them} {
		name := "nobody"
		if from == them {
			name = talk
		}
		_, err := from.GetConversation(t.Context(), name, "includeTotal=true")
		require.ErrorContains(t, err, "The conversation does not exist")
	}
}
