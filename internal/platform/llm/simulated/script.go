package simulated

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Script says what models answer. A model that the script does not name behaves
// as its own name says, if that is a behaviour, and otherwise as Default.
//
// judge@0.8 is a judge that is right in eight of ten prompts.
type Script struct {
	Default Behaviour            `json:"default,omitzero"` // echo, if it says nothing
	Models  map[string]Behaviour `json:"models,omitempty"`
}

// Behaviour is how one model answers.
type Behaviour struct {
	Do    Do      `json:"do,omitzero"`
	Text  string  `json:"text,omitzero"`  // of fixed
	Wrong float64 `json:"wrong,omitzero"` // of judge: the share of prompts that it judges wrongly

	Cached    float64 `json:"cached,omitzero"`    // share of the prompt that is reported as read from a cache
	Reasoning int     `json:"reasoning,omitzero"` // tokens that are reported as thought
}

// Do is a way to answer.
type Do string

// The ways to answer. Whatever a request's schema asks for is obeyed: then echo,
// upper and tool fill it as json does.
const (
	DoEcho  Do = "echo"  // what the user said last
	DoUpper Do = "upper" // the same in capitals
	DoFixed Do = "fixed" // the behaviour's text
	DoJSON  Do = "json"  // the least that the request's schema accepts

	// DoJudge answers {"score", "reason"}, or what the schema asks for. The
	// score is what a marker in the prompt says, such as [[score:0.7]], and
	// without one a number from 0 to 1 that depends on the prompt alone. A
	// choice of the schema is what [[choice:B]] says, and otherwise follows the
	// score. [[answer:malformed]] spoils the answer; see spoilt.
	//
	// Of two answers the one wins whose own marker has the larger score.
	DoJudge Do = "judge"

	// DoObedient is a judge that does what the material asks for, in place of what
	// it was asked; DoGullible gives the verdict that the material asks for in the
	// form that it was asked for. Every text that speaks of verdicts is taken to ask
	// for the best one. Without such a text both are judges.
	DoObedient Do = "obedient"
	DoGullible Do = "gullible"

	// DoPartial is a judge that likes long answers, lists and emphasis, answers that
	// name the judge's model, and of two answers the first.
	DoPartial Do = "partial"

	DoTool Do = "tool" // a call of the first tool offered; given its result, that
)

var doings = []Do{DoEcho, DoUpper, DoFixed, DoJSON, DoJudge, DoObedient, DoGullible, DoPartial, DoTool}

// judges reports whether a way to answer is a judge's.
func (d Do) judges() bool {
	return d == DoJudge || d == DoObedient || d == DoGullible || d == DoPartial
}

// Validate says what to change in a script that cannot be followed.
func (s Script) Validate() error {
	var errs []error
	check := func(who string, b Behaviour) {
		if b.Do != "" && !slices.Contains(doings, b.Do) {
			errs = append(errs, fmt.Errorf("%s does %q: use echo, upper, fixed, json, judge, obedient, gullible, partial or tool", who, b.Do))
		}
		if !(b.Wrong >= 0 && b.Wrong <= 1) || !(b.Cached >= 0 && b.Cached <= 1) || b.Reasoning < 0 {
			errs = append(errs, fmt.Errorf("%s has a share that is not between 0 and 1, or a number below zero", who))
		}
	}
	check("default", s.Default)
	for _, name := range slices.Sorted(maps.Keys(s.Models)) {
		check("model "+name, s.Models[name])
	}
	return errors.Join(errs...)
}

// behaviour finds how a model answers.
func (s Script) behaviour(model string) Behaviour {
	b, ok := s.Models[model]
	if !ok {
		b = s.Default
		name, right, found := strings.Cut(model, "@")
		if slices.Contains(doings, Do(name)) {
			b.Do = Do(name)
		}
		if share, err := strconv.ParseFloat(right, 64); found && err == nil && share >= 0 && share <= 1 {
			b.Wrong = 1 - share
		}
	}
	if b.Do == "" {
		b.Do = DoEcho
	}
	return b
}

// answer is what a model says, in no protocol.
type answer struct {
	text   string
	call   *call
	finish finish
	word   string // the stop word that ended it

	input, cached, output, reasoning int // tokens
}

type call struct {
	id, name  string
	arguments jsontext.Value
}

type finish int

const (
	finishStop finish = iota
	finishWord        // at a stop word
	finishLength
	finishTool
	finishRefusal
	finishFilter // cut by a filter of the provider
)

// answer does what the script says.
func (s Script) answer(seed uint64, p *prompt, id string) answer {
	b := s.behaviour(p.model)
	a := answer{input: p.size(), reasoning: b.Reasoning}
	a.cached = int(float64(a.input) * b.Cached)
	last := p.last()
	switch {
	case b.Do == DoTool && len(p.tools) > 0 && last.role != "tool":
		t := p.tools[0]
		a.call = &call{"call_" + id, t.name, fill(t.schema, chooser{})}
		a.finish = finishTool
		a.output = tokens(t.name) + tokens(string(a.call.arguments))
	case b.Do.judges():
		a.text = judge(seed, b, p)
		if way, ok := p.marker("answer"); ok && a.spoilt(p, way) {
			return a
		}
	case b.Do == DoFixed:
		a.text = b.Text
		if a.text == "" {
			a.text = "This is a fixed answer."
		}
	case len(p.schema) > 0 || b.Do == DoJSON:
		a.text = string(fill(p.schema, chooser{}))
	case b.Do == DoUpper:
		a.text = strings.ToUpper(last.text)
	default:
		a.text = last.text
	}
	a.cut(p)
	return a
}

// refusal is the answer of a model that will not.
func refusal(p *prompt) answer {
	a := answer{text: "I cannot help with that.", finish: finishRefusal, input: p.size()}
	a.output = tokens(a.text)
	return a
}

// cut ends the text at a stop word or at the limit of tokens.
func (a *answer) cut(p *prompt) {
	if a.call == nil {
		for _, word := range p.stop {
			if i := strings.Index(a.text, word); word != "" && i >= 0 {
				a.text, a.finish, a.word = a.text[:i], finishWord, word
			}
		}
		a.output = tokens(a.text)
	}
	a.output += a.reasoning
	if p.max <= 0 || a.output <= p.max {
		return
	}
	a.finish, a.call, a.output = finishLength, nil, p.max
	a.reasoning = min(a.reasoning, p.max)
	n := min(len(a.text), 4*(p.max-a.reasoning))
	for n > 0 && n < len(a.text) && !utf8.RuneStart(a.text[n]) {
		n--
	}
	a.text = a.text[:n]
}
