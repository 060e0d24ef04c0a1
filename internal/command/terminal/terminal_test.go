package terminal_test

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

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/width"

	"github.com/assayhq/assay/internal/command/terminal"
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

var start = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

func ptr[T any](v T) *T { return &v }

func draw(t *testing.T, s terminal.Style, tr terminal.Trace, payload bool) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, s.Trace(&b, tr, start.Add(5*time.Minute), payload))
	return b.String()
}

// support is a trace as an agent makes it.
func support() terminal.Trace {
	return terminal.Trace{
		ID: "4bf92f3577b34da6a3ce929d0e0e4736", Ref: 1042, Name: "support agent", Status: "failed", Start: start, Duration: ptr(12400 * time.Millisecond),
		Facts: []terminal.Fact{
			{Name: "environment", Value: "production"},
			{Name: "service", Value: "shop-api"},
			{Name: "agent", Value: "support"},
			{Name: "release", Value: "rel-2026-01-30"},
			{Name: "user", Value: "u-4711"},
			{Name: "conversation", Value: ""},
		},
		Tags: []string{"beta", "eu"}, Tokens: terminal.Tokens{In: 12431, Out: 1840}, Cost: ptr(0.0421), SpanCount: 9, ErrorCount: 2,
		Spans: []terminal.Span{
			{ID: "01", Name: "support agent", Type: "agent_invocation", Start: at(0), End: at(12400), Failed: true, Message: "the order could not be refunded"},
			{ID: "02", Parent: "01", Name: "chat gpt-5-mini", Type: "model_call", Model: "gpt-5-mini", Start: at(120), End: at(1900), Tokens: terminal.Tokens{In: 1100, Out: 64}, Cost: ptr(0.0021), Input: jsontext.Value(`[{"role":"user","content":"Where is my order?\nIt is late."}]`), Output: jsontext.Value(`"Let me look that up for you. I will search the documents about shipping first, then the order itself."`)},
			{ID: "03", Parent: "01", Name: "execute_tool", Type: "tool_call", Tool: "search_docs", Start: at(1950), End: at(2790), Input: jsontext.Value(`{"query":"shipping","top_k":3}`), Output: jsontext.Value(`[{"role":"tool","parts":[{"type":"tool_call","name":"x"}]}]`)},
			{ID: "04", Parent: "03", Name: "GET /search", Start: at(1960), End: at(2780)},
			{ID: "05", Parent: "01", Name: "refund", Type: "agent_invocation", Start: at(2800), End: at(12000)},
			{ID: "06", Parent: "05", Name: "chat", Input: jsontext.Value(`[{"role":"system","parts":[{"type":"text","content":"Be brief."}]},{"role":"user","parts":[{"type":"text","content":"Refund it."}]}]`), Output: jsontext.Value(`[{"role":"assistant","parts":[{"type":"text","content":"I wil"}],"finish_reason":"length"}]`), Type: "model_call", Model: "claude-sonnet-4-5", Start: at(2850), End: at(9000), Tokens: terminal.Tokens{In: 11331, Out: 1776}, Cost: ptr(0.04)},
			{ID: "07", Parent: "05", Name: "execute_tool refund_order", Type: "tool_call", Tool: "refund_order", Start: at(9050), End: at(11900), Failed: true, Message: "POST https://payments.internal/refunds answered 503 Service Unavailable: {\"error\":{\"code\":\"SERVICE_UNAVAILABLE\",\"message\":\"The ledger is read-only while it is moved; try again in ten minutes\"}}"},
			{ID: "08", Parent: "01", Name: "respond", Type: "response", Start: at(12010), End: at(12010)},
			{ID: "09", Parent: "beef", Name: "audit", Start: at(12100), End: at(12300)},
		},
	}
}

// odd is a trace with everything that is unusual in a tree.
func odd() terminal.Trace {
	return terminal.Trace{
		ID: "00000000000000000000000000000001", Status: "running", Start: start, SpanCount: 4321, Truncated: true,
		Spans: []terminal.Span{
			{ID: "a1", Name: "", Start: at(0)},
			{ID: "a2", Parent: "0000000000000000", Name: "第二の根 — zweite Wurzel 🌳", Start: at(10), End: at(2010)},
			{ID: "a3", Parent: "a1", Name: "检索知识库里的相关文档然后总结要点给用户看看", Type: "retrieval", Start: at(20), End: at(520)},
			{ID: "a4", Parent: "a3", Name: "e\u0301clair \U0001F469\u200d\U0001F680", Start: at(30), End: at(30)},
			{ID: "b1", Parent: "b3", Name: "circle one", Start: at(300), End: at(400)},
			{ID: "b2", Parent: "b1", Name: "circle two", Start: at(310), End: at(390)},
			{ID: "b3", Parent: "b2", Name: "circle three", Start: at(320), End: at(380)},
			{ID: "b4", Parent: "b3", Name: "hangs on the circle and starts before it", Start: at(5), End: at(6)},
			{ID: "c1", Parent: "c1", Name: "own parent", Start: at(500), End: at(600)},
			{ID: "d1", Parent: "ffff0000ffff0000", Name: "orphan", Start: at(700), End: at(900)},
			{ID: "d2", Parent: "d1", Name: "child of the orphan", Start: at(710), End: at(800)},
			{ID: "e1", Parent: "a1", Name: "ends before it starts", Start: at(900), End: at(800)},
			{ID: "e1", Parent: "a1", Name: "an id for the second time", Start: at(1000), End: at(1001)},
			{ID: "f1", Parent: "a1", Name: "\x1b]0;owned\x07\x1b[31mred\x1b[0m\u202Egnp.exe\u009b2J\nline\ttab\x00\x7f\xff", Start: at(1100), End: at(1200), Failed: true, Message: "\x1b[2Jgone\r\nsecond line\u2028third"},
			{ID: "g1", Parent: "a1", Name: "open", Start: at(1500)},
		},
	}
}

