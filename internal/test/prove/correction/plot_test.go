package main

import (
	"bytes"
	"fmt"
	"math"
)

// The plot, in its own units.
const (
	plotWide, plotHigh   = 760.0, 340.0
	plotLeft, plotRight  = 56.0, 746.0
	plotTop, plotBottom  = 34.0, 288.0
	plotLowest, plotMost = 0.65, 0.95
)

// draw makes a picture of the repetitions: the judge's mean and the corrected one with
// its interval, against the truth.
func draw(all []figures) []byte {
	var b bytes.Buffer
	y := func(v float64) float64 {
		return plotBottom - (plotBottom-plotTop)*math.Min(1, math.Max(0, (v-plotLowest)/(plotMost-plotLowest)))
	}
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="13" fill="#5d626e">`, plotWide, plotHigh)
	p(`<rect width="%g" height="%g" fill="#ffffff"/>`, plotWide, plotHigh)
	for v := plotLowest; v < plotMost+0.001; v += 0.05 {
		p(`<line x1="%g" x2="%g" y1="%.1f" y2="%.1f" stroke="#e6e4dd"/><text x="%g" y="%.1f" text-anchor="end">%.2f</text>`, plotLeft, plotRight, y(v), y(v), plotLeft-8, y(v)+4, v)
	}
	p(`<line x1="%g" x2="%g" y1="%.1f" y2="%.1f" stroke="#17181c" stroke-width="1.5"/>`, plotLeft, plotRight, y(quality), y(quality))
	step := (plotRight - plotLeft) / float64(len(all))
	for i, f := range all {
		x := plotLeft + step*(float64(i)+0.5)
		colour := "#2b50d8"
		if f.lower > quality || f.upper < quality {
			colour = "#bb3325"
		}
		p(`<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="%s" stroke-width="2" opacity=".45"/><circle cx="%.1f" cy="%.1f" r="3.2" fill="%s"/>`, x, x, y(f.lower), y(f.upper), colour, x, y(f.corrected), colour)
		p(`<circle cx="%.1f" cy="%.1f" r="3" fill="#ffffff" stroke="#925a00" stroke-width="1.6"/>`, x, y(f.judge))
	}
	p(`<text x="%g" y="20"><tspan fill="#17181c">— truth %.2f</tspan>  <tspan dx="18" fill="#2b50d8">● as people would give it, with its 95%% interval</tspan>  <tspan dx="18" fill="#925a00">○ the judge’s own mean</tspan>  <tspan dx="18" fill="#bb3325">● interval misses the truth</tspan></text>`, plotLeft, quality)
	p(`<text x="%g" y="%g" text-anchor="middle">%d repetitions, each with %d answers, %d of them labelled by people</text>`, (plotLeft+plotRight)/2, plotBottom+32, len(all), *items, *labels)
	p(`</svg>`)
	return b.Bytes()
}
