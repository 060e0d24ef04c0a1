package agent_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/test/testkit"
)

// pages are the ids of all records that a list shows, page by page.
func pages(t testing.TB, us *testkit.Client, kind, query string) (ids []int64, sizes []int) {
	t.Helper()
	cursor := ""
	for {
		page, next, err := us.ListEvidence(t.Context(), kind, query+cursor)
		require.NoError(t, err, query)
		for _, r := range page {
			ids = append(ids, r.ID())
		}
		sizes = append(sizes, len(page))
		if next == nil {
			return ids, sizes
		}
		require.NotEmpty(t, page, "a page that others follow is not empty")
		cursor = "&cursor=" + *next
	}
}

// postAll reports so many records at once, and returns their ids, newest first.
func postAll(t testing.TB, us *testkit.Client, kind string, n int, body func(i int) map[string]any) []int64 {
	t.Helper()
	ids := make([]int64, n)
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(8)
	for i := range n {
		g.Go(func() error {
			made, err := us.PostEvidence(ctx, kind, body(i))
			if err == nil {
				ids[i] = made.ID()
			}
			return err
		})
	}
	require.NoError(t, g.Wait())
	return ids
}

func newestFirst(ids []int64) []int64 {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids
}

// TestListsShowWhatRecordsAreNow reports calls twice, with another state and class the
// second time, and pages through what each of them was and is.
func TestListsShowWhatRecordsAreNow(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	const all = 40
	changes := func(i int) bool { return i%4 != 0 }
	first := func(i int) map[string]any {
		return map[string]any{"runtimeKey": "agent", "invocationId": fmt.Sprint("call", i), "toolName": "t", "status": "requested", "sideEffectClass": "read"}
	}
	ids := postAll(t, us, invocations, all, first)
	step, err := us.PostEvidence(t.Context(), "primitive-step-runs", map[string]any{"primitiveType": "tool_call", "status": "running", "startedAt": "2026-01-31T12:00:00Z"})
	require.NoError(t, err)
	var same, changed []int64
	for i, id := range ids {
		if changes(i) {
			changed = append(changed, id)
		} else {
			same = append(same, id)
		}
	}
	again := postAll(t, us, invocations, all, func(i int) map[string]any {
		body := first(i)
		if changes(i) {
			body["status"], body["sideEffectClass"], body["connectorKey"], body["primitiveStepRunId"] = "cancelled", "transact", "payments", step.ID()
		}
		return body
	})
	require.Equal(t, ids, again)
	for query, want := range map[string][]int64{
		"status=requested&limit=3":                                   same,
		"status=cancelled&limit=7":                                   changed,
		"status=requested,cancelled&limit=7":                         ids,
		"status=denied&limit=7":                                      nil,
		"sideEffectClass=read&limit=3":                               same,
		"sideEffectClass=transact&limit=30":                          changed,
		"status=requested&sideEffectClass=transact&limit=7":          nil,
		"status=cancelled&sideEffectClass=transact&limit=7":          changed,
		"connectorKey=payments&limit=7":                              changed,
		"connectorKey=other&limit=7":                                 nil,
		"runtimeKey=agent&limit=7":                                   ids,
		"runtimeKey=agent&runtimeKey=other&limit=7":                  ids,
		"runtimeKey=other&limit=7":                                   nil,
		fmt.Sprintf("primitiveStepRunId=%d&limit=7", step.ID()):      changed,
		fmt.Sprintf("primitiveStepRunId=%d&limit=7", step.ID()+1000): nil,
	} {
		got, _ := pages(t, us, invocations, query)
		require.Equal(t, newestFirst(want), newestFirst(got), query)
		require.Equal(t, newestFirst(got), got, "newest first, and none twice: %s", query)
		var out struct {
			Total int64 `json:"total"`
		}
		_, err := us.Call(t.Context(), http.MethodGet, "/api/agent-evidence/"+invocations+"?"+query+"&includeTotal=true", nil, &out)
		require.NoError(t, err)
		require.EqualValues(t, len(want), out.Total, query)
	}
	one, err := us.GetEvidence(t.Context(), invocations, ids[0])
	require.NoError(t, err)
	for _, of := range []string{"createdAfter", "createdBefore"} {
		got, _ := pages(t, us, invocations, "limit=7&"+of+"="+fmt.Sprint(one["created_at"]))
		require.NotContains(t, got, ids[0], "times are compared to the millisecond")
	}
	skipped, _, err := us.ListEvidence(t.Context(), invocations, "status=requested&offset=4&limit=3")
	require.NoError(t, err)
	require.Len(t, skipped, 3)
	for i, id := range newestFirst(same)[4:7] {
		require.Equal(t, id, skipped[i].ID())
	}
}

