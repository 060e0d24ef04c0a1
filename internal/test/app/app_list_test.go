package app_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/test/testkit"
	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

// TestLists reads every list of the document page by page. A new list is read
// too, with the objects of its noun or with what its POST adds.
func TestLists(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	// Lists are filled by workers too, and stand still once these have stopped.
	ctx, stop := context.WithCancel(t.Context())
	stopped := k.WorkUntil(ctx)
	lists := filledLists(t, k)
	stop()
	require.NoError(t, <-stopped)
	require.Greater(t, len(lists), 15)

	cursors := map[string]string{}
	for _, l := range lists {
		t.Run(l.op.ID, func(t *testing.T) {
			whole := l.page(t, "limit=1000")
			require.GreaterOrEqual(t, len(whole.ids), 3, "the specimens make too few entries")
			require.False(t, whole.more)
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(whole.ids))), len(whole.ids))

			first := l.page(t, "limit=1")
			require.Equal(t, whole.ids, append(first.ids, l.rest(t, first)...), "by cursor")
			var skipped []string
			for i := range whole.ids {
				page := l.page(t, "limit=1&offset="+strconv.Itoa(i))
				require.Equal(t, i+1 < len(whole.ids), page.more)
				skipped = append(skipped, page.ids...)
			}
			require.Equal(t, whole.ids, skipped, "by offset")
			require.Empty(t, l.page(t, "offset="+strconv.Itoa(len(whole.ids))).ids)
			second := l.page(t, "limit=1&offset=1")
			require.Equal(t, whole.ids[1:], append(second.ids, l.rest(t, second)...), "by offset, then by cursor")

			require.Equal(t, strconv.Itoa(len(whole.ids)), l.page(t, "limit=1&includeTotal=true").total)
			if !slices.Contains(counted, l.op.Method+" "+l.op.Path) {
				require.Equal(t, "null", first.total, "it is counted on request")
			} else {
				require.Equal(t, strconv.Itoa(len(whole.ids)), first.total, "it is counted always")
			}
			cursors[l.op.ID] = first.next
		})
	}

	t.Run("a list refuses the cursors of the others", func(t *testing.T) {
		for _, l := range lists {
			for of, cursor := range cursors {
				if of != l.op.ID {
					l.refuse(t, "cursor="+cursor, "cursor format")
				}
			}
			l.refuse(t, "offset=1&cursor="+cursors[l.op.ID], "cursor mutually_exclusive")
		}
	})

	//nolint:paralleltest // an entry of one list may need one of another
	for _, l := range lists {
		if l.noun == "" {
			continue
		}
		t.Run("what comes and goes does not move "+l.op.ID, func(t *testing.T) {
			l.m.Make(t, l.noun)
			whole, first := l.page(t, "limit=1000"), l.page(t, "limit=1")
			l.m.Make(t, l.noun)
			if l.deletes {
				_, err := l.m.Client.Call(t.Context(), http.MethodDelete, l.path+"/"+strings.Trim(first.ids[0], `"`), nil, nil)
				require.NoError(t, err)
			}
			rest := l.rest(t, first)
			if l.op.ID == "listAdjudicationItems" {
				rest = rest[:len(rest)-1] // a queue, at whose end the new entry is
			}
			require.Equal(t, whole.ids[1:], rest)
		})
	}
}

// walkedList is a list with entries.
type walkedList struct {
	op   httpapi.Op
	m    *specimen.Maker // of its entries
	path string          // filled in
	// query is what the list needs to be asked, with a question mark.
	query string
	// noun is what its entries are; empty if the specimens do not say.
	noun string
	// deletes is whether an entry can be deleted.
	deletes bool
}

// filledLists are all lists, each with three entries or more.
func filledLists(t *testing.T, k *testkit.Kit) (lists []walkedList) {
	t.Helper()
	rows, err := pgx.Connect(t.Context(), k.App.Config.Postgres.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = rows.Close(context.WithoutCancel(t.Context())) })
	m := specimen.NewMaker(person(t, k), rows, "Lists")
	m.InPerson = true
	m.Put("provider", provider().URL)
	measured(t, m)
	spoken(t, m)
	judged(t, m)
	ruled(t, m)

	d, ops := readDocument(t), k.App.Edge.Ops()
	for _, list := range ops {
		if list.ContentType != "" || !slices.ContainsFunc(d.operation(t, list).params, func(p docParam) bool { return p.name == "limit" }) {
			continue
		}
		call := m.Call(t, specimen.OfRoute(list.Method+" "+list.Path))
		l := walkedList{op: list, m: m.Fork(), path: call.Path, query: call.Query}
		for _, op := range ops {
			name, below := strings.CutPrefix(op.Path, list.Path+"/{")
			if !below || strings.Contains(name, "/") {
				continue
			}
			if noun, ok := specimen.NounOf(op.Path); ok {
				l.noun = noun.Name
			}
			l.deletes = l.deletes || op.Method == http.MethodDelete
		}
		l.fill(t)
		lists = append(lists, l)
	}
	return lists
}

// fill makes three entries, if the specimens say how.
func (l *walkedList) fill(t *testing.T) {
	t.Helper()
	post := specimen.OfRoute(http.MethodPost + " " + l.op.Path)
	for range 3 {
		switch {
		case l.noun != "":
			l.m.Make(t, l.noun)
		case post.Telemetry || post.Appends:
			call := l.m.Call(t, post)
			_, err := l.m.Client.Call(t.Context(), call.Method, call.Path, jsontext.Value(call.Body), nil)
			require.NoError(t, err)
		}
	}
}

