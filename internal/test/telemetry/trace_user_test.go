package telemetry_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestListEndUsers(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	// User i has i+1 traces, a minute apart, in two conversations from the third
	// trace on; the higher the number, the longer ago. Only roots name the user,
	// and every trace has a call.
	first := func(i int) time.Time { return now.Add(-time.Duration(i+1) * time.Hour) }
	for i := range 5 {
		var spans []testkit.OTLPSpan
		for n := range i + 1 {
			id, root, start := testkit.NewTraceID(), testkit.NewSpanID(), first(i).Add(time.Duration(n)*time.Minute)
			s := testkit.OTLPSpan{Trace: id, ID: root, Name: "answer", Service: fmt.Sprint("service-", i%2), Start: start, Duration: time.Second, Attributes: map[string]any{
				"gen_ai.conversation.id": fmt.Sprint("talk ", i, n/2), "user.id": fmt.Sprint("u-", i), "deployment.environment.name": "production",
			}}
			if i == 0 {
				delete(s.Attributes, "gen_ai.conversation.id")
			}
			if n == 1 {
				s.Error = "failed"
			}
			spans = append(spans, s, testkit.OTLPSpan{Trace: id, ID: testkit.NewSpanID(), Parent: root, Name: "call", Start: start, Duration: time.Second, Attributes: map[string]any{
				"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2, "gen_ai.usage.cost": 0.25,
			}})
		}
		us.SendOTLP(t, testkit.Spans(spans...))
		us.SendOTLP(t, testkit.Spans(spans...)) // what is sent twice counts once
	}
	_, err := us.CreateTrace(t.Context(), map[string]any{"name": "nobody", "startTime": at(-time.Minute)})
	require.NoError(t, err)
	_, err = us.CreateTrace(t.Context(), map[string]any{"name": "old", "userId": "u of old", "startTime": at(-10 * 24 * time.Hour)})
	require.NoError(t, err)
	_, err = them.CreateTrace(t.Context(), map[string]any{"name": "theirs", "userId": "u-0"})
	require.NoError(t, err)

	names := func(p testkit.EndUserPage) (out []string) {
		for _, u := range p.EndUsers {
			out = append(out, u.ID)
		}
		return out
	}
	read := func(t *testing.T, c *testkit.Client, query string) testkit.EndUserPage {
		t.Helper()
		page, err := c.ListEndUsers(t.Context(), query)
		require.NoError(t, err)
		return page
	}
	follow := func(t *testing.T, c *testkit.Client, query string) (out []string) {
		t.Helper()
		for cursor := ""; ; {
			page := read(t, c, query+"&cursor="+cursor)
			out = append(out, names(page)...)
			if cursor = api.Value(page.NextCursor); !page.HasMore {
				return out
			}
		}
	}
	all := []string{"u-0", "u-1", "u-2", "u-3", "u-4"}

	t.Run("the one with the newest activity comes first, with totals", func(t *testing.T) {
		t.Parallel()
		page := read(t, us, "includeTotal=true")
		require.Equal(t, all, names(page))
		require.EqualValues(t, 5, *page.Total)
		require.False(t, page.HasMore)
		for i, u := range page.EndUsers {
			n, cost := i+1, 0.25*float64(i+1)
			require.Equal(t, testkit.EndUser{
				ID: u.ID, UserID: u.ID, FirstStartTime: first(i), LastStartTime: first(i).Add(time.Duration(i) * time.Minute),
				Totals: testkit.EndUserTotals{
					Traces: int64(n), FailedTraces: int64(min(i, 1)), Conversations: int64([]int{0, 1, 2, 2, 3}[i]), Spans: int64(2 * n), Errors: int64(min(i, 1)), CostUSD: &cost, CostKnownTraces: int64(n),
					Usage: testkit.TokenUsage{InputTokens: int64(10 * n), OutputTokens: int64(2 * n), TotalTokens: int64(12 * n)},
				},
			}, u)
			traces, err := us.ListTraces(t.Context(), "userId="+u.ID)
			require.NoError(t, err)
			require.Len(t, traces.Traces, int(u.Totals.Traces), "as the list of traces says")
		}
	})

	t.Run("another organization sees only its own", func(t *testing.T) {
		t.Parallel()
		page := read(t, them, "includeTotal=true")
		require.Equal(t, []string{"u-0"}, names(page))
		require.EqualValues(t, 1, *page.Total)
		require.Equal(t, testkit.EndUserTotals{Traces: 1}, page.EndUsers[0].Totals)
		require.Empty(t, read(t, k.Org(t), "").EndUsers)
	})

	t.Run("pages by cursor and by offset", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, all, follow(t, us, "limit=2"))
		var byOffset []string
		for range 3 {
			byOffset = append(byOffset, names(read(t, us, fmt.Sprint("limit=2&offset=", len(byOffset))))...)
		}
		require.Equal(t, all, byOffset)
	})

	t.Run("pages have each of those that were active at the same time once", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		var spans []testkit.OTLPSpan
		var want []string
		for i := range 7 {
			want = append(want, fmt.Sprint("twin-", i))
			spans = append(spans, testkit.OTLPSpan{Name: "answer", Start: now.Add(-time.Hour), Duration: time.Second, Attributes: map[string]any{"user.id": want[i]}})
		}
		c.SendOTLP(t, testkit.Spans(spans...))
		got := follow(t, c, "limit=2")
		require.ElementsMatch(t, want, got)
		require.Equal(t, names(read(t, c, "")), got)
	})

	t.Run("filters", func(t *testing.T) {
		t.Parallel()
		stamp := func(ago time.Duration) string { return url.QueryEscape(now.Add(-ago).Format(time.RFC3339)) }
		before := "startAfter=" + stamp(20*24*time.Hour) + "&startBefore=" + stamp(5*24*time.Hour)
		for query, want := range map[string][]string{
			"serviceName=service-1":                        {"u-1", "u-3"},
			"environment=production&limit=1":               {"u-0"},
			"environment=staging":                          nil,
			"environment=staging&serviceName=service-0":    nil,
			"environment=production&serviceName=service-0": {"u-0", "u-2", "u-4"},
			"startAfter=" + stamp(150*time.Minute):         {"u-0", "u-1"},
			before:                                         {"u of old"},
		} {
			require.Equal(t, want, names(read(t, us, query)), query)
		}
	})

	t.Run("only traces that match count", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		send := func(user, environment, service string, ago time.Duration) {
			c.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{Name: "answer", Service: service, Start: now.Add(-ago), Duration: time.Second, Attributes: map[string]any{
				"user.id": user, "deployment.environment.name": environment,
			}}))
		}
		send("ann", "staging", "web", time.Minute)
		send("ann", "production", "web", time.Hour)
		send("ann", "production", "shop", 2*time.Hour)
		send("bob", "production", "web", 30*time.Minute)
		for query, want := range map[string]map[string]int{
			"":                       {"ann": 3, "bob": 1},
			"environment=production": {"ann": 2, "bob": 1},
			"environment=production&serviceName=shop": {"ann": 1},
			"environment=staging":                     {"ann": 1},
		} {
			got := map[string]int{}
			for _, u := range read(t, c, query).EndUsers {
				got[u.ID] = int(u.Totals.Traces)
			}
			require.Equal(t, want, got, query)
		}
		page := read(t, c, "environment=production")
		require.Equal(t, []string{"bob", "ann"}, names(page), "by the latest activity that matches")
		require.Equal(t, now.Add(-time.Hour), page.EndUsers[1].LastStartTime)
	})

	t.Run("a trace that started before the window does not count", func(t *testing.T) {
		t.Parallel()
		from := first(4).Add(90 * time.Second)
		page := read(t, us, "startAfter="+url.QueryEscape(from.Format(time.RFC3339Nano)))
		last := page.EndUsers[len(page.EndUsers)-1]
		require.Equal(t, "u-4", last.ID)
		require.EqualValues(t, 3, last.Totals.Traces)
		require.Equal(t, first(4).Add(2*time.Minute), last.FirstStartTime)
	})

	t.Run("the window has an end", func(t *testing.T) {
		t.Parallel()
		conversations, err := us.ListConversations(t.Context(), "limit=1")
		require.NoError(t, err)
		for query, want := range map[string]string{
			"startAfter=2025-01-01T00:00:00Z&startBefore=2025-06-01T00:00:00Z": "startAfter min",
			"startAfter=2025-01-01T00:00:00Z&startBefore=2025-01-01T00:00:00Z": "startBefore min",
			"cursor=abc": "cursor format",
			"cursor=" + api.Value(conversations.NextCursor): "cursor format",
		} {
			_, err := us.ListEndUsers(t.Context(), query)
			require.Equal(t, []string{want}, fieldsOf(t, err), query)
		}
	})
}
