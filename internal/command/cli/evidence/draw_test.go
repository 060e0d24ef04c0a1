package evidence_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/width"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/command/cli/evidence"
)

var update = flag.Bool("update", false, "write the files of testdata anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

var start = time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

func ptr[T any](v T) *T { return &v }

// marks are the five marks in these states.
func marks(states ...string) (list []evidence.Mark) {
	for i, stage := range []string{"requested", "authorized", "dispatched", "acknowledged", "verified"} {
		list = append(list, evidence.Mark{Stage: stage, State: states[i]})
	}
	return list
}

// noted puts a note on a mark.
func noted(list []evidence.Mark, i int, note string) []evidence.Mark {
	list[i].Note = note
	return list
}

// refund is the trace of an agent that refunds an order, and writes about it.
func refund() evidence.Timeline {
	const unchecked = "verified: the reply was not checked"
	return evidence.Timeline{
		Start: start, End: at(5466000),
		Entries: []evidence.Entry{
			{Resource: "primitive-step-runs", At: at(0), EndedAt: ptr(at(50000)), Title: "refund-agent", Status: "succeeded", Summary: "agent_invocation"},
			{Resource: "primitive-step-runs", At: at(1000), EndedAt: ptr(at(2500)), Depth: 1, Title: "chat", Status: "succeeded", Summary: "model_call, gpt-5-mini"},
			{Resource: "tool-invocation-evidence", ID: 18, At: at(2600), EndedAt: ptr(at(2700)), Depth: 1, Title: "find_order", Status: "succeeded", Summary: "shop, read", Action: &evidence.Action{
				Tool: "find_order", Marks: marks("done", "not_needed", "done", "done", "not_needed"),
			}},
			{Resource: "primitive-step-runs", ID: 19, At: at(5000), EndedAt: ptr(at(32100)), Depth: 1, Title: "execute_tool refund", Status: "succeeded", Summary: "tool_call"},
			{Resource: "policy-decisions", ID: 21, At: at(6000), Depth: 2, Title: "policy decision", Status: "require_approval", Summary: "rules, refunds above 100 need approval"},
			{Resource: "approvals", ID: 22, At: at(7000), EndedAt: ptr(at(28000)), Depth: 2, Title: "Refund 240 EUR for order A-17", Status: "consumed", Summary: "A-17 arrived broken"},
			{Resource: "policy-decisions", ID: 23, At: at(29000), Depth: 2, Title: "policy decision", Status: "allow", Summary: "rules"},
			{Resource: "tool-invocation-evidence", ID: 20, At: at(30000), EndedAt: ptr(at(32000)), Depth: 2, Title: "refund", Status: "succeeded", Summary: "payments, transact", Action: &evidence.Action{
				InvocationID: "call_9", Tool: "refund", Connector: "payments", SideEffectClass: "transact",
				Marks: noted(marks("done", "done", "done", "done", "done"), 4, "confirmed (readback)"),
			}},
			{Resource: "side-effect-ledger", ID: 24, At: at(30000), Depth: 3, Title: "refund payments/order/A-17", Status: "verified", Summary: "transact, irreversible"},
			{Resource: "tool-invocation-evidence", ID: 30, At: at(33000), EndedAt: ptr(at(34200)), Depth: 1, Title: "send_email", Status: "succeeded", Summary: "mail, communicate", Action: &evidence.Action{
				Tool: "send_email", Marks: marks("done", "missing", "done", "done", "missing"), Missing: []string{"authorized: no policy decision", unchecked},
			}},
			{Resource: "side-effect-ledger", ID: 31, At: at(33000), Depth: 2, Title: "send mail/message/77", Status: "acknowledged", Summary: "communicate, irreversible"},
			{Resource: "failures", ID: 32, At: at(5466000), Depth: 3, Title: "The mail was never checked, although the policy of this organization obliges every agent to", Status: "open", Summary: "high, unverified_side_effect"},
			{Resource: "tool-invocation-evidence", ID: 33, At: at(40000), Depth: 1, Title: "close_ticket", Status: "dispatched", Summary: "desk, update", Action: &evidence.Action{
				Tool: "close_ticket", Marks: noted(noted(marks("done", "done", "done", "waiting", "waiting"), 1, "decided elsewhere, as a client reports"), 3, "no reply yet"), Missing: []string{"acknowledged: no reply yet"},
			}},
			{Resource: "tool-invocation-evidence", ID: 34, At: at(45000), Depth: 1, Title: "delete_user", Status: "denied", Summary: "admin, delete", Action: &evidence.Action{
				Tool: "delete_user", Marks: noted(marks("done", "denied", "not_needed", "not_needed", "not_needed"), 1, "agents never delete people"),
			}},
			{Resource: "raw-events", ID: 40, At: at(46000), Title: "com.example.thing", Status: "unmapped", Summary: "https://example.com/agents"},
		},
		Missing: []string{"1 raw event was not mapped", "2 steps are part of steps that are not recorded"},
	}
}

// odd is everything that is unusual: wide letters, hostile texts, depths that no tree
// has, times that are not known and words that nothing is known about.
func odd() evidence.Timeline {
	hostile := "\x1b]0;owned\x07\x1b[31mred\x1b[0m\u202Egnp.exe\u009b2J\nline\ttab\x00\x7f\xff"
	return evidence.Timeline{
		Start: start, End: at(100),
		Entries: []evidence.Entry{
			{Resource: "primitive-step-runs", At: start, Depth: -3, Title: "检索知识库里的相关文档然后总结要点给用户看看，再写一封很长很长的邮件", Status: "状态", Summary: "e\u0301clair \U0001F469\u200d\U0001F680"},
			{Resource: "tool-invocation-evidence", ID: 9007199254740991, At: at(5), Depth: 7, Title: hostile, Status: hostile, Summary: hostile, Action: &evidence.Action{
				Marks:   []evidence.Mark{{Stage: hostile, State: hostile, Note: hostile}, {Stage: "verified", State: "失败"}},
				Missing: []string{hostile, "確認: " + strings.Repeat("応答は確認されていません。", 9), strings.Repeat("x", 200)},
			}},
			{Resource: hostile, ID: -4, At: at(-5), EndedAt: ptr(at(-50)), Depth: 2},
			{Resource: "readiness", At: time.Time{}, Depth: 1, Title: "no time", Status: "running", Action: &evidence.Action{}},
		},
		Missing: []string{hostile},
	}
}

// deep is a chain of entries, each below the one before, with an action at its end.
func deep(n int) (t evidence.Timeline) {
	t.Start, t.End = start, at(n)
	for i := range n {
		t.Entries = append(t.Entries, evidence.Entry{Resource: "primitive-step-runs", ID: int64(i + 1), At: at(i), Depth: i, Title: fmt.Sprint("step ", i)})
	}
	t.Entries[n-1].Action = &evidence.Action{Marks: marks("done", "done", "done", "failed", "missing"), Missing: []string{"verified: the reply was not checked"}}
	return t
}

func draw(t require.TestingT, tl evidence.Timeline, opts evidence.Options) string {
	var b bytes.Buffer
	require.NoError(t, evidence.Draw(&b, tl, opts))
	return b.String()
}

func TestATimelineIsDrawn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		timeline evidence.Timeline
		opts     evidence.Options
	}{
		"refund_80":       {refund(), evidence.Options{}},
		"refund_120":      {refund(), evidence.Options{Width: 120}},
		"refund_40":       {refund(), evidence.Options{Width: 40}},
		"refund_color_80": {refund(), evidence.Options{Color: true}},
		"odd_80":          {odd(), evidence.Options{Width: 80}},
		"odd_color_120":   {odd(), evidence.Options{Width: 120, Color: true}},
		"deep_80":         {deep(12), evidence.Options{Width: 80}},
		"deep_120":        {deep(12), evidence.Options{Width: 120}},
		"empty_80":        {evidence.Timeline{Missing: []string{"1 raw event was not mapped"}}, evidence.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := draw(t, c.timeline, c.opts)
			golden(t, name, got)
			fits(t, c.opts.Width, got)
			require.Equal(t, draw(t, c.timeline, evidence.Options{Width: c.opts.Width}), uncolored(got), "colors change nothing else")
		})
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9]+m")

