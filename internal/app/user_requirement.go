package app

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/client"
	"github.com/assayhq/assay/internal/terminal"
)

// verdict is what a gate says.
type verdict string

// The verdicts. Only what is shown passes, and only what is refuted fails.
const (
	verdictPass         verdict = "PASS"
	verdictFail         verdict = "FAIL"
	verdictInconclusive verdict = "INCONCLUSIVE"
)

// requirement is one condition of a gate: a threshold for a figure, or what its
// difference from a baseline must show.
type requirement struct {
	text   string
	figure string
	// A threshold has one of >=, >, <= and <.
	operator  string
	threshold float64
	// A comparison has one of the claims.
	claim string
}

// claims are what a comparison can be required to show, and whether that needs
// a margin.
var claims = map[string]bool{"better": false, "non_inferior": true, "equivalent": true}

var (
	figureName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.:-]{0,63}$`)
	threshold  = regexp.MustCompile(`^\s*([^<>=\s]+)\s*(>=|<=|>|<)\s*([^<>=\s]+)\s*$`)
)

// parseRequirement reads a requirement such as pass_rate>=0.9, latency_ms<=800
// or overall:non_inferior. A number may be in hundredths: 90%.
func parseRequirement(text string) (requirement, error) {
	r := requirement{text: strings.TrimSpace(text)}
	if m := threshold.FindStringSubmatch(text); m != nil {
		r.figure, r.operator = m[1], m[2]
		digits, percent := strings.CutSuffix(m[3], "%")
		n, err := strconv.ParseFloat(digits, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return r, fmt.Errorf("--require %q: %q is not a number", text, m[3])
		}
		if r.threshold = n; percent {
			r.threshold /= 100
		}
		if share := r.figure == "pass_rate" || r.figure == "overall"; share && (r.threshold < 0 || r.threshold > 1) {
			return r, fmt.Errorf("--require %q: %s is between 0 and 1: use a number such as 0.9, or 90%%", text, r.figure)
		}
	} else if at := strings.LastIndex(r.text, ":"); at > 0 { // names may have colons, too
		r.figure, r.claim = r.text[:at], r.text[at+1:]
		if _, known := claims[r.claim]; !known {
			return r, fmt.Errorf("--require %q: unknown comparison %q: use better, non_inferior or equivalent", text, r.claim)
		}
	}
	if !figureName.MatchString(r.figure) {
		return r, fmt.Errorf("--require %q is not a valid requirement: use one such as pass_rate>=0.9, latency_ms<=800 or overall:non_inferior", text)
	}
	return r, nil
}

// judged is a requirement and what became of it.
type judged struct {
	requirement
	verdict verdict
	because string
	help    string // what would settle it
	warning string // what qualifies a verdict
	skipped bool   // there was nothing to judge
	figure  *terminal.Estimate
	level   float64
	needed  int // items that would settle it; zero if nobody knows
}

func (r requirement) open(because string, args ...any) judged {
	return judged{requirement: r, verdict: verdictInconclusive, because: fmt.Sprintf(because, args...)}
}

// decidable are the statuses of estimates whose intervals promise what they
// say.
var decidable = []string{"ok", "fragile", "degenerate"}

// judge holds a threshold against a figure of a run. The whole interval must be
// on the right side to pass and on the wrong side to fail.
func (r requirement) judge(run client.Run, maxMissing float64) judged {
	s := *run.Statistics
	e, ok := s.Metrics[r.figure]
	switch {
	case r.figure == "pass_rate":
		e = s.PassRate
	case r.figure == "overall":
		e = s.Overall
	case !ok:
		return r.open("the run has no metric %s", r.figure)
	}
	if strict, ok := s.Gates[r.figure]; ok {
		e = strict
	}
	shown := toEstimate(r.figure, e)
	shown.Percent, shown.Bar = r.figure == "pass_rate", &r.threshold
	out := judged{requirement: r, verdict: verdictInconclusive, figure: &shown}
	if e.CI == nil || e.Value == nil || e.CI.Lower == nil || e.CI.Upper == nil || !slices.Contains(decidable, e.Status) {
		out.because = fmt.Sprintf("no interval is available: %s", strings.Join(append([]string{e.Status}, e.Warnings...), ", "))
		return out
	}
	if r.figure != "pass_rate" { // an item without a score did not pass
		e.Missing = missing(e.Missing, run)
	}
	if why := tooMuchMissing(e, maxMissing); why != "" {
		out.because = why
		return out
	}
	out.level = e.CI.Level
	lower, upper := *e.CI.Lower, *e.CI.Upper
	var pass, fail bool
	switch r.operator {
	case ">=":
		pass, fail = lower >= r.threshold, upper < r.threshold
	case ">":
		pass, fail = lower > r.threshold, upper <= r.threshold
	case "<=":
		pass, fail = upper <= r.threshold, lower > r.threshold
	case "<":
		pass, fail = upper < r.threshold, lower >= r.threshold
	}
	text := fmt.Sprintf("%s from %s", shown.Text(), count(e.Size()))
	switch {
	case pass:
		out.verdict, out.because = verdictPass, text+": the whole interval meets it"
	case fail:
		out.verdict, out.because = verdictFail, text+": the whole interval misses it"
	default:
		out.because = text + ": the interval contains the threshold"
		out.needed, out.help = moreItems(e, r.threshold, shown)
	}
	if e.Status != "ok" {
		out.warning = e.Status
	}
	if len(shown.Warnings) > 0 {
		out.warning = strings.Join(shown.Warnings, "; ")
	}
	return out
}

func count(items int) string {
	if items == 1 {
		return "1 item"
	}
	return terminal.Number(items) + " items"
}

// missing counts at least the items that produced no score: no metric has
// theirs.
func missing(m *client.Missing, run client.Run) *client.Missing {
	if run.Items == 0 || m != nil && m.Rows >= run.Errored {
		return m
	}
	return &client.Missing{Rows: run.Errored, Share: float64(run.Errored) / float64(run.Items)}
}

func tooMuchMissing(e client.Estimate, most float64) string {
	if e.Missing == nil || e.Missing.Share <= most {
		return ""
	}
	return fmt.Sprintf("%d scores (%.3g%%) are missing, more than --max-missing allows (%.3g%%): the remaining scores may be biased", e.Missing.Rows, 100*e.Missing.Share, 100*most)
}

// Quantiles of the normal distribution: an end of a 95 % interval, and a power
// of 80 %.
const (
	z95 = 1.959964
	z80 = 0.841621
)

// moreItems says how many items would settle a threshold, if the figure is
// truly what was seen.
func moreItems(e client.Estimate, bar float64, shown terminal.Estimate) (int, string) {
	se := (*e.CI.Upper - *e.CI.Lower) / 2 / z95
	if e.SE != nil && *e.SE > 0 {
		se = *e.SE
	}
	apart := math.Abs(*e.Value - bar)
	value, _, _ := strings.Cut(shown.Text(), " ")
	ratio := (z95 + z80) * se / apart
	have := e.Size()
	if n := math.Ceil(float64(have) * ratio * ratio); apart > 0 && n < 1e7 && n > float64(have) {
		return int(n), fmt.Sprintf("If the true value is %s, about %s in total (%s more) would decide it in four of five runs.", value, count(int(n)), terminal.Number(int(n)-have))
	} else if apart > 0 && n <= float64(have) {
		return 0, "Twice as many items would probably decide it: repeat the run with more items."
	}
	return 0, fmt.Sprintf("%s is too close to the threshold for any reasonable number of items to decide it.", value)
}

// judgeClaim holds a claim against a comparison.
func (r requirement) judgeClaim(c client.Comparison, maxMissing float64) judged {
	f, ok := c.Figure(r.figure)
	if !ok {
		return r.open("neither run has a metric %s", r.figure)
	}
	out := judged{requirement: r, verdict: verdictInconclusive, level: c.Confidence}
	out.figure = &terminal.Estimate{Name: r.figure, Value: f.Delta, Lower: f.CILow, Upper: f.CIHigh, N: f.Statistics.Matched, Status: f.Statistics.Difference.Status}
	v := f.Statistics.Verdict
	switch {
	case !f.Statistics.Comparable:
		out.because = "the runs are not comparable: " + strings.Join(f.Statistics.Reasons, ", ")
		return out
	case f.Delta == nil || f.CILow == nil || f.CIHigh == nil:
		out.because = "no interval of the difference is available: " + f.Statistics.Difference.Status
		return out
	case claims[r.claim] && v.NonInferiority == "":
		out.because = r.figure + " has no range, so a margin cannot be applied: use a threshold, or better"
		return out
	}
	for _, e := range []client.Estimate{f.Statistics.Candidate, f.Statistics.Difference} {
		if why := tooMuchMissing(e, maxMissing); why != "" {
			out.because = why
			return out
		}
	}
	var shown bool
	shown, out.verdict = r.holds(f, v)
	text := fmt.Sprintf("difference %s over %s", signedText(*out.figure), count(f.Statistics.Matched))
	switch out.verdict {
	case verdictPass, verdictFail:
		out.because = text + ": " + r.says(shown, v.Margin)
	default:
		out.because = text + ": " + r.claim + " is neither shown nor refuted"
		if res := f.Statistics.Resolution; res != nil {
			out.help = res.Sentence
		}
	}
	if s := f.Statistics.Difference.Status; s != "ok" {
		out.warning = strings.Join(append([]string{s}, f.Statistics.Difference.Warnings...), "; ")
	}
	return out
}

// holds decides a claim.
func (r requirement) holds(f client.Compared, v client.Verdict) (shown bool, _ verdict) {
	switch r.claim {
	case "better":
		switch v.Superiority {
		case "better":
			return true, verdictPass
		case "worse":
			return false, verdictFail
		}
	case "non_inferior":
		switch v.NonInferiority {
		case "shown":
			return true, verdictPass
		case "refuted":
			return false, verdictFail
		}
	case "equivalent":
		switch {
		case v.Equivalence == "shown":
			return true, verdictPass
		case *f.CILow > v.Margin || *f.CIHigh < -v.Margin:
			return false, verdictFail
		}
	}
	return false, verdictInconclusive
}

// says puts a claim that is shown or refuted into words.
func (r requirement) says(shown bool, margin float64) string {
	switch {
	case r.claim == "better" && shown:
		return "it is better"
	case r.claim == "better":
		return "it is worse"
	case r.claim == "non_inferior" && shown:
		return fmt.Sprintf("a loss of %g or more is ruled out", margin)
	case r.claim == "non_inferior":
		return fmt.Sprintf("a loss of more than %g is shown", margin)
	case shown:
		return fmt.Sprintf("the difference is smaller than the margin of %g", margin)
	}
	return fmt.Sprintf("the difference is larger than the margin of %g", margin)
}

func signedText(e terminal.Estimate) string {
	if e.Value != nil && *e.Value > 0 {
		return "+" + e.Text()
	}
	return e.Text()
}

// parseRequirements reads all, and says everything that is wrong with them.
func parseRequirements(texts []string) ([]requirement, error) {
	var all []requirement
	var wrong []error
	for _, text := range texts {
		r, err := parseRequirement(text)
		all, wrong = append(all, r), append(wrong, err)
	}
	return all, errors.Join(wrong...)
}
