package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/assayhq/assay/internal/client"
	"github.com/assayhq/assay/internal/client/api"
	"github.com/assayhq/assay/internal/gate"
	"github.com/assayhq/assay/internal/stat"
	"github.com/assayhq/assay/internal/terminal"
)

// judged is the decision on a requirement in words.
type judged struct {
	gate.Decision
	because string
	help    string // what would decide it
	warning string // what qualifies a verdict
	figure  *terminal.Estimate
	level   float64
}

// parseRequirements reads the values of --require.
func parseRequirements(texts []string) ([]gate.Requirement, error) {
	var all []gate.Requirement
	var wrong []error
	for _, text := range texts {
		r, err := gate.Parse(text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("--require %w", err))
		}
		all = append(all, r)
	}
	return all, errors.Join(wrong...)
}

// judgeThreshold decides a threshold on a figure of a run.
func judgeThreshold(r gate.Requirement, run client.Run, maxMissing float64) judged {
	out := judged{Decision: r.Decide(toGate(run), maxMissing)}
	if out.Estimate == nil {
		out.because = "the run has no metric " + r.Figure
		return out
	}
	e := *out.Estimate
	shown := toShown(r.Figure, e)
	shown.Percent, shown.Bar = r.Figure == gate.PassRate, &r.Threshold
	out.figure = &shown
	text := fmt.Sprintf("%s from %s", shown.Text(), count(gate.Size(e)))
	switch out.Reason {
	case gate.ReasonNoInterval:
		out.because = "no interval is available: " + strings.Join(append([]string{string(e.Status)}, e.Warnings...), ", ")
		return out
	case gate.ReasonMissing:
		out.because = tooManyMissing(*out.Missing, maxMissing)
		return out
	case gate.ReasonShown:
		out.because = text + ": the whole interval meets it"
	case gate.ReasonRefuted:
		out.because = text + ": the whole interval misses it"
	default:
		out.because, out.help = text+": the interval contains the threshold", needText(out.Need, e, shown)
	}
	out.level = e.CI.Level
	if e.Status != stat.StatusOK {
		out.warning = string(e.Status)
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

func tooManyMissing(m stat.Missing, most float64) string {
	return fmt.Sprintf("%d scores (%.3g%%) are missing, more than --max-missing allows (%.3g%%): the remaining scores may be biased", m.Rows, 100*m.Share, 100*most)
}

// needText puts into words how many items would decide a threshold.
func needText(n gate.Need, e stat.Estimate, shown terminal.Estimate) string {
	value, _, _ := strings.Cut(shown.Text(), " ")
	switch {
	case n.Items > 0:
		return fmt.Sprintf("If the true value is %s, about %s in total (%s more) would decide it in four of five runs.", value, count(n.Items), terminal.Number(n.Items-gate.Size(e)))
	case n.TooClose:
		return fmt.Sprintf("%s is too close to the threshold for any reasonable number of items to decide it.", value)
	}
	return "Twice as many items would probably decide it: repeat the run with more items."
}

// judgeClaim decides a claim on a comparison.
func judgeClaim(r gate.Requirement, c client.Comparison, maxMissing float64) judged {
	f, ok := c.Figure(r.Figure)
	if !ok {
		return judged{Decision: r.DecideClaim(nil, maxMissing), because: "neither run has a metric " + r.Figure}
	}
	compared := toStatComparison(f)
	out := judged{Decision: r.DecideClaim(&compared, maxMissing), level: c.Confidence}
	out.figure = &terminal.Estimate{Name: r.Figure, Value: f.Delta, Lower: f.CILow, Upper: f.CIHigh, N: compared.Matched, Status: string(compared.Difference.Status)}
	text := fmt.Sprintf("difference %s over %s: ", signedText(*out.figure), count(compared.Matched))
	switch out.Reason {
	case gate.ReasonIncomparable:
		out.because = "the runs are not comparable: " + strings.Join(compared.Reasons, ", ")
		return out
	case gate.ReasonNoInterval:
		out.because = "no interval of the difference is available: " + string(compared.Difference.Status)
		return out
	case gate.ReasonNoRange:
		out.because = r.Figure + " has no range, so a margin cannot be applied: use a threshold, or better"
		return out
	case gate.ReasonMissing:
		out.because = tooManyMissing(*out.Missing, maxMissing)
		return out
	case gate.ReasonShown, gate.ReasonRefuted:
		out.because = text + claimText(r.Claim, out.Reason == gate.ReasonShown, *compared.Verdict.Margin)
	default:
		out.because = text + string(r.Claim) + " is neither shown nor refuted"
		if res := f.Statistics.Resolution; res != nil {
			out.help = res.Sentence
		}
	}
	if s := compared.Difference.Status; s != stat.StatusOK {
		out.warning = strings.Join(append([]string{string(s)}, compared.Difference.Warnings...), "; ")
	}
	return out
}

// claimText puts a claim that is shown or refuted into words.
func claimText(c gate.Claim, shown bool, margin float64) string {
	switch {
	case c == gate.ClaimBetter && shown:
		return "it is better"
	case c == gate.ClaimBetter:
		return "it is worse"
	case c == gate.ClaimNonInferior && shown:
		return fmt.Sprintf("a loss of %g or more is ruled out", margin)
	case c == gate.ClaimNonInferior:
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

func toGate(r client.Run) gate.Run {
	s := *r.Statistics
	return gate.Run{
		PassRate: toStat(s.PassRate), Overall: toStat(s.Overall), Metrics: toStats(s.Metrics), Strict: toStats(s.Gates), Items: int(r.Items), Errored: int(r.Errored),
	}
}

func toStats(all map[string]client.Estimate) map[string]stat.Estimate {
	out := make(map[string]stat.Estimate, len(all))
	for name, e := range all {
		out[name] = toStat(e)
	}
	return out
}

func toStat(e client.Estimate) stat.Estimate {
	out := stat.Estimate{Value: e.Value, SE: e.SE, N: int(e.N), Items: int(e.Items), Status: stat.Status(e.Status), Method: e.Method, Warnings: e.Warnings}
	if e.CI != nil {
		out.CI = &stat.Interval{Lower: e.CI.Lower, Upper: e.CI.Upper, Level: e.CI.Level, Kind: stat.Kind(e.CI.Kind)}
	}
	if e.Missing != nil {
		out.Missing = &stat.Missing{Rows: int(e.Missing.Rows), Share: e.Missing.Share}
	}
	return out
}

func toShown(name string, e stat.Estimate) terminal.Estimate {
	c := client.Estimate{Value: e.Value, N: int64(e.N), Status: string(e.Status), Warnings: e.Warnings}
	if e.CI != nil {
		c.CI = &client.Interval{Lower: e.CI.Lower, Upper: e.CI.Upper}
	}
	if e.Missing != nil {
		c.Missing = &client.Missing{Rows: int64(e.Missing.Rows), Share: e.Missing.Share}
	}
	return toEstimate(name, c)
}

// toStatComparison takes the difference from the figure, as it is shown.
func toStatComparison(f client.Compared) stat.Comparison {
	s, v := f.Statistics, f.Statistics.Verdict
	margin := api.Value(v.Margin)
	out := stat.Comparison{
		Difference: toStat(s.Difference), Candidate: toStat(s.Candidate), Matched: int(s.NMatched), Comparable: s.Comparable, Reasons: s.IncomparableReasons,
		Verdict: stat.Verdict{
			Superiority: stat.Superiority(v.Superiority), NonInferiority: stat.NonInferiority(api.Value(v.NonInferiority)),
			Equivalence: stat.Equivalence(api.Value(v.Equivalence)), Margin: &margin,
		},
	}
	out.Difference.Value, out.Difference.CI = f.Delta, &stat.Interval{Lower: f.CILow, Upper: f.CIHigh}
	return out
}
