package terminal_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/terminal"
)

const hostile = "\x1b]0;owned\x07\x1b[31mred\u202e\n::error::no\tname"

func rate(value, lower, upper float64, n int) *terminal.Estimate {
	return &terminal.Estimate{Name: "pass_rate", Value: &value, Lower: &lower, Upper: &upper, N: n, Status: "ok", Percent: true}
}

// halfway is a run under way.
func halfway() terminal.Progress {
	return terminal.Progress{
		Name: "Support answers", Run: "42", Status: "running", Phase: "executing", Total: 12000, Done: 6240, Passed: 5172, Failed: 1068, Errored: 9, Rate: 431.7,
		ETA: ptr(13*time.Second + 400*time.Millisecond), Elapsed: 14500 * time.Millisecond, Cost: ptr(0.0123), PassRate: rate(0.8288, 0.8101, 0.8466, 6144),
	}
}

func progresses() map[string]terminal.Progress {
	queued := terminal.Progress{Name: "Support answers", Run: "42", Status: "running", Phase: "queued", Elapsed: 3 * time.Second}
	slow := halfway()
	slow.Total, slow.Done, slow.Passed, slow.Failed, slow.Errored, slow.Rate, slow.PassRate, slow.ETA = 40, 1, 1, 0, 0, 0.05, nil, nil
	done := halfway()
	done.Status, done.Phase, done.Done, done.ETA, done.PassRate = "completed", "done", 12000, nil, rate(0.83, 0.8231, 0.8366, 12000)
	noted := halfway()
	noted.Name, noted.Note = strings.Repeat(hostile, 3)+" 検索の評価", "the target answered 429 to 17 calls; "+hostile+" "+strings.Repeat("slower ", 20)
	all := halfway()
	all.Passed, all.Failed, all.Done, all.Cost = 0, 12000, 11999, nil
	return map[string]terminal.Progress{"queued": queued, "slow": slow, "halfway": halfway(), "done": done, "noted": noted, "all_failed": all}
}

func TestProgressIsDrawn(t *testing.T) {
	t.Parallel()
	for name, p := range progresses() {
		for suffix, s := range map[string]terminal.Style{"_80": {Width: 80}, "_colour_80": {Width: 80, Colour: true}, "_40": {Width: 40}, "_120": {Width: 120}} {
			t.Run(name+suffix, func(t *testing.T) {
				t.Parallel()
				lines := s.Progress(p)
				got := strings.Join(lines, "\n") + "\n"
				if suffix != "_120" {
					golden(t, "progress_"+name+suffix, got)
				}
				fits(t, s, got)
				for _, line := range lines {
					require.LessOrEqual(t, utf8.RuneCountInString(uncoloured(line)), s.Width, "a line that wraps cannot be drawn over: %s", line)
				}
				require.Equal(t, strings.Join(terminal.Style{Width: s.Width}.Progress(p), "\n")+"\n", uncoloured(got), "colours change nothing else")
			})
		}
	}
}

func TestProgressOfALogIsOneLine(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, name := range []string{"queued", "slow", "halfway", "all_failed", "noted", "done"} {
		line := terminal.Style{}.ProgressLine(progresses()[name])
		require.NotContains(t, line, "\n")
		b.WriteString(line + "\n")
	}
	golden(t, "progress_log", b.String())
	fits(t, terminal.Style{}, b.String())
}

// ended is a run that has ended.
func ended() terminal.Run {
	return terminal.Run{
		Name: "Support answers", ID: "42", Status: "completed", Items: 12000, Passed: 9960, Failed: 2040, Errored: 17, Skipped: 3,
		Took: ptr(27900 * time.Millisecond), Cost: ptr(0.0231), Level: 0.95,
		Facts: []terminal.Fact{{Name: "dataset version", Value: "3"}, {Name: "seed", Value: "8123"}},
		Estimates: []terminal.Estimate{
			*rate(0.83, 0.8231, 0.8366, 12000),
			{Name: "overall", Value: ptr(0.84123), Lower: ptr(0.835), Upper: ptr(0.8474), N: 11983, Status: "ok"},
			{Name: "exact_match", Value: ptr(0.8), Lower: ptr(0.44), Upper: ptr(0.975), N: 10, Status: "fragile", Warnings: []string{"fewer than 10 independent units"}},
			{Name: "cost_usd", Value: ptr(0.00000193), Lower: ptr(0.0000019), Upper: ptr(0.00000196), N: 11983, Status: "ok"},
			{Name: "latency_ms", Value: ptr(1812.44), Lower: ptr(1790.2), Upper: ptr(1834.7), N: 11983, Status: "ok"},
			{Name: "judge:tone-of-voice.with_a_very_long_name_that_somebody_gave_it", Status: "insufficient", Warnings: []string{"no scores", "fewer than 10 independent units"}},
			{Name: "similarity", Value: ptr(1.0), Lower: ptr(0.99), N: 3, Status: "degenerate", Warnings: []string{hostile}},
		},
		Resolution: "This run can resolve differences of 0.9 points or more; a 0.5-point difference needs about 38,880 items.",
		Notes:      []terminal.Note{{At: start, Level: "warning", Message: "the target answered 429 to 17 calls, which were tried again"}, {At: start, Level: "error", Message: hostile}},
		Links:      []string{"http://localhost:4318/api/evaluations/7/runs/42", "assay compare 7 previous 42"},
	}
}