// chain is a trace of n spans, each below the one before.
func chain(n int) terminal.Trace {
	tr := terminal.Trace{ID: "00000000000000000000000000000002", Name: "chain", Status: "completed", Start: start, SpanCount: n}
	for i := range n {
		tr.Spans = append(tr.Spans, terminal.Span{ID: fmt.Sprintf("s%d", i), Parent: parent(i, i-1), Name: fmt.Sprint("step ", i), Start: at(i), End: at(2*n - i)})
	}
	return tr
}

func parent(i, of int) string {
	if i == 0 {
		return ""
	}
	return fmt.Sprintf("s%d", of)
}

func TestTraceIsDrawn(t *testing.T) {
	t.Parallel()
	zero := terminal.Trace{ID: "00000000000000000000000000000003", Name: "zero", Status: "completed", AutoClosed: true, Start: start, Duration: ptr(time.Duration(0)), SpanCount: 2}
	zero.Spans = []terminal.Span{{ID: "1", Name: "zero", Start: start, End: start}, {ID: "2", Parent: "1", Name: "nothing", Start: start, End: start}}
	for name, c := range map[string]struct {
		style   terminal.Style
		trace   terminal.Trace
		payload bool
	}{
		"support_80":          {terminal.Style{Width: 80}, support(), false},
		"support_120":         {terminal.Style{Width: 120}, support(), false},
		"support_40":          {terminal.Style{Width: 40}, support(), false},
		"support_colour_80":   {terminal.Style{Width: 80, Colour: true}, support(), false},
		"support_piped":       {terminal.Style{}, support(), false},
		"support_payload_80":  {terminal.Style{Width: 80}, support(), true},
		"support_payload_120": {terminal.Style{Width: 120, Colour: true}, support(), true},
		"odd_80":              {terminal.Style{Width: 80}, odd(), false},
		"odd_colour_120":      {terminal.Style{Width: 120, Colour: true}, odd(), true},
		"chain_80":            {terminal.Style{Width: 80}, chain(40), false},
		"zero_80":             {terminal.Style{Width: 80}, zero, false},
		"empty_80":            {terminal.Style{Width: 80}, terminal.Trace{ID: "4", Name: "empty", Status: "new status", Start: start.Add(time.Hour)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := draw(t, c.style, c.trace, c.payload)
			golden(t, name, got)
			fits(t, c.style, got)
			require.Equal(t, draw(t, terminal.Style{Width: c.style.Width}, c.trace, c.payload), uncoloured(got), "colours change nothing else")
		})
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9]+m")

func uncoloured(text string) string { return escape.ReplaceAllString(text, "") }

// fits checks that lines are no wider than the terminal and hold no control
// characters beside our colours.
func fits(t *testing.T, s terminal.Style, text string) {
	t.Helper()
	for line := range strings.Lines(uncoloured(text)) {
		line = strings.TrimSuffix(line, "\n")
		n := 0
		for _, r := range line {
			require.False(t, r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e, "%q has a control character", line)
			switch width.LookupRune(r).Kind() {
			case width.EastAsianWide, width.EastAsianFullwidth:
				n += 2
			default:
				if r != 0x301 && r != 0x200d {
					n++
				}
			}
		}
		if s.Width >= 80 {
			require.LessOrEqual(t, n, s.Width, line)
		}
		require.Equal(t, strings.TrimRight(line, " "), line, "spaces at the end")
	}
}

func TestAThousandSpans(t *testing.T) {
	t.Parallel()
	wide := terminal.Trace{ID: "00000000000000000000000000000005", Name: "wide", Status: "completed", Start: start, SpanCount: 1000}
	for i := range 1000 {
		wide.Spans = append(wide.Spans, terminal.Span{ID: fmt.Sprintf("s%d", i), Parent: parent(i, (i-1)/7), Name: fmt.Sprint("step ", i), Start: at(i), End: at(i + 3)})
	}
	circle := chain(1000)
	circle.Spans[0].Parent = "s999"
	for name, tr := range map[string]terminal.Trace{"wide": wide, "deep": chain(1000), "circle": circle} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := terminal.Style{Width: 100}
			got := draw(t, s, tr, false)
			fits(t, s, got)
			times := map[string]int{}
			for _, name := range regexp.MustCompile(`step \d+`).FindAllString(got, -1) {
				times[name]++
			}
			require.Len(t, times, 1000)
			for name, n := range times {
				require.Equal(t, 1, n, name)
			}
		})
	}
}
