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

func TestListConversations(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	// Conversation i has i+1 turns, a minute apart; the higher its number, the
	// longer ago. Only roots name the conversation, and every turn has a call.
	first := func(i int) time.Time { return now.Add(-time.Duration(i+1) * time.Hour) }
	for i := range 5 {
		var spans []testkit.OTLPSpan
		for turn := range i + 1 {
			id, root, start := testkit.NewTraceID(), testkit.NewSpanID(), first(i).Add(time.Duration(turn)*time.Minute)
			s := testkit.OTLPSpan{Trace: id, ID: root, Name: "turn", Service: fmt.Sprint("service-", i%2), Start: start, Duration: time.Second, Attributes: map[string]any{
				"gen_ai.conversation.id": fmt.Sprint("talk ", i), "user.id": fmt.Sprint("u-", i), "deployment.environment.name": "production",
			}}
			if turn == 1 {
				s.Error = "failed"
			}
			spans = append(spans, s, testkit.OTLPSpan{Trace: id, ID: testkit.NewSpanID(), Parent: root, Name: "call", Start: start, Duration: time.Second, Attributes: map[string]any{
				"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2, "gen_ai.usage.cost": 0.25,
			}})
		}
		us.SendOTLP(t, testkit.Spans(spans...))
		us.SendOTLP(t, testkit.Spans(spans...)) // what is sent twice counts once
	}
	_, err := us.CreateTrace(t.Context(), map[string]any{"name": "alone", "startTime": at(-time.Minute)})
	require.NoError(t, err)
	_, err = us.CreateTrace(t.Context(), map[string]any{"name": "old", "conversationId": "talk of old", "startTime": at(-10 * 24 * time.Hour)})
	require.NoError(t, err)
	_, err = them.CreateTrace(t.Context(), map[string]any{"name": "theirs", "conversationId": "talk 0"})
	require.NoError(t, err)

	names := func(p testkit.ConversationPage) (out []string) {
		for _, c := range p.Conversations {
			out = append(out, c.ID)
		}
		return out
	}
	read := func(t *testing.T, query string) testkit.ConversationPage {
		t.Helper()
		page, err := us.ListConversations(t.Context(), query)
		require.NoError(t, err)
		return page
	}

	t.Run("the one with the newest activity comes first, with its totals", func(t *testing.T) {
		t.Parallel()
		page := read(t, "includeTotal=true")
		require.Equal(t, []string{"talk 0", "talk 1", "talk 2", "talk 3", "talk 4"}, names(page))
		require.EqualValues(t, 5, *page.Total)
		require.False(t, page.HasMore)
		for i, c := range page.Conversations {
			n, cost, user := i+1, 0.25*float64(i+1), fmt.Sprint("u-", i)
			require.Equal(t, testkit.ListedConversation{
				ID: c.ID, ConversationID: c.ID, UserID: &user, FirstStartTime: first(i), LastStartTime: first(i).Add(time.Duration(i) * time.Minute),
				Totals: testkit.ConversationTotals{
					Turns: int64(n), FailedTurns: int64(min(i, 1)), Spans: int64(2 * n), Errors: int64(min(i, 1)), CostUSD: &cost, CostKnownTurns: int64(n),
					Usage: testkit.TokenUsage{InputTokens: int64(10 * n), OutputTokens: int64(2 * n), TotalTokens: int64(12 * n)},
				},
			}, c)
			whole, err := us.GetConversation(t.Context(), c.ID, "includeTotal=true")
			require.NoError(t, err)
			require.Equal(t, whole.Totals, c.Totals, "as the conversation itself says")
		}
	})

	t.Run("pages by cursor and by offset", func(t *testing.T) {
		t.Parallel()
		var byCursor, byOffset []string
		for cursor := ""; ; {
			page := read(t, "limit=2&cursor="+cursor)
			byCursor = append(byCursor, names(page)...)
			if cursor = api.Value(page.NextCursor); !page.HasMore {
				break
			}
		}
		for range 3 {
			byOffset = append(byOffset, names(read(t, fmt.Sprint("limit=2&offset=", len(byOffset))))...)
		}
		require.Equal(t, []string{"talk 0", "talk 1", "talk 2", "talk 3", "talk 4"}, byCursor)
		require.Equal(t, byCursor, byOffset)
	})

	t.Run("filters", func(t *testing.T) {
		t.Parallel()
		after := url.QueryEscape(now.Add(-150 * time.Minute).Format(time.RFC3339))
		for query, want := range map[string][]string{
			"userId=u-3":                       {"talk 3"},
			"serviceName=service-1":            {"talk 1", "talk 3"},
			"environment=production&limit=1":   {"talk 0"},
			"environment=staging":              nil,
			"userId=u-3&serviceName=service-0": nil,
			"startAfter=" + after:              {"talk 0", "talk 1"},
			"startAfter=" + url.QueryEscape(now.Add(-20*24*time.Hour).Format(time.RFC3339)) + "&startBefore=" + url.QueryEscape(now.Add(-5*24*time.Hour).Format(time.RFC3339)): {"talk of old"},
		} {
			require.Equal(t, want, names(read(t, query)), query)
		}
	})

	t.Run("a turn that started before the window does not count", func(t *testing.T) {
		t.Parallel()
		from := first(4).Add(90 * time.Second)
		page := read(t, "userId=u-4&startAfter="+url.QueryEscape(from.Format(time.RFC3339Nano)))
		require.EqualValues(t, 3, page.Conversations[0].Totals.Turns)
		require.Equal(t, first(4).Add(2*time.Minute), page.Conversations[0].FirstStartTime)
	})

	t.Run("the window has an end", func(t *testing.T) {
		t.Parallel()
		for query, want := range map[string]string{
			"startAfter=2025-01-01T00:00:00Z&startBefore=2025-06-01T00:00:00Z": "startAfter min",
			"startAfter=2025-01-01T00:00:00Z&startBefore=2025-01-01T00:00:00Z": "startBefore min",
			"cursor=abc": "cursor format",
		} {
			_, err := us.ListConversations(t.Context(), query)
			require.Equal(t, []string{want}, fieldsOf(t, err), query)
		}
	})
}