func TestRunIsDrawn(t *testing.T) {
	t.Parallel()
	failed := terminal.Run{Name: hostile, ID: "43", Status: "failed", Problem: "dataset_not_found: There is no dataset \"questions\"; " + hostile, Cost: ptr(0.0)}
	cancelled := ended()
	cancelled.Status, cancelled.Estimates, cancelled.Resolution = "cancelled", nil, ""
	for name, r := range map[string]terminal.Run{
		"completed": ended(), "failed": failed, "cancelled": cancelled, "started": {Name: "Support answers", ID: "42", Status: "running", Cost: ptr(0.0), Links: []string{"http://x"}},
	} {
		drawn(t, "run_"+name, func(s terminal.Style, w io.Writer) error { return s.Run(w, r) })
	}
}

// drawn compares what is drawn on terminals of several kinds, and in a pipe.
func drawn(t *testing.T, name string, draw func(terminal.Style, io.Writer) error) {
	t.Helper()
	for suffix, s := range map[string]terminal.Style{"_80": {Width: 80}, "_colour_80": {Width: 80, Colour: true}, "_piped": {}} {
		t.Run(name+suffix, func(t *testing.T) {
			t.Parallel()
			var got, plain bytes.Buffer
			require.NoError(t, draw(s, &got))
			require.NoError(t, draw(terminal.Style{Width: s.Width}, &plain))
			golden(t, name+suffix, got.String())
			fits(t, s, got.String())
			require.Equal(t, plain.String(), uncoloured(got.String()), "colours change nothing else")
		})
	}
}

func TestComparisonIsDrawn(t *testing.T) {
	t.Parallel()
	one := func(name string, before, after, low, high float64, verdict string) terminal.Compared {
		return terminal.Compared{Name: name, Baseline: &before, Candidate: &after, Delta: ptr(after - before), Lower: &low, Upper: &high, Verdict: verdict}
	}
	c := terminal.Comparison{
		Name: "Support answers", Baseline: "41", Candidate: "42", Level: 0.95, Margin: ptr(0.02),
		Figures: []terminal.Compared{
			one("pass_rate", 0.83, 0.861, 0.012, 0.05, "improved"),
			one("overall", 0.841, 0.843, -0.004, 0.0081, "unchanged"),
			one("exact_match", 0.8, 0.79, -0.0191, -0.0009, "regressed"),
			one("similarity", 0.8, 0.806, -0.011, 0.023, "no worse"),
			one("latency_ms", 1812.4, 1799.1, -41.2, 14.6, "inconclusive"),
			one("tokens", 101.43, 101.18, -0.49, -0.0021, "improved"),
			{Name: "judge:tone-of-voice.with_a_very_long_name", Verdict: "inconclusive", Reason: "only the candidate measured it " + hostile},
		},
		Items:      terminal.Changes{Improved: 1131, Regressed: 759, Unchanged: 10110, Changed: 2, OnlyBaseline: 1, OnlyCandidate: 4},
		Resolution: "This comparison can resolve differences of 2.7 points or more.",
		Regressions: []terminal.Regression{
			{Item: "1017", By: "overall", Baseline: ptr(1.0), Candidate: ptr(0.0), Scores: []terminal.Fall{{"exact_match", ptr(1.0), ptr(0.0)}, {"similarity", ptr(1.0), ptr(0.21412)}, {"latency_ms", ptr(100.01), ptr(100.02)}}},
			{Item: "1092", By: "pass_rate", Baseline: ptr(1.0), Candidate: nil, Scores: []terminal.Fall{{"judge:tone-of-voice.with_a_very_long_name", ptr(1.0), nil}}},
		},
	}
	drawn(t, "compare", func(s terminal.Style, w io.Writer) error { return s.Comparison(w, c) })
	none := terminal.Comparison{Name: hostile, Baseline: "41", Candidate: "42", Reasons: []string{"the pass rules differ", hostile}, Figures: []terminal.Compared{{Name: "overall", Verdict: "inconclusive"}}}
	drawn(t, "compare_not", func(s terminal.Style, w io.Writer) error { return s.Comparison(w, none) })
}

