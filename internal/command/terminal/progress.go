package terminal

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Progress is how far a run of an evaluation is.
type Progress struct {
	Name, Run string
	Status    string
	Phase     string // queued, executing, scoring, aggregating or done
	Total     int    // zero while nobody knows
	Done      int
	Passed    int
	Failed    int
	Errored   int // the part of Failed without a score
	// Rate is items a second, zero if it is not known.
	Rate    float64
	ETA     *time.Duration
	Elapsed time.Duration
	Cost    *float64
	// PassRate is nil before there is an estimate.
	PassRate *Estimate
	// Note is the newest thing worth knowing.
	Note string
}

// Holds is what may be said of the interval of a run that is under way.
const Holds = "The interval stays valid as you watch."

// Progress draws a frame, in lines that fit.
func (s Style) Progress(p Progress) []string {
	if s.Width == 0 {
		s.Width = usualWidth
	}
	sign, colour := mark(p.Status, false, 0)
	status := oneLine(p.Phase)
	if p.Status != "running" {
		status = oneLine(p.Status)
	}
	end := sign + " " + status + " " + duration(p.Elapsed)
	run := " · run " + oneLine(p.Run)
	name := Left(oneLine(p.Name), min(Columns(oneLine(p.Name)), s.Width-Columns(end)-Columns(run)-gap))
	pad := strings.Repeat(" ", max(gap, s.Width-Columns(name)-Columns(run)-Columns(end)))
	lines := []string{
		s.paint(bold, name) + s.paint(dim, run) + pad + s.paint(colour, end),
		s.bar(p),
		s.counts(p),
	}
	lines = append(lines, s.rate(p)...)
	if p.Note != "" && p.Status == "running" {
		lines = append(lines, s.paint(yellow, Cut("! "+oneLine(p.Note), s.Width)))
	}
	return lines
}

// bar draws how much is done and how much of that passed.
func (s Style) bar(p Progress) string {
	if p.Total == 0 && p.Status != "running" {
		return s.paint(dim, Cut("ended before it measured anything", s.Width))
	}
	if p.Total == 0 {
		return s.paint(dim, Cut("waiting for a worker", s.Width))
	}
	facts := []string{percent(p), grouped(p.Done) + "/" + grouped(p.Total)}
	if p.Rate > 0 && p.Status == "running" {
		facts = append(facts, perSecond(p.Rate))
	}
	if p.ETA != nil {
		facts = append(facts, "ETA "+roughly(*p.ETA))
	}
	text := strings.Join(facts, "  ")
	width := min(mostBar, max(leastBar, s.Width-Columns(text)-gap))
	part := func(n int) int { return int(float64(width) * float64(min(n, p.Total)) / float64(p.Total)) }
	done := part(p.Done)
	failed := 0
	if p.Done > 0 && p.Failed > 0 {
		failed = min(done, max(1, done*p.Failed/p.Done))
	}
	return s.paint(green, strings.Repeat("█", done-failed)) + s.paint(red, strings.Repeat("▓", failed)) +
		s.paint(dim, strings.Repeat("░", width-done)) + strings.Repeat(" ", gap) + Cut(text, s.Width-width-gap)
}

// percent is rounded down: only what is done is a hundred.
func percent(p Progress) string {
	if p.Total == 0 {
		return "0%"
	}
	return fmt.Sprintf("%.0f%%", math.Floor(100*float64(min(p.Done, p.Total))/float64(p.Total)))
}

// roughly is a length of time that nobody knows to the tenth of a second.
func roughly(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(math.Ceil(max(0, d.Seconds()))))
	}
	return duration(d)
}

func perSecond(rate float64) string {
	switch {
	case rate < 1:
		return fmt.Sprintf("%.1f/min", rate*60)
	case rate < 10:
		return fmt.Sprintf("%.1f/s", rate)
	}
	return count(int64(rate)) + "/s"
}

// counts are how many passed and failed, and what they cost, as far as there is
// room.
func (s Style) counts(p Progress) string {
	passed, failed := "✓ "+grouped(p.Passed)+" passed", "✗ "+grouped(p.Failed)+" failed"
	colour := ""
	if p.Failed > 0 {
		colour = red
	}
	room := s.Width - Columns(passed) - gap - Columns(failed)
	parts := []string{s.paint(green, passed), s.paint(colour, failed)}
	var more []string
	if p.Errored > 0 {
		more = append(more, fmt.Sprintf("%s of them without a score", grouped(p.Errored)))
	}
	if c := cost(p.Cost); c != "" && p.Status == "running" {
		more = append(more, c+" so far")
	} else if c != "" {
		more = append(more, c)
	}
	for _, m := range more {
		if room -= gap + Columns(m); room >= 0 {
			parts = append(parts, s.paint(dim, m))
		}
	}
	return strings.Join(parts, strings.Repeat(" ", gap))
}

// rate draws the pass rate with its interval. It has always two lines, so that
// what stands below does not jump.
func (s Style) rate(p Progress) []string {
	e := p.PassRate
	if e == nil || e.Value == nil {
		return []string{s.paint(dim, "pass rate  not available yet"), ""}
	}
	value, interval := e.texts()
	text := "pass rate  " + Right(value, 6)
	width := min(40, s.Width-Columns(text)-Columns(interval)-2*gap)
	line := text
	if width >= 10 {
		line += strings.Repeat(" ", gap) + s.scale(*e, width)
	}
	line += strings.Repeat(" ", gap) + interval
	says := ""
	if p.Status == "running" {
		says = s.paint(dim, Cut(fmt.Sprintf("%s (First %s in random order.)", Holds, grouped(e.N)), s.Width))
	}
	return []string{line, says}
}

// ProgressLine is the same on one line, for a log.
func (s Style) ProgressLine(p Progress) string {
	if p.Total == 0 && p.Status != "running" {
		return oneLine(p.Status) + " after " + duration(p.Elapsed) + ", before it measured anything"
	}
	if p.Total == 0 {
		return oneLine(p.Phase) + " for " + duration(p.Elapsed) + ", waiting for a worker"
	}
	facts := []string{
		fmt.Sprintf("%4s  %s/%s", percent(p), grouped(p.Done), grouped(p.Total)),
		fmt.Sprintf("%s passed, %s failed", grouped(p.Passed), grouped(p.Failed)),
	}
	if p.Errored > 0 {
		facts[1] += fmt.Sprintf(" (%s errored)", grouped(p.Errored))
	}
	if p.PassRate != nil && p.PassRate.Value != nil {
		text := p.PassRate.Text()
		if p.Status == "running" {
			text += " of the first " + grouped(p.PassRate.N)
		}
		facts = append(facts, text)
	}
	switch {
	case p.Status != "running":
		facts = append(facts, oneLine(p.Status)+" after "+duration(p.Elapsed))
	case p.ETA != nil:
		facts = append(facts, roughly(*p.ETA)+" left")
	case p.Rate > 0:
		facts = append(facts, perSecond(p.Rate))
	}
	if c := cost(p.Cost); c != "" {
		facts = append(facts, c)
	}
	return strings.Join(facts, "  ")
}