// measured lets a maker name a run with three results.
func measured(t *testing.T, m *specimen.Maker) {
	t.Helper()
	c := m.Client
	d := c.Dataset(t, testkit.NewDataset{})
	added, err := c.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "Why?"}, {Input: "How?"}, {Input: "When?"}})
	require.NoError(t, err)
	e := c.Evaluation(t, d.ID, map[string]any{"target": map[string]any{"type": "client"}})
	r := waiting(t, c, e.ID)
	var results []map[string]any
	for _, i := range added.Items {
		results = append(results, map[string]any{"testCaseId": i.ID, "output": "So."})
	}
	require.NoError(t, c.PutResults(t.Context(), e.ID, r.RunID, results, true))
	c.Artifacts(t, c.Ended(t, r))
	m.Put("evaluation", e.ID)
	m.Put("run", r.RunID)
}

// spoken lets a maker name a conversation of three turns.
func spoken(t *testing.T, m *specimen.Maker) {
	t.Helper()
	for i := range 3 {
		_, err := m.Client.Call(t.Context(), http.MethodPost, "/api/traces", map[string]any{"name": fmt.Sprint("turn ", i), "conversationId": "talk"}, nil)
		require.NoError(t, err)
	}
	m.Put("conversation", "talk")
}

// judged lets a maker name a judge with three versions and three results, and one of
// its three rules with three back-fills.
func judged(t *testing.T, m *specimen.Maker) {
	t.Helper()
	c, ctx := m.Client, t.Context()
	j, err := c.CreateJudgeConfig(ctx, map[string]any{"key": "lists", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	for i := range 3 {
		_, err := c.UpdateJudgeConfig(ctx, j.ID, map[string]any{"repeats": i + 1})
		require.NoError(t, err)
		_, err = c.EvaluateWithJudge(ctx, map[string]any{"configId": j.ID, "input": "Why?", "output": "So."})
		require.NoError(t, err)
		_, err = c.ProbeJudgeConfig(ctx, j.ID, map[string]any{"kinds": []string{"verbosity"}})
		require.NoError(t, err)
	}
	m.Put("judge", j.ID)
	for range 3 {
		m.Insert(t, "judge_watch_checks")
	}
	var r testkit.JudgeRule
	for i := range 3 {
		r, err = c.CreateJudgeRule(ctx, map[string]any{"key": fmt.Sprint("lists-", i), "configId": j.ID, "sampleRate": 0.5, "status": "paused"})
		require.NoError(t, err)
	}
	for range 3 {
		_, err = c.StartJudgeBackfill(ctx, r.ID, map[string]any{"from": "2026-01-01T00:00:00Z"})
		require.NoError(t, err)
	}
	m.Put("judge rule", r.ID)
}

// ruled lets a maker name a policy with three versions.
func ruled(t *testing.T, m *specimen.Maker) {
	t.Helper()
	id := m.Make(t, "policy")
	for i := range 2 {
		_, err := m.Client.Call(t.Context(), http.MethodPatch, "/api/policies/"+id, map[string]any{"source": fmt.Sprintf("// %d\npermit (principal, action, resource);", i)}, nil)
		require.NoError(t, err)
	}
	m.Put("policy", id)
}

// listPage is a page with the ids of its entries.
type listPage struct {
	ids         []string
	more        bool
	next, total string
}

// page reads a page.
func (l walkedList) page(t *testing.T, query string) (out listPage) {
	t.Helper()
	var body map[string]jsontext.Value
	_, err := l.m.Client.Call(t.Context(), http.MethodGet, l.target(query), nil, &body)
	require.NoError(t, err)
	for _, value := range body {
		if value.Kind() != '[' {
			continue
		}
		var entries []map[string]jsontext.Value
		require.NoError(t, json.Unmarshal(value, &entries))
		for _, e := range entries {
			out.ids = append(out.ids, identity(e))
		}
	}
	require.NoError(t, json.Unmarshal(body["has_more"], &out.more))
	require.NotEmpty(t, body["next_cursor"])
	require.NoError(t, json.Unmarshal(body["next_cursor"], &out.next))
	require.Equal(t, out.more, out.next != "")
	out.total = string(body["total"])
	return out
}

// rest are the entries of the pages after one, whose limit is 1.
func (l walkedList) rest(t *testing.T, page listPage) (ids []string) {
	t.Helper()
	for page.more {
		page = l.page(t, "limit=1&cursor="+page.next)
		require.LessOrEqual(t, len(page.ids), 1)
		require.Less(t, len(ids), 300, "the pages have no end")
		ids = append(ids, page.ids...)
	}
	return ids
}

// refuse fails unless a query is refused for a field.
func (l walkedList) refuse(t *testing.T, query, want string) {
	t.Helper()
	res, err := l.m.Client.Send(t.Context(), http.MethodGet, l.target(query), nil)
	require.NoError(t, err)
	var e struct {
		Error struct {
			Details struct {
				Fields []struct {
					In   string `json:"in"`
					Path string `json:"path"`
					Code string `json:"code"`
				} `json:"fields"`
			} `json:"details"`
		} `json:"error"`
	}
	require.NoError(t, json.Unmarshal(res.Body, &e))
	require.Equal(t, http.StatusBadRequest, res.Status, "%s %s", l.op.ID, query)
	require.Len(t, e.Error.Details.Fields, 1)
	f := e.Error.Details.Fields[0]
	require.Equal(t, "query "+want, f.In+" "+f.Path+" "+f.Code)
}

func (l walkedList) target(query string) string {
	if l.query == "" {
		return l.path + "?" + query
	}
	return l.path + l.query + "&" + query
}

// identity is the id of an entry, or what it names and how often.
func identity(e map[string]jsontext.Value) string {
	if id, ok := e["id"]; ok {
		return string(id)
	}
	var parts []string
	for name, value := range e {
		if strings.HasSuffix(name, "_id") || name == "epoch" {
			parts = append(parts, name+" "+string(value))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
