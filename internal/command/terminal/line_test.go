package terminal_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/terminal"
)

func events() []terminal.Event {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	took := func(d time.Duration) *time.Duration { return &d }
	return []terminal.Event{
		{At: at(0), Status: "running", Name: "support agent", Source: "support", ID: id},
		{At: at(1240), Status: "completed", Name: "support agent", Source: "support", ID: id, Duration: took(1240 * time.Millisecond), Tokens: 12431, Cost: ptr(0.0421)},
		{At: at(2000), Status: "completed", Name: "summarise the quarterly report for the board", Source: "report-service-production", ID: id, Duration: took(3 * time.Minute), Tokens: 999_950, Cost: ptr(12.5), Errors: 1},
		{At: at(3000), Status: "failed", Name: "检索知识库里的相关文档", Source: "知识库", ID: id, Duration: took(0), Tokens: 7, Cost: ptr(0.0), Errors: 12},
		{At: at(4000), Status: "failed", Name: "loop", ID: id, Duration: took(49 * time.Hour), Tokens: 123_456_789, Cost: ptr(1234.5), Errors: 12345},
		{At: at(5000), Status: "completed", AutoClosed: true, ID: id, Duration: took(30 * time.Minute), Cost: ptr(0.00001)},
		{At: at(6000), Status: "halted", Name: "a status of a newer server", ID: id},
		{At: at(7000), Status: "completed", Name: "\x1b[2J\x1b]0;owned\x07 two\nlines\r\u202Eabc", Source: "\u009b1m", ID: id, Duration: took(time.Millisecond)},
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]terminal.Style{
		"line_40": {Width: 40}, "line_80": {Width: 80}, "line_120": {Width: 120}, "line_colour_80": {Width: 80, Colour: true}, "line_piped": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			for _, e := range events() {
				b.WriteString(s.Line(e) + "\n")
			}
			golden(t, name, b.String())
			fits(t, s, b.String())
			require.Equal(t, len(events()), strings.Count(b.String(), "\n"))
			require.Equal(t, len(events()), strings.Count(b.String(), events()[0].ID), "the id is always whole")
		})
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	file, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	for name, c := range map[string]struct {
		environ []string
		want    terminal.Style
	}{
		"a pipe or a file":       {nil, terminal.Style{}},
		"COLUMNS":                {[]string{"COLUMNS=132"}, terminal.Style{Width: 132}},
		"COLUMNS that are few":   {[]string{"COLUMNS=7"}, terminal.Style{Width: 40}},
		"COLUMNS that are wrong": {[]string{"COLUMNS=-7"}, terminal.Style{}},
		"COLUMNS that are none":  {[]string{"COLUMNS=wide"}, terminal.Style{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, terminal.Detect(file, c.environ))
			require.Equal(t, c.want, terminal.Detect(&strings.Builder{}, c.environ))
		})
	}
}

func TestJSONIsSafeAndSaysTheSame(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":"plain é"}`:            `{"a":"plain é"}`,
		"{\"a\":\"\u009b2J\x7f é\"}": `{"a":"\u009b2J\u007f é"}`,
	} {
		got := terminal.JSON([]byte(in))
		require.Equal(t, []byte(want), []byte(got))
		require.JSONEq(t, in, got)
	}
}
