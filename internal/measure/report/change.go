package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/stat"
)

// changeView is what changed since the baseline.
type changeView struct {
	Baseline string
	Headline string
	Tone     string
	Reasons  []string
	Rows     []changeRow
	Items    []segmentView
	ItemNote string
	Worse    []worseView
	Note     string
}

type changeRow struct {
	Name, Note, Was, Is, Delta, Basis, Verdict, Tone string
	Bar                                              barView
}

type worseView struct {
	ID, Was, Is, Delta string
	Input              excerpt
}

// MaxRegressions is the number of regressions that a report shows.
const MaxRegressions = 6

var verdictTones = map[stat.Outcome]string{stat.OutcomeImproved: "good", stat.OutcomeRegressed: "bad", stat.OutcomeUnchanged: "calm", stat.OutcomeInconclusive: "mute"}

func changeOf(f *Findings, c *Comparison) *changeView {
	overall := c.Overall.Verdict.Outcome()
	v := &changeView{Baseline: strconv.FormatInt(c.Baseline, 10), Tone: verdictTones[overall], Headline: headlineOf(c), Reasons: c.Reasons}
	v.Rows = append(v.Rows, rowOf(c.PassRate, "Pass rate", scale{percent: true}), rowOf(c.Overall, "Overall score", scale{}))
	for _, m := range c.Metrics {
		unit := scale{}
		for _, d := range f.metrics {
			if d.Name == m.Name {
				unit = scaleOf(d)
			}
		}
		v.Rows = append(v.Rows, rowOf(m, m.Name, unit))
	}
	v.Items, v.ItemNote = itemsOf(c.Items)
	if n := c.PassRate.Family; n != nil {
		v.Note = fmt.Sprintf("Differences are this run minus the baseline, over items that both runs scored. P-values are adjusted after Holm over %d figures; verdicts follow the intervals.", n.Size)
	} else {
		v.Note = "Differences are this run minus the baseline, over items that both runs scored."
	}
	if c.Margin > 0 {
		v.Note += fmt.Sprintf(" Differences below %s of a metric’s range do not matter.", decimals(100*c.Margin, 1)+"%")
	} else {
		v.Note += " No margin was declared, so “unchanged” cannot be shown."
	}
	v.addWorse(c.Regressions)
	return v
}

func headlineOf(c *Comparison) string {
	d := c.Overall.Difference
	if d.Value == nil {
		return "Whether the overall score changed cannot be said: " + why(d) + "."
	}
	by := scale{}.signed(*d.Value)
	switch c.Overall.Verdict.Outcome() {
	case stat.OutcomeImproved:
		return "The overall score improved by " + strings.TrimLeft(by, "+−±") + "."
	case stat.OutcomeRegressed:
		return "The overall score fell by " + strings.TrimLeft(by, "+−±") + "."
	case stat.OutcomeUnchanged:
		return "The overall score is unchanged within the margin."
	}
	return "No change of the overall score is shown. The data do not rule one out."
}

func rowOf(c Compared, name string, s scale) changeRow {
	d := c.Difference
	verdict := c.Verdict.Outcome()
	row := changeRow{Name: name, Was: "—", Is: "—", Delta: "—", Verdict: string(verdict), Tone: verdictTones[verdict]}
	if v := c.Comparison.Baseline.Value; v != nil {
		row.Was = s.text(*v)
	}
	if v := c.Comparison.Candidate.Value; v != nil {
		row.Is = s.text(*v)
	}
	if d.Value != nil {
		row.Delta = s.signed(*d.Value)
	}
	row.Basis = s.differenceBasis(d)
	if c.PAdjusted != nil {
		row.Basis += " · p " + probability(*c.PAdjusted) + " adjusted"
	}
	reach := 0.0
	for _, x := range ends(d) {
		reach = max(reach, math.Abs(x))
	}
	if reach == 0 {
		reach = 1
	}
	row.Bar = barOf(d, -1.1*reach, 1.1*reach)
	row.Bar.Tone = row.Tone
	var notes []string
	if c.Better == metric.Lower {
		notes = append(notes, "lower is better")
	}
	if c.Role != "" && c.Role != "primary" {
		notes = append(notes, c.Role)
	}
	row.Note = strings.Join(notes, ", ")
	return row
}

// differenceBasis is basis with signs.
func (s scale) differenceBasis(e stat.Estimate) string {
	if e.Value == nil || e.CI == nil || e.CI.Lower == nil || e.CI.Upper == nil {
		return s.basis(e)
	}
	return fmt.Sprintf("%s%% CI %s to %s · n %s · %s", decimals(100*e.CI.Level, trailing(100*e.CI.Level)), s.signed(*e.CI.Lower), s.signed(*e.CI.Upper), grouped(e.N), methodName(e.CI.Method))
}

func probability(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return decimals(p, 3)
}

func itemsOf(i Changes) (all []segmentView, note string) {
	total := i.Improved + i.Regressed + i.Unchanged
	x := 0.0
	for _, part := range []struct {
		label, tone string
		n           int
	}{{"improved", "good", i.Improved}, {"unchanged", "mute", i.Unchanged}, {"regressed", "bad", i.Regressed}} {
		if part.n == 0 {
			continue
		}
		share := 100 * float64(part.n) / float64(total)
		all = append(all, segmentView{Label: part.label, Count: grouped(part.n), Share: decimals(share, 1) + "%", Tone: part.tone, X: round(x), Width: round(share)})
		x += share
	}
	var rest []string
	for _, part := range []struct {
		n    int
		text string
	}{{i.OnlyBaseline, "only in the baseline"}, {i.OnlyCandidate, "only in this run"}, {i.Changed, "with other content"}} {
		if part.n > 0 {
			rest = append(rest, grouped(part.n)+" "+part.text)
		}
	}
	note = grouped(total) + " items in both runs"
	if len(rest) > 0 {
		note += "; not compared: " + strings.Join(rest, ", ")
	}
	return all, note
}

// addWorse shows the worst regressions with what was asked.
func (v *changeView) addWorse(all []Regression) {
	for _, one := range all[:min(len(all), MaxRegressions)] {
		w := worseView{ID: strconv.FormatInt(one.Item, 10), Delta: scale{percent: one.ByPass}.signed(one.Delta)}
		if one.Input != nil {
			w.Input = shorten(plain(one.Input), 160)
		}
		w.Was, w.Is = one.Baseline.text(one.ByPass), one.Candidate.text(one.ByPass)
		v.Worse = append(v.Worse, w)
	}
}

func (i ItemScores) text(byPass bool) string {
	switch {
	case !byPass && i.Overall != nil:
	case i.PassRate == 1:
		return "passed"
	case i.PassRate == 0:
		return "not passed"
	default:
		return decimals(100*i.PassRate, 0) + "% passed"
	}
	return scale{}.text(*i.Overall)
}
