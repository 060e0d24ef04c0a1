package telemetry_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

// filter is a filter as a query and as plain code.
type filter struct {
	query string
	match func(expected) bool
}

func filters(now time.Time) []filter {
	has := func(e expected, words ...string) bool {
		return slices.ContainsFunc(e.words, func(text string) bool {
			name, isName := strings.CutPrefix(text, "name:")
			if isName {
				return strings.Contains(name, strings.Join(words, " "))
			}
			tokens := strings.Fields(text)
			return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(tokens, w) })
		})
	}
	middle := now.Add(-30 * time.Hour).Truncate(time.Second)
	stamp := url.QueryEscape(middle.Format(time.RFC3339))
	return []filter{
		{"status=running", func(e expected) bool { return e.Status == "running" }},
		{"status=completed", func(e expected) bool { return e.Status == "completed" }},
		{"status=failed", func(e expected) bool { return e.Status == "failed" }},
		{"status=failed&status=running", func(e expected) bool { return e.Status == "failed" || e.Status == "running" }},
		{"status=failed&status=completed", func(e expected) bool { return e.Status == "failed" || e.Status == "completed" }},
		{"minDurationMs=0", func(e expected) bool { return !e.End.IsZero() }},
		{"minDurationMs=2000.5", func(e expected) bool { return !e.End.IsZero() && e.End.Sub(e.Start) >= 2000500*time.Microsecond }},
		{"conversationId=c-1", func(e expected) bool { return e.Talk == "c-1" }},
		{"userId=u-2", func(e expected) bool { return e.User == "u-2" }},
		{"environment=production", func(e expected) bool { return e.Environment == "production" }},
		{"environment=staging", func(e expected) bool { return e.Environment == "staging" }},
		{"agentName=router", func(e expected) bool { return e.Agent == "router" }},
		{"releaseId=r-1", func(e expected) bool { return e.Release == "r-1" }},
		{"minDurationMs=2000", func(e expected) bool { return !e.End.IsZero() && e.End.Sub(e.Start) >= 2*time.Second }},
		{"hasError=true", func(e expected) bool { return e.Errors > 0 }},
		{"hasError=false", func(e expected) bool { return e.Errors == 0 }},
		{"tag=gamma", func(e expected) bool { return slices.Contains(e.Tags, "gamma") }},
		{"startAfter=" + stamp, func(e expected) bool { return e.Start.After(middle) }},
		{"startBefore=" + stamp, func(e expected) bool { return e.Start.Before(middle) }},
		{"search=order+REFUND", func(e expected) bool { return has(e, "order", "refund") }},
		{"search=number%2C+17", func(e expected) bool { return has(e, "number", "17") }},
		{"search=ground+control", func(e expected) bool { return has(e, "ground", "control") }},
		{"search=OUTE+A+tick", func(e expected) bool { return has(e, "oute a tick") }},
		{"search=nowhere", func(expected) bool { return false }},
		{"userId=nobody", func(expected) bool { return false }},
	}
}

//nolint:paralleltest // the later steps change what the earlier ones read
func TestListOfTraces(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its tables are not merged")
	us, them := k.Org(t), k.Org(t)
	merges(t, k, "STOP") // every version of every span stays a row of its own
	now := time.Now().UTC()
	r := rand.New(rand.NewPCG(7, 11))
	ours, theirs := newWorld(us), newWorld(them)
	ours.populate(t, r, now, 120)
	theirs.populate(t, r, now, 10)
	all := ours.traces(false)

	t.Run("newest first, each with its totals", func(t *testing.T) {
		page, err := us.ListTraces(t.Context(), "limit=1000&includeTotal=true")
		require.NoError(t, err)
		require.Equal(t, plain(all), seenAll(page.Traces))
		require.EqualValues(t, len(all), *page.Total)
		require.False(t, page.HasMore)

		page, err = them.ListTraces(t.Context(), "limit=1000")
		require.NoError(t, err)
		require.Equal(t, plain(theirs.traces(false)), seenAll(page.Traces))
	})

	t.Run("pages show every trace once", func(t *testing.T) {
		require.Equal(t, idsOf(all), walkCursor(t, us, "", 13))
		require.Equal(t, idsOf(all), walkOffset(t, us, "", 13))
	})

	t.Run("each filter alone", func(t *testing.T) {
		for _, f := range filters(now) {
			check(t, us, all, f)
		}
	})

	t.Run("filters together", func(t *testing.T) {
		choice := filters(now)
		for range 12 {
			a, b := pick(r, choice...), pick(r, choice...)
			if strings.SplitN(a.query, "=", 2)[0] == strings.SplitN(b.query, "=", 2)[0] {
				continue // the same parameter twice is an error
			}
			check(t, us, all, filter{a.query + "&" + b.query, func(e expected) bool { return a.match(e) && b.match(e) }})
		}
		var some []string
		for _, e := range all {
			if e.Environment == "production" && e.Errors > 0 {
				some = append(some, e.ID)
			}
		}
		require.Equal(t, some, walkCursor(t, us, "environment=production&hasError=true", 3))
		require.Equal(t, some, walkOffset(t, us, "environment=production&hasError=true", 3))
	})

	t.Run("a detail says what the list says", func(t *testing.T) {
		for i, e := range plain(all) {
			if i%4 != 0 {
				continue
			}
			d, err := us.GetTrace(t.Context(), e.ID)
			require.NoError(t, err)
			require.Equal(t, e, seen(listed(d)))
			require.Len(t, d.Spans, e.Spans)
			require.True(t, slices.IsSortedFunc(d.Spans, func(a, b testkit.Span) int { return a.StartTime.Compare(b.StartTime) }))
			_, err = them.GetTrace(t.Context(), e.ID)
			require.ErrorIs(t, err, fault.New(fault.NotFound, "trace_not_found", ""))
		}
	})

	t.Run("merging changes nothing", func(t *testing.T) {
		merges(t, k, "START")
		merges(t, k, "FINISH")
		page, err := us.ListTraces(t.Context(), "limit=1000&includeTotal=true")
		require.NoError(t, err)
		require.Equal(t, plain(all), seenAll(page.Traces))
		require.EqualValues(t, len(all), *page.Total)
	})

	t.Run("what nothing comes of for half an hour is closed", func(t *testing.T) {
		k.Clock.Advance(31 * time.Minute)
		page, err := us.ListTraces(t.Context(), "limit=1000")
		require.NoError(t, err)
		require.Equal(t, plain(ours.traces(true)), seenAll(page.Traces))
		check(t, us, ours.traces(true), filters(now)[0])
		check(t, us, ours.traces(true), filters(now)[1])
	})
}

