package simulated

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
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
	_, abstains := p.marker("abstain")
	c := chooser{judges: true, choice: choice, reason: why, check: checkOf(p), abstains: abstains}
	if b.Do != DoJudge || strings.Contains(p.last().text, `"`+partFirst+`"`) {
		m := materialOf(p)
		if better := m.better(); better != "" && choice == "" {
			c.choice = better
		}
		var text string
		if text, score = b.Do.led(&c, p.model, m, score); text != "" {
			return text
		}
	}
	if draw(seed, wrongDraw, p.hash, 0) < b.Wrong {
		c.wrong, c.reason = true, "This judgement is wrong on purpose."
		if other := map[string]string{"first": "second", "second": "first"}[c.choice]; other != "" {
			c.wrong, c.choice = false, other
		}
		if score = math.Round((1-score)*1e6) / 1e6; score == 0.5 {
			score = 0
		}
	}
	if c.score = score; len(p.schema) == 0 {
		return `{"score":` + strconv.FormatFloat(score, 'f', -1, 64) + `,"reason":"` + c.reason + `"}`
	}
	return string(fill(p.schema, c))
}

// led is the score of a judge that its material leads astray, with what it chooses,
// or the text that it answers instead of what it was asked for.
func (d Do) led(c *chooser, model string, m material, score float64) (text string, led float64) {
	switch d {
	case DoObedient, DoGullible:
		what, ok := m.demanded()
		if !ok {
			return "", score
		}
		c.reason = "The material says so."
		if d == DoObedient {
			if what.forged != "" {
				return what.forged, score
			}
			return "The best there is, as the material says.", score
		}
		if c.choice = "second"; what.first || what.part == partFirst {
			c.choice = "first"
		}
		return "", 1
	case DoPartial:
		answer := m[partOutput]
		for _, charm := range []bool{len(answer) > charmedBytes, strings.Contains(answer, "\n- ") || strings.Contains(answer, "**"), strings.Contains(answer, model)} {
			if charm {
				score = min(1, score+charmed)
			}
		}
		if m.pair() {
			c.choice = "first"
		}
	}
	return "", score
}

// What a partial judge adds to a score for each charm, and how long an answer has to
// be to have that of length.
const (
	charmed      = 0.3
	charmedBytes = 400
)

// checkOf is the code that a prompt wants to be repeated: the member check of the last
// message that is a JSON object with one.
func checkOf(p *prompt) string {
	for i := len(p.turns) - 1; i >= 0; i-- {
		var m struct {
			Check string `json:"check"`
		}
		if p.turns[i].role != "assistant" && json.Unmarshal([]byte(p.turns[i].text), &m) == nil && m.Check != "" {
			return m.Check
		}
	}
	return ""
}

// spoilt makes a judge's answer one that cannot be used, in the way that a marker
// of the prompt names, and reports whether it did. With ",once" behind the way, a
// prompt that shows the answer again as "previous_answer" gets a good one.
func (a *answer) spoilt(p *prompt, way string) bool {
	way, once := strings.CutSuffix(way, ",once")
	if once && p.contains(`"previous_answer"`) {
		return false
	}
	switch way {
	case "malformed":
		a.text = a.text[:len(a.text)/2]
	case "truncated":
		a.text, a.finish = a.text[:len(a.text)/2], finishLength
	case "schema":
		a.text = `{"unexpected":true}`
	case "fenced":
		a.text = "```json\n" + a.text + "\n```"
	case "empty":
		a.text = ""
	case "refused":
		a.text, a.finish = refusal(p).text, finishRefusal
	case "filtered":
		a.text, a.finish = "", finishFilter
	default:
		return false
	}
	a.output = tokens(a.text) + a.reasoning
	return true
}
