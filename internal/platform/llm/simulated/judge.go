package simulated

import (
	"math"
	"strconv"
)

// judge is a judge's answer.
func judge(seed uint64, b Behaviour, p *prompt) string {
	score := math.Round(draw(seed, scoreDraw, p.hash, 0)*100) / 100
	why := "The prompt itself decided."
	if text, ok := p.marker("score"); ok {
		if s, err := strconv.ParseFloat(text, 64); err == nil && s >= 0 && s <= 1 {
			score, why = s, "The prompt says so."
		}
	}
	choice, _ := p.marker("choice")
	c := chooser{judges: true, choice: choice, reason: why}
	if draw(seed, wrongDraw, p.hash, 0) < b.Wrong {
		c.wrong, c.reason = true, "This judgement is wrong on purpose."
		if score = math.Round((1-score)*1e6) / 1e6; score == 0.5 {
			score = 0
		}
	}
	if c.score = score; len(p.schema) == 0 {
		return `{"score":` + strconv.FormatFloat(score, 'f', -1, 64) + `,"reason":"` + c.reason + `"}`
	}
	return string(fill(p.schema, c))
}