func TestAPageEndsWhenItIsLarge(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	large := strings.Repeat("x", 255<<10)
	for kind, body := range map[string]func(i int) map[string]any{
		invocations: func(i int) map[string]any {
			return map[string]any{"invocationId": fmt.Sprint("c", i), "toolName": "t", "status": "requested", "result": large}
		},
		"benchmarks": func(int) map[string]any {
			return map[string]any{"benchmarkKey": "b", "metrics": map[string]any{"accuracy": 1}, "attributes": map[string]any{"log": large}}
		},
	} {
		ids := postAll(t, us, kind, 68, body)
		got, sizes := pages(t, us, kind, "limit=100")
		require.Equal(t, newestFirst(ids), got, kind)
		require.Equal(t, []int{65, 3}, sizes, "%s: a page ends with the record that fills 16 MiB", kind)
	}
}

func TestListsOfWhatDoesNotExistAreEmpty(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	_, err := us.PostEvidence(t.Context(), invocations, map[string]any{"invocationId": "c", "toolName": "t", "status": "requested"})
	require.NoError(t, err)
	_, err = us.PostEvidence(t.Context(), "connectors", map[string]any{"connectorKey": "c", "type": "custom"})
	require.NoError(t, err)
	for _, path := range []string{
		invocations + "?traceId=987654321", "connectors?traceId=987654321", "connectors?reportKey=none", "connectors?connectorReadinessReportId=987654321",
		invocations + "?sideEffectLedgerId=987654321", invocations + "?runtimeKey=none", "side-effect-ledger?runtimeKey=none&connectorKey=none",
	} {
		kind, query, _ := strings.Cut(path, "?")
		got, next, err := us.ListEvidence(t.Context(), kind, query)
		require.NoError(t, err, path)
		require.Empty(t, got, path)
		require.Nil(t, next, path)
	}
}

// TestListsOfATime asks for records of a time, of which some were made out of order.
func TestListsOfATime(t *testing.T) {
	t.Parallel()
	kit := testkit.Shared(t)
	us := kit.Org(t)
	const all = 500
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(i int) time.Time {
		return begin.Add(time.Duration(i)*time.Hour + time.Duration(i*7919%3000)*time.Second)
	}
	conn := kit.Owner(t, us.Org)
	batch := &pgx.Batch{}
	for i := range all {
		batch.Queue(`INSERT INTO evidence_records (org_id, kind, id, origin, actor, state, body, occurred_at, created_at, updated_at)
			VALUES ($1, 'side-effect-ledger', $2, 'reported', 'system', $3, '{}', $4, $4, $4)`, us.Org, 1000+3*i, []string{"failed", "planned", "unknown"}[i%3], at(i))
	}
	require.NoError(t, conn.SendBatch(t.Context(), batch).Close())
	for _, of := range []struct{ after, before int }{{-1, 0}, {-1, 1}, {-1, 100}, {200, 300}, {490, all}, {all, all}, {250, 251}, {-1, all}} {
		for _, states := range []string{"", "failed", "failed,unknown"} {
			query, want := "limit=17", []int64{}
			var after, before time.Time
			if of.after >= 0 {
				after = at(of.after)
				query += "&createdAfter=" + after.Format(time.RFC3339)
			}
			if of.before < all {
				before = at(of.before)
				query += "&createdBefore=" + before.Format(time.RFC3339)
			}
			if states != "" {
				query += "&status=" + states
			}
			for i := range all {
				in := (after.IsZero() || at(i).After(after)) && (before.IsZero() || at(i).Before(before))
				if in && (states == "" || i%3 == 0 || i%3 == 2 && strings.Contains(states, "unknown")) {
					want = append(want, int64(1000+3*i))
				}
			}
			got, _ := pages(t, us, "side-effect-ledger", query)
			require.Equal(t, newestFirst(want), append([]int64{}, got...), query)
		}
	}
}
