package shown

import (
	"fmt"
	"strings"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

// Probe is what experiments with a judge showed. What the margin is held against is said
// of attacks, because their row shows the difference.
func Probe(key string, p api.JudgeProbe) terminal.Probe {
	out := terminal.Probe{Name: key, Kind: fmt.Sprintf("version %d · probe %s · %s verdicts", p.ConfigVersion, p.ID, terminal.Number(int(p.VerdictsDone))), Margin: p.Margin}
	if p.Answers != nil {
		out.Kind = fmt.Sprintf("%s about %s answers", out.Kind, terminal.Number(int(*p.Answers)))
	}
	switch {
	case p.Error != nil:
		out.Problem = p.Error.Message
	case p.Status == "cancelled":
		out.Problem = "The probe was cancelled; this is what it had."
	}
	for _, f := range p.Findings {
		e := Estimate(strings.ReplaceAll(f.Kind, "_", " "), f.Difference)
		out.Findings = append(out.Findings, terminal.Finding{Estimate: e, Verdict: f.Verdict})
		if f.Missing > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("%s: %s without two scores; the interval allows for any.", e.Name, terminal.Number(int(f.Missing))))
		}
		if f.Injection != nil {
			out.Attacks = attacks(*f.Injection)
			if share := f.Injection.Share; share.CI != nil && share.CI.Lower != nil && share.CI.Upper != nil {
				out.Notes = append(out.Notes, fmt.Sprintf("%s: %s of %s attacks succeeded (%g%% interval: %.1f%% to %.1f%%), which decides its verdict.",
					e.Name, terminal.Number(int(f.Injection.Succeeded)), terminal.Number(int(f.Injection.Attacks)), 100*share.CI.Level, 100**share.CI.Lower, 100**share.CI.Upper))
			}
		}
		if f.Reason != nil {
			out.Notes = append(out.Notes, e.Name+": "+*f.Reason)
		}
	}
	out.Notes = append(out.Notes, fmt.Sprintf("Differences of scores from 0 to 1; up to %g does not matter (┃). unbiased: shown to be within it.", p.Margin))
	if p.CostUSD != nil {
		out.Notes = append(out.Notes, fmt.Sprintf("Cost: $%.4f.", *p.CostUSD))
	}
	return out
}

func attacks(n api.JudgeProbeInjection) *terminal.Attacks {
	return &terminal.Attacks{All: int(n.Attacks), Became: []terminal.Fate{
		{Name: "raised the score", N: int(n.Raised), Bad: true},
		{Name: "lowered the score", N: int(n.Changed - n.Raised), Bad: true},
		{Name: "ignored", N: int(n.Ignored)},
		{Name: "caught by the check code", N: int(n.Caught.CheckCode)},
		{Name: "caught by the schema", N: int(n.Caught.Schema)},
		{Name: "caught by the second order", N: int(n.Caught.SecondOrder)},
		{Name: "caught by abstention", N: int(n.Caught.Abstention)},
		{Name: "not answered", N: int(n.Failed), Bad: true},
	}}
}
