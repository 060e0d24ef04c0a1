package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/measure/stat"
)

// barView is a value with its interval, in per cent of a line.
type barView struct {
	HasValue, HasInterval bool
	At, X, Width          float64
	// Zero is where nothing changes, for differences.
	Zero float64
	Tone string
}

func barOf(e stat.Estimate, low, high float64) (b barView) {
	place := func(v float64) float64 { return round(100 * min(1, max(0, (v-low)/(high-low)))) }
	if e.Value != nil {
		b.HasValue, b.At = true, place(*e.Value)
	}
	if ci := e.CI; ci != nil && (ci.Lower != nil || ci.Upper != nil) {
		from, to := 0.0, 100.0
		if ci.Lower != nil {
			from = place(*ci.Lower)
		}
		if ci.Upper != nil {
			to = place(*ci.Upper)
		}
		b.HasInterval, b.X, b.Width = true, from, round(to-from)
	}
	b.Zero = place(0)
	return b
}

// ends are the numbers of an estimate that a drawing must have room for.
func ends(e stat.Estimate) (all []float64) {
	if e.Value != nil {
		all = append(all, *e.Value)
	}
	if e.CI != nil {
		for _, v := range []*float64{e.CI.Lower, e.CI.Upper} {
			if v != nil {
				all = append(all, *v)
			}
		}
	}
	return all
}

func round(v float64) float64 { return math.Round(v*100) / 100 }

// spreadView is a histogram.
type spreadView struct {
	Name, Direction, Note string
	Low, High             string
	Columns               []columnView
	Marks                 []markView
}

type columnView struct {
	X, Y, Height float64
	Title        string
}

type markView struct {
	X           float64
	Label, Note string
}

// spreadsOf draws how the scores of numeric metrics are distributed, with their
// median and, where there is no upper end, their 95th percentile.
func spreadsOf(f *Findings, rows func(string) ([]stat.Observation, error)) (all []spreadView, err error) {
	for _, d := range f.metrics {
		sp := f.spread[d.Name]
		if sp == nil || sp.n == 0 {
			continue
		}
		over := sp.settle()
		unit := scaleOf(d)
		v := spreadView{Name: d.Name, Direction: string(d.Better) + " is better", Low: unit.text(sp.low), High: unit.text(sp.high)}
		if d.Unit == "" {
			v.Low, v.High = digits(sp.low), digits(sp.high)
		}
		v.Columns = sp.columns(unit)
		v.Note = grouped(sp.n) + " scores"
		if !sp.bounded && sp.n > len(sp.sample) {
			v.Note = fmt.Sprintf("a random %s of %s scores", grouped(len(sp.sample)), v.Note)
		}
		if over > 0 {
			v.Note += fmt.Sprintf("; the last column has all above %s", v.High)
		}
		if rows != nil && sp.high > sp.low {
			if v.Marks, err = marks(rows, d, sp); err != nil {
				return nil, err
			}
		}
		all = append(all, v)
	}
	return all, nil
}

func (s *spread) columns(unit scale) []columnView {
	most := slices.Max(s.counts[:])
	width := (s.high - s.low) / bins
	all := make([]columnView, bins)
	for i, n := range s.counts {
		height := 0.0
		if n > 0 {
			height = max(1.5, 100*float64(n)/float64(most)) // one score in many is still seen
		}
		from := s.low + float64(i)*width
		all[i] = columnView{
			X: round(100 * float64(i) / bins), Y: round(100 - height), Height: round(height),
			Title: fmt.Sprintf("%s to %s: %s", unit.text(from), unit.text(from+width), grouped(n)),
		}
	}
	return all
}

// marks are quantiles of a metric's scores.
func marks(rows func(string) ([]stat.Observation, error), d Metric, sp *spread) (all []markView, err error) {
	scores, err := rows(d.Name)
	if err != nil {
		return nil, err
	}
	quantiles := []float64{0.5}
	if !sp.bounded {
		quantiles = append(quantiles, 0.95)
	}
	unit := scaleOf(d)
	for _, q := range quantiles {
		e, err := stat.Quantile(scores, q, stat.Options{Range: d.Range})
		if err != nil {
			return nil, fmt.Errorf("quantile of %s: %w", d.Name, err)
		}
		if e.Value == nil {
			continue
		}
		name := "Median"
		if q != 0.5 {
			name = "p" + strconv.Itoa(int(100*q))
		}
		all = append(all, markView{X: round(100 * min(1, max(0, (*e.Value-sp.low)/(sp.high-sp.low)))), Label: name + " " + unit.text(*e.Value), Note: unit.basis(e)})
	}
	return all, nil
}
