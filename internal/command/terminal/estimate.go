package terminal

import (
	"fmt"
	"math"
	"strings"
)

// Estimate is a figure with how sure it is.
type Estimate struct {
	Name                string
	Value, Lower, Upper *float64
	N                   int
	Status              string
	Percent             bool // a share, shown in hundredths
	// Bar is a number that the interval is held against: its ends are written
	// so that they can be told from it.
	Bar      *float64
	Warnings []string
}

// Text is the figure and its interval, such as 84.3% [80.1%, 87.9%].
func (e Estimate) Text() string {
	value, interval := e.texts()
	if interval == none {
		return value
	}
	return value + " " + interval
}

func (e Estimate) texts() (value, interval string) {
	half := 0.0
	if e.Lower != nil && e.Upper != nil {
		half = (*e.Upper - *e.Lower) / 2
	}
	digits := 3
	if e.Value != nil && !e.Percent {
		digits = decimals(*e.Value, half)
	}
	if e.Percent { // only what is everything reads as 100%, and only nothing as 0%
		for _, whole := range []float64{0, 1} {
			digits = apart(digits, true, whole, e.Value)
		}
	}
	if e.Bar != nil {
		digits = apart(digits, e.Percent, *e.Bar, e.Lower, e.Upper)
	}
	interval = none
	if e.Lower != nil || e.Upper != nil {
		interval = fmt.Sprintf("[%s, %s]", figure(e.Lower, digits, e.Percent), figure(e.Upper, digits, e.Percent))
	}
	return figure(e.Value, digits, e.Percent), interval
}

// statusColour is dim for what can be trusted and yellow for the rest.
func (e Estimate) statusColour() string {
	if e.Status == "ok" {
		return green
	}
	return yellow
}

// scale draws a share and its interval on the line from 0 to 1.
func (s Style) scale(e Estimate, width int) string {
	at := func(x float64) int { return min(width-1, max(0, int(math.Floor(x*float64(width))))) }
	marks := make([]rune, width)
	for i := range marks {
		marks[i] = '·'
	}
	if e.Lower != nil && e.Upper != nil {
		for i := at(*e.Lower); i <= at(*e.Upper); i++ {
			marks[i] = '━'
		}
	}
	if e.Value != nil {
		marks[at(*e.Value)] = '●'
	}
	// Runs of the same sign share a colour, so that a frame stays short.
	var b strings.Builder
	for i := 0; i < width; {
		j := i
		for j < width && marks[j] == marks[i] {
			j++
		}
		colour := dim
		if marks[i] != '·' {
			colour = cyan
		}
		b.WriteString(s.paint(colour, string(marks[i:j])))
		i = j
	}
	return b.String()
}