func uncolored(text string) string { return escape.ReplaceAllString(text, "") }

// fits checks that lines are no wider than the terminal, hold no control characters
// except for our colors, and have no spaces at their end.
func fits(t require.TestingT, columns int, text string) {
	if columns == 0 {
		columns = 80
	}
	for line := range strings.Lines(uncolored(text)) {
		line = strings.TrimSuffix(line, "\n")
		n := 0
		for _, r := range line {
			require.False(t, r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r == 0x2028 || r >= 0x2066 && r <= 0x2069, "%q has a control character", line)
			switch width.LookupRune(r).Kind() {
			case width.EastAsianWide, width.EastAsianFullwidth:
				n += 2
			default:
				if r != 0x301 && r != 0x200d {
					n++
				}
			}
		}
		require.LessOrEqual(t, n, columns, line)
		require.Equal(t, strings.TrimRight(line, " "), line, "spaces at the end")
	}
}

func TestAnythingCanBeDrawn(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.StringOfN(rapid.RuneFrom([]rune("ab 語\n\t\x1b\x9b\u202e\u2066\u2028")), 0, 60, -1), rapid.SampledFrom([]string{"done", "missing", "waiting", "tool-invocation-evidence", "failures"}))
	rapid.Check(t, func(t *rapid.T) {
		tl := evidence.Timeline{Start: start, End: at(rapid.IntRange(-10, 1e9).Draw(t, "end"))}
		for range rapid.IntRange(0, 12).Draw(t, "entries") {
			e := evidence.Entry{
				Resource: text.Draw(t, "resource"), ID: rapid.Int64Range(0, 1<<53-1).Draw(t, "id"), At: at(rapid.IntRange(-10, 1e9).Draw(t, "at")), Depth: rapid.IntRange(-1, 40).Draw(t, "depth"),
				Title: text.Draw(t, "title"), Status: text.Draw(t, "status"), Summary: text.Draw(t, "summary"),
			}
			if rapid.Bool().Draw(t, "action") {
				e.Action = &evidence.Action{Missing: []string{text.Draw(t, "missing")}}
				for range rapid.IntRange(0, 6).Draw(t, "marks") {
					e.Action.Marks = append(e.Action.Marks, evidence.Mark{Stage: text.Draw(t, "stage"), State: text.Draw(t, "state"), Note: text.Draw(t, "note")})
				}
			}
			tl.Entries = append(tl.Entries, e)
		}
		columns := rapid.SampledFrom([]int{80, 100, 120, 200}).Draw(t, "width")
		got := draw(t, tl, evidence.Options{Width: columns, Color: true})
		fits(t, columns, got)
		require.NotContains(t, uncolored(got), "\x1b")
	})
}

