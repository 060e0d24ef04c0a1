package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/assayhq/assay/internal/measure/agreement"
)

// matrixView is a confusion matrix: a row for each label of people, a column for
// each of the judge's.
type matrixView struct {
	Name, Note string
	Heads      []string
	Rows       []matrixRow
}

type matrixRow struct {
	Label, Total string
	Cells        []matrixCell
}

// matrixCell is coloured by its share of the row, in tenths.
type matrixCell struct {
	Count, Share, Tone, Title string
	Heat                      int
}

func matrixOf(name string, a agreement.Alignment) matrixView {
	v := matrixView{Name: name, Note: "Rows are what people say, columns what the judge says. Shares are those of a row."}
	for _, l := range a.Labels {
		v.Heads = append(v.Heads, shorten(l, 24).Text)
	}
	for i, counts := range a.Confusion {
		row := matrixRow{Label: v.Heads[i]}
		total := 0
		for j, n := range counts {
			total += n
			c := matrixCell{Count: grouped(n), Tone: "bad", Title: fmt.Sprintf("people %s, judge %s: %s", v.Heads[i], v.Heads[j], grouped(n))}
			if i == j {
				c.Tone = "good"
			}
			if s := a.Shares[i][j]; s != nil {
				c.Share = decimals(100**s, 1) + "%"
				if n > 0 {
					c.Heat = max(1, int(math.Ceil(10**s)))
				}
			}
			row.Cells = append(row.Cells, c)
		}
		row.Total = grouped(total)
		v.Rows = append(v.Rows, row)
	}
	return v
}

// curveView is a reliability diagram in its own units.
type curveView struct {
	Ticks  []tickView
	Points []pointView
	Line   string // of the calibrated probability; empty if there is none
	Legend string
}

type tickView struct {
	X, Y  float64
	Label string
}

type pointView struct {
	X, Y, R, Top, Bottom float64
	Title                string
}

// The square that the diagram is drawn in.
const (
	plotLeft   = 60.0
	plotBottom = 350.0
	plotSize   = 340.0
)

func plotX(x float64) float64 { return round(plotLeft + plotSize*min(1, max(0, x))) }
func plotY(y float64) float64 { return round(plotBottom - plotSize*min(1, max(0, y))) }

// curveOf draws how often people let pass what the judge gives a score.
func curveOf(a Alignment) (*curveView, string) {
	if len(a.Curve) == 0 {
		return nil, ""
	}
	v := &curveView{}
	for i := range 5 {
		x := float64(i) / 4
		v.Ticks = append(v.Ticks, tickView{plotX(x), plotY(x), strings.TrimRight(strings.TrimRight(decimals(x, 2), "0"), ".")})
	}
	v.Ticks[0].Label = "0"
	most := 1
	for _, b := range a.Curve {
		most = max(most, b.Rate.N)
	}
	s := scale{percent: true}
	for _, b := range a.Curve {
		if b.Rate.Value == nil {
			continue
		}
		p := pointView{X: plotX(b.Mean), Y: plotY(*b.Rate.Value), R: round(4 + 5*math.Sqrt(float64(b.Rate.N)/float64(most)))}
		p.Top, p.Bottom = p.Y, p.Y
		if ci := b.Rate.CI; ci != nil && ci.Lower != nil && ci.Upper != nil {
			p.Top, p.Bottom = plotY(*ci.Upper), plotY(*ci.Lower)
		}
		p.Title = fmt.Sprintf("score %s: people let %s pass; %s", decimals(b.Mean, 2), s.text(*b.Rate.Value), s.basis(b.Rate))
		v.Points = append(v.Points, p)
	}
	note := "Each point is a group of answers with about the same score; the bar is its 95% interval. On the dashed line a score is the chance that people let the answer pass. Points below it: the judge is too kind."
	if _, ok := a.Calibration.At(0); ok && len(v.Points) > 2 {
		var line []string
		for i := range 51 {
			x := float64(i) / 50
			y, _ := a.Calibration.At(x)
			line = append(line, fmt.Sprintf("%g,%g", plotX(x), plotY(y)))
		}
		v.Line = strings.Join(line, " ")
		v.Legend = map[string]string{"platt": "Platt’s curve", "isotonic": "Isotonic curve"}[a.Calibration.Method]
		note += " The line turns scores into probabilities: " + v.Legend + ", fitted to the labels."
	}
	if c := a.Calibration.Check; c != nil && c.ECE.Value != nil {
		note += fmt.Sprintf(" On items left out, calibrated probabilities miss the rate by %s on average.", decimals(*c.ECE.Value, 3))
	}
	if a.Calibration.Reason != "" {
		note += " Caution: " + string(a.Calibration.Reason) + "."
	}
	return v, note
}
