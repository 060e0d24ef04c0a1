package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/assayhq/assay/internal/command/cli/shown"
	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
	"github.com/assayhq/assay/internal/measure/requirement"
)

// judged is the ruling on a requirement in words.
type judged struct {
	client.Ruling
	because string
	help    string // what would decide it
	warning string // what qualifies a verdict
	figure  *terminal.Estimate
}

// parseRequirements reads the values of --require.
func parseRequirements(texts []string) ([]requirement.Requirement, error) {
	var all []requirement.Requirement
	var wrong []error
	for _, text := range texts {
		r, err := requirement.Parse(text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("--require %w", err))
		}
		all = append(all, r)
	}
	return all, errors.Join(wrong...)
}

// inWords puts a ruling into words.
func inWords(r client.Ruling, maxMissing float64) judged {
	out := judged{Ruling: r, because: r.Reason} // of a newer server, nothing more is known
	asked, err := requirement.Parse(r.Requirement)
	if err != nil {
		return out
	}
	e := r.Estimate
	switch requirement.Reason(r.Reason) {
	case requirement.ReasonNotChecked:
		out.because = "not checked, because there is no completed run"
	case requirement.ReasonNoBaseline:
		out.because = "there is no baseline: " + strings.Join(r.Reasons, ", ")
	case requirement.ReasonNoFigure:
		out.because = "the run has no metric " + r.Figure
		if asked.Claim != "" {
			out.because = "neither run has a metric " + r.Figure
		}
	case requirement.ReasonIncomparable:
		out.because = "the runs are not comparable: " + strings.Join(r.Reasons, ", ")
	case requirement.ReasonDescriptive:
		out.because = r.Figure + " depends on when and where a run took place, so a difference between runs decides nothing"
		out.help = fmt.Sprintf("Use a threshold, such as p95(%s)<=800.", r.Figure)
	case requirement.ReasonNoInterval:
		if e == nil {
			break
		}
		out.because = "no interval is available: " + strings.Join(append([]string{e.Status}, e.Warnings...), ", ")
	case requirement.ReasonMissing:
		if e == nil || e.Missing == nil {
			break
		}
		out.because = fmt.Sprintf("%d scores (%.3g%%) are missing, more than --max-missing allows (%.3g%%): the remaining scores may be biased", e.Missing.Rows, 100*e.Missing.Share, 100*maxMissing)
	case requirement.ReasonShown, requirement.ReasonRefuted, requirement.ReasonInside:
		if e == nil {
			break
		}
		if asked.Claim != "" {
			out.claim(asked.Claim)
		} else {
			out.threshold(asked)
		}
	}
	return out
}

// threshold explains what became of a threshold.
func (j *judged) threshold(asked requirement.Requirement) {
	e := *j.Estimate
	drawn := shown.Estimate(j.Figure, e)
	drawn.Percent, drawn.Bar = asked.Figure == requirement.PassRate, &asked.Threshold
	j.figure = &drawn
	text := fmt.Sprintf("%s from %s", drawn.Text(), count(size(e)))
	if asked.Quantile > 0 {
		text = fmt.Sprintf("p%g %s", 100*asked.Quantile, text)
	}
	switch requirement.Reason(j.Reason) {
	case requirement.ReasonShown:
		j.because = text + ": the whole interval meets it"
	case requirement.ReasonRefuted:
		j.because = text + ": the whole interval misses it"
	default:
		j.because, j.help = text+": "+j.openText(asked), j.reachText(drawn)
	}
	if e.Status != "ok" {
		j.add(e.Status)
	}
	j.add(strings.Join(drawn.Warnings, "; "))
	j.add(countedText(e.Missing))
}

// openText says why a threshold is open.
func (j *judged) openText(asked requirement.Requirement) string {
	lower, upper := j.Estimate.CI.Lower, j.Estimate.CI.Upper
	if j.Together != nil && (upper != nil && *upper < asked.Threshold || lower != nil && *lower > asked.Threshold) {
		wide := terminal.Estimate{Value: j.Estimate.Value, Lower: j.Together.Lower, Upper: j.Together.Upper, Percent: asked.Figure == requirement.PassRate, Bar: &asked.Threshold}
		return "it misses the threshold, but not at the level at which all requirements hold together: " + wide.Text()
	}
	return "the interval contains the threshold"
}

// claim explains what became of a claim.
func (j *judged) claim(c requirement.Claim) {
	e := *j.Estimate
	drawn := terminal.Estimate{Name: j.Figure, Value: e.Value, N: int(j.NMatched), Status: e.Status}
	if e.CI != nil {
		drawn.Lower, drawn.Upper = e.CI.Lower, e.CI.Upper
	}
	j.figure = &drawn
	text := fmt.Sprintf("difference %s over %s: ", signedText(drawn), count(j.NMatched))
	switch requirement.Reason(j.Reason) {
	case requirement.ReasonShown, requirement.ReasonRefuted:
		j.because = text + claimText(c, requirement.Reason(j.Reason) == requirement.ReasonShown, api.Value(j.Margin))
	default:
		j.because, j.help = text+string(c)+" is neither shown nor refuted", api.Value(j.Resolution)
	}
	if e.Status != "ok" {
		j.add(strings.Join(append([]string{e.Status}, e.Warnings...), "; "))
	}
	j.add(countedText(e.Missing))
}

// add adds to what qualifies a verdict.
func (j *judged) add(warning string) {
	switch {
	case warning == "":
	case j.warning == "":
		j.warning = warning
	default:
		j.warning += "; " + warning
	}
}

// countedText says that missing scores were counted, and how.
func countedText(m *client.Missing) string {
	if m == nil || m.Policy != "fail" || m.Rows == 0 {
		return ""
	}
	return fmt.Sprintf("%s missing (%.3g%%), each counted as the worst score", scores(m.Rows), 100*m.Share)
}

func scores(n int64) string {
	if n == 1 {
		return "1 score is"
	}
	return terminal.Number(int(n)) + " scores are"
}

func count(items int64) string {
	if items == 1 {
		return "1 item"
	}
	return terminal.Number(int(items)) + " items"
}

// size is the number of items that an estimate is from.
func size(e client.Estimate) int64 {
	if e.Items > 0 {
		return e.Items
	}
	return e.N
}

// reachText says what this many items decide.
func (j *judged) reachText(drawn terminal.Estimate) string {
	if j.Reach == nil {
		return "Repeat the run with more items."
	}
	apart := terminal.Estimate{Value: j.Reach, Percent: drawn.Percent}
	return fmt.Sprintf("With %s, four of five runs decide it if the true value is at least %s from the threshold. Four times as many items halve that.", count(size(*j.Estimate)), apart.Text())
}

// claimText puts a claim that is shown or refuted into words.
func claimText(c requirement.Claim, holds bool, margin float64) string {
	switch {
	case c == requirement.ClaimBetter && holds:
		return "it is better"
	case c == requirement.ClaimBetter:
		return "it is worse"
	case c == requirement.ClaimNonInferior && holds:
		return fmt.Sprintf("a loss of %g or more is ruled out", margin)
	case c == requirement.ClaimNonInferior:
		return fmt.Sprintf("a loss of more than %g is shown", margin)
	case holds:
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
