// Package shown turns what the server answers into what a terminal draws.
package shown

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

// Estimates are the figures of a run.
func Estimates(s client.Statistics) []terminal.Estimate {
	rate := Estimate("pass_rate", s.PassRate)
	rate.Percent = true
	all := []terminal.Estimate{rate, Estimate("overall", s.Overall)}
	for _, name := range slices.Sorted(maps.Keys(s.Metrics)) {
		all = append(all, judged(Estimate(name, s.Metrics[name]), s.Corrected[name])...)
	}
	for _, r := range s.Repeated {
		k := strconv.FormatInt(r.K, 10)
		one, every := Estimate("pass@"+k, r.Any), Estimate("pass^"+k, r.All)
		one.Percent, every.Percent = true, true
		all = append(all, one, every)
	}
	return all
}

// judged is a figure and, if it is a judge's mean that people's labels corrected, the
// mean as the judge gave it.
func judged(e terminal.Estimate, c api.CorrectedMean) []terminal.Estimate {
	if c.Labels == 0 || c.Estimator == "judge" {
		return []terminal.Estimate{e}
	}
	e.Name += ", by " + terminal.Number(int(c.Labels)) + " labels"
	alone := Estimate("└ the judge's own", c.Judge)
	alone.Warnings = nil // the line above says what it is worth
	return []terminal.Estimate{e, alone}
}

// Judged says of each difference in the scores of a judge how far it can be trusted, one
// a line.
func Judged(c client.Comparison) (lines []string) {
	for _, m := range c.Metrics {
		if m.Judge == nil {
			continue
		}
		text := fmt.Sprintf("%s: what people would see, estimated from %s labels; the judge's own difference is %s",
			m.Name, terminal.Number(int(m.Judge.Labels)), Estimate("", m.Judge.Raw).Text())
		if m.Judge.Estimator == "judge" || m.Judge.Labels == 0 {
			text = m.Name + ": a difference in the judge's opinion; labels on answers of both runs would correct it"
		}
		switch m.Judge.Attribution {
		case "system":
			text += ". A watch has seen the judge give the same verdicts since"
		case "judge_or_system":
			text += ". The judge itself may have made the difference"
		}
		lines = append(lines, text)
	}
	return lines
}

// Estimate is a figure with what qualifies it.
func Estimate(name string, e client.Estimate) terminal.Estimate {
	out := terminal.Estimate{Name: name, Value: e.Value, N: int(e.N), Status: e.Status, Warnings: slices.Clone(e.Warnings)}
	if e.CI != nil {
		out.Lower, out.Upper = e.CI.Lower, e.CI.Upper
	}
	if m := e.Missing; m != nil && m.Rows > 0 && m.Policy != "fail" {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d without a score (%.3g%%), left out", m.Rows, math.Ceil(1000*m.Share)/10))
	}
	return out
}