func TestATimelineIsReadAsTheServerWritesIt(t *testing.T) {
	t.Parallel()
	var tl evidence.Timeline
	require.NoError(t, json.Unmarshal([]byte(`{"entries":[{"resource":"tool-invocation-evidence","id":20,"at":"2026-11-02T10:00:00Z","ended_at":"2026-11-02T10:00:02Z","depth":0,
		"title":"refund","state":"succeeded","summary":"payments","span":"a3","parent":-1,"action":{"invocation_id":"call_9","tool":"refund","connector":"payments","side_effect_class":"transact",
		"marks":[{"stage":"requested","state":"done","at":"2026-11-02T10:00:00Z","by":{"resource":"tool-invocation-evidence","id":20},"note":"n"}],"missing":["m"],"decision":{"resource":"policy-decisions","id":1},"ledger":[],"failures":[]}}],
		"missing":["x"],"start":"2026-11-02T10:00:00Z","end":"2026-11-02T10:00:02Z"}`), &tl))
	require.Equal(t, evidence.Timeline{
		Start: start, End: at(2000), Missing: []string{"x"},
		Entries: []evidence.Entry{{
			Resource: "tool-invocation-evidence", ID: 20, At: start, EndedAt: ptr(at(2000)), Title: "refund", Status: "succeeded", Summary: "payments",
			Action: &evidence.Action{
				InvocationID: "call_9", Tool: "refund", Connector: "payments", SideEffectClass: "transact", Missing: []string{"m"},
				Marks: []evidence.Mark{{Stage: "requested", State: "done", At: &start, By: &evidence.Ref{Resource: "tool-invocation-evidence", ID: 20}, Note: "n"}},
			},
		}},
	}, tl)
}