// check compares a filtered list and its total with plain code.
func check(t *testing.T, c *testkit.Client, all []expected, f filter) {
	t.Helper()
	want := []string{}
	for _, e := range all {
		if f.match(e) {
			want = append(want, e.ID)
		}
	}
	page, err := c.ListTraces(t.Context(), "limit=1000&includeTotal=true&"+f.query)
	require.NoError(t, err, f.query)
	total, found := int(*page.Total), page.Traces
	for page.HasMore { // a request ends after a while, so a slow machine needs more of them
		page, err = c.ListTraces(t.Context(), "limit=1000&cursor="+api.Value(page.NextCursor)+"&"+f.query)
		require.NoError(t, err, f.query)
		found = append(found, page.Traces...)
	}
	require.Equal(t, want, idsOf(seenAll(found)), f.query)
	require.Equal(t, len(want), total, f.query)
}

// TestAMinuteWithManyTraces has more traces in a minute than a page looks at,
// many of them with the very same start.
func TestAMinuteWithManyTraces(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	w := newWorld(us)
	start := time.Now().UTC().Add(-time.Hour).Truncate(time.Minute)
	var spans []testkit.OTLPSpan
	for i := range 150 {
		spans = append(spans, testkit.OTLPSpan{Trace: testkit.NewTraceID(), ID: testkit.NewSpanID(), Name: "one", Start: start.Add(time.Duration(i/50) * 7 * time.Second), Duration: time.Second})
	}
	// Traces that only go on in this minute are listed where they start.
	for range 20 {
		trace, root := testkit.NewTraceID(), testkit.NewSpanID()
		spans = append(spans, testkit.OTLPSpan{Trace: trace, ID: root, Name: "two", Start: start.Add(-time.Hour), Duration: 2 * time.Hour},
			testkit.OTLPSpan{Trace: trace, ID: testkit.NewSpanID(), Parent: root, Name: "more", Start: start.Add(50 * time.Second), Duration: time.Second})
	}
	w.send(t, spans...)
	require.Equal(t, idsOf(w.traces(false)), walkCursor(t, us, "", 9))
	require.Equal(t, idsOf(w.traces(false)), walkOffset(t, us, "", 60))
}

// TestLookingForMatchesEnds has more traces than one request looks at, and none
// that matches.
func TestLookingForMatchesEnds(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	start := time.Now().UTC().Add(-time.Hour)
	for part := range 3 {
		var spans []testkit.OTLPSpan
		for i := range 7500 {
			spans = append(spans, testkit.OTLPSpan{Name: "quick", Start: start.Add(time.Duration(part*7500+i) * 40 * time.Millisecond), Duration: time.Millisecond})
		}
		us.SendOTLP(t, testkit.Spans(spans...))
	}

	page, err := us.ListTraces(t.Context(), "minDurationMs=1000")
	require.NoError(t, err)
	require.Empty(t, page.Traces)
	require.True(t, page.HasMore)
	// A request also ends after a while, so a slow machine needs more of them.
	for page.HasMore {
		page, err = us.ListTraces(t.Context(), "minDurationMs=1000&cursor="+api.Value(page.NextCursor))
		require.NoError(t, err)
		require.Empty(t, page.Traces)
	}

	_, err = us.ListTraces(t.Context(), "minDurationMs=1000&offset=1")
	require.ErrorIs(t, err, fault.New(fault.Validation, "use_cursor", ""))
	deep, err := us.ListTraces(t.Context(), "offset=22000&limit=1000")
	require.NoError(t, err)
	require.Len(t, deep.Traces, 500)
	require.False(t, deep.HasMore)
}

func TestCursorsThatNoListReturned(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	id := testkit.NewTraceID()
	us.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{Trace: id, Name: "a", Start: time.Now()}))
	for _, cursor := range []string{"%2B%2B", "x", base64.RawURLEncoding.EncodeToString([]byte("t1:5:" + id))} {
		for _, path := range []string{"/api/traces", "/api/traces/export"} {
			_, err := us.Call(t.Context(), "GET", path+"?cursor="+cursor, nil, nil)
			require.ErrorIs(t, err, fault.New(fault.Validation, "invalid_request", ""), fmt.Sprint(path, " ", cursor))
		}
	}
	lines, err := us.ExportTraces(t.Context(), "")
	require.NoError(t, err)
	_, err = us.ListTraces(t.Context(), "cursor="+lines[0].Cursor)
	require.NoError(t, err, "an export and the list are one order of traces")
	_, err = us.ListTraceSpans(t.Context(), id, "cursor="+lines[0].Cursor)
	require.ErrorIs(t, err, fault.New(fault.Validation, "invalid_request", ""))
	_, err = us.ListTraces(t.Context(), "offset=100001")
	require.ErrorIs(t, err, fault.New(fault.Validation, "use_cursor", ""))
}