func TestGateIsDrawn(t *testing.T) {
	t.Parallel()
	g := terminal.Gate{
		Name: "Support answers", Run: "42", Baseline: "41", Verdict: "FAIL", Summary: "1 of 3 requirements failed, 1 of 3 requirements inconclusive.",
		Requirements: []terminal.Requirement{
			{Text: "pass_rate>=0.8", Verdict: "PASS", Because: "83.0% [82.3%, 83.7%] from 12000 items: the whole interval meets it"},
			{Text: "judge:tone-of-voice.with_a_very_long_name_that_somebody_gave_it>=0.8", Verdict: "FAIL", Because: "0.710 [0.680, 0.740] from 900 items: the whole interval misses it"},
			{Text: "overall:non_inferior", Verdict: "INCONCLUSIVE", Because: "difference -0.011 [-0.031, 0.009] over 1000 items: non_inferior is neither shown nor refuted", Help: "This comparison can resolve differences of 2.7 points or more; " + hostile},
		},
		Notes: []string{"http://localhost:4318/api/evaluations/7/runs/42"},
	}
	drawn(t, "gate", func(s terminal.Style, w io.Writer) error { return s.Gate(w, g) })
	drawn(t, "gate_unknown", func(s terminal.Style, w io.Writer) error {
		return s.Gate(w, terminal.Gate{Name: hostile, Verdict: "INCONCLUSIVE", Summary: "no response from http://localhost:4318: connection refused"})
	})
}

func TestAnIntervalIsToldFromTheBar(t *testing.T) {
	t.Parallel()
	e := rate(0.9, 0.82996, 0.945, 100)
	require.Equal(t, "90.0% [83.0%, 94.5%]", e.Text())
	e.Bar = ptr(0.83)
	require.Equal(t, "90.000% [82.996%, 94.500%]", e.Text())
	e.Lower = ptr(0.83)
	require.Equal(t, "90.0% [83.0%, 94.5%]", e.Text())
}

// screen is a terminal of so many columns that understands what Live writes.
func screen(t *testing.T, written string) []string {
	t.Helper()
	lines, row, col := []string{""}, 0, 0
	for i := 0; i < len(written); {
		rest := written[i:]
		switch {
		case strings.HasPrefix(rest, "\x1b["):
			end := strings.IndexAny(rest, "AKJm")
			require.Positive(t, end)
			n := 0
			for _, r := range rest[2:end] {
				n = n*10 + int(r-'0')
			}
			switch rest[end] {
			case 'A':
				row -= n
				require.GreaterOrEqual(t, row, 0, "the cursor leaves the screen")
			case 'K':
				lines[row] = string([]rune(lines[row])[:col])
			case 'J':
				lines[row] = string([]rune(lines[row])[:col])
				lines = lines[:row+1]
			}
			i += end + 1
		case rest[0] == '\r':
			col = 0
			i++
		case rest[0] == '\n':
			row, col = row+1, 0
			if row == len(lines) {
				lines = append(lines, "")
			}
			i++
		default:
			r := []rune(rest)[0]
			line := []rune(lines[row])
			if col < len(line) {
				line[col] = r
			} else {
				line = append(line, r)
			}
			lines[row] = string(line)
			col++
			i += len(string(r))
		}
	}
	return lines
}

func TestLiveDrawsOverItself(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	l := terminal.NewLive(&b)
	l.Draw([]string{"run 1  10%", "passed 1", "a note"})
	l.Draw([]string{"run 1  20%", "passed 22"})
	require.Equal(t, []string{"run 1  20%", "passed 22", ""}, screen(t, b.String()))
	l.Above("the server is away\x1b[2J")
	l.Draw([]string{"run 1", "passed 3"})
	require.Equal(t, []string{"the server is away␛[2J", "run 1", "passed 3", ""}, screen(t, b.String()))
}

func TestLiveWritesAFrameAtOnce(t *testing.T) {
	t.Parallel()
	w := &counting{}
	l := terminal.NewLive(w)
	for range 5 {
		l.Draw(terminal.Style{Width: 80, Colour: true}.Progress(halfway()))
	}
	require.Equal(t, 5, w.writes)
	require.NotContains(t, w.text.String(), "\x1b[2J", "clearing the screen flickers")
}

type counting struct {
	writes int
	text   strings.Builder
}

func (c *counting) Write(b []byte) (int, error) {
	c.writes++
	return c.text.Write(b)
}

func TestOnlyATerminalRedraws(t *testing.T) {
	t.Parallel()
	require.False(t, terminal.Redraws(&bytes.Buffer{}, nil))
}
