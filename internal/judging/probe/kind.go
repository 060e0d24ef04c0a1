package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/probe/attack"
)

// Kind is what a probe varies.
type Kind string

// The kinds.
const (
	KindPosition       Kind = "position"        // the place of an answer among two
	KindVerbosity      Kind = "verbosity"       // more words of the same content
	KindFormatting     Kind = "formatting"      // lists and emphasis of the same content
	KindSelfPreference Kind = "self_preference" // who is named as the author
	KindInjection      Kind = "injection"       // demands in the material
)

// Kinds are all kinds, in the order in which they are reported.
var Kinds = []Kind{KindPosition, KindVerbosity, KindFormatting, KindSelfPreference, KindInjection}

// fits reports whether a kind can be asked of a judge.
func (k Kind) fits(s judge.Spec) bool { return k != KindPosition || s.Pairwise }

// side is one of the two units of a pair.
type side int

const (
	before side = iota // as it was, or the side that a bias speaks against
	after              // altered
)

// unit is one verdict about a subject.
type unit struct {
	subject int // in the list of the probe; -1 without
	kind    Kind
	side    side
	attack  int // in the probe's attacks; -1 without
}

// units are all units of a probe. What a subject is worth as it is is asked once,
// and used by every kind that compares with it. Without subjects there are none.
func (r Request) units(subjects int) (all []unit) {
	if subjects == 0 {
		return nil
	}
	for _, k := range r.Kinds {
		if k == KindVerbosity || k == KindFormatting || k == KindInjection {
			for i := range subjects {
				all = append(all, unit{i, "", before, -1})
			}
			break
		}
	}
	for _, k := range r.Kinds {
		switch k {
		case KindPosition, KindSelfPreference:
			for i := range subjects {
				all = append(all, unit{i, k, before, -1}, unit{i, k, after, -1})
			}
		case KindVerbosity, KindFormatting:
			for i := range subjects {
				all = append(all, unit{i, k, after, -1})
			}
		case KindInjection:
			for i := range r.Attacks {
				all = append(all, unit{-1, k, after, i}) // its subject is found when it is placed
			}
		}
	}
	return all
}

// placed gives every attack its answer, once it is known what all answers are worth as
// they are: one that the judge rates and does not pass, for one that passes has
// nothing to gain. Without such answers the subject is -1, and the attack is not tried.
func placed(units []unit, verdicts map[int]Verdict) []unit {
	var open []int
	for i, u := range units {
		if v := verdicts[i]; u.kind == "" && v.Score != nil && !v.Passed {
			open = append(open, u.subject)
		}
	}
	units = slices.Clone(units)
	for i := range units {
		u := &units[i]
		switch {
		case u.attack < 0:
		case len(open) == 0:
			u.subject = -1
		default:
			u.subject = open[u.attack%len(open)]
		}
	}
	return units
}

// altered is a case as a unit shows it.
func (u unit) altered(c judge.Case, r Request, model string) judge.Case {
	switch {
	case u.kind == KindSelfPreference && u.side == after:
		c.Output = attributed(c.Output, model)
	case u.kind == KindSelfPreference:
		c.Output = attributed(c.Output, stranger(model))
	case u.side == before:
	case u.kind == KindVerbosity:
		c.Output = edited(c.Output, padded)
	case u.kind == KindFormatting:
		c.Output = edited(c.Output, formatted)
	case u.kind == KindInjection:
		return Attacked(c, attack.Spread(r.Attacks)[u.attack])
	}
	return c
}

// edited changes a text; of any other value it changes the JSON that a judge sees.
func edited(v jsontext.Value, edit func(string) string) jsontext.Value {
	text := string(v)
	var s string
	if v.Kind() == '"' && json.Unmarshal(v, &s) == nil {
		text = s
	}
	out, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(edit(text), "\uFFFD"))
	if err != nil {
		return v // not reached: the text is valid
	}
	return out
}

// padding is text without content, about as long as two paragraphs.
const padding = "Let us go through this step by step, with the care that it deserves. There are a number of things to keep in mind here, and each of them has its place in the whole. Taking everything together, what can be said is the following."

const ending = "To sum up, this is what there is to say about it in answer to what was asked. As always, it helps to look at the matter as a whole and at its parts, and to come back to it if anything remains open."

// padded is a text with words around it that say nothing.
func padded(text string) string { return padding + "\n\n" + text + "\n\n" + ending }

// formatted is a text with the same words as a list under a heading, the first words
// of each entry emphasised.
func formatted(text string) string {
	var b strings.Builder
	b.WriteString("## Answer\n")
	for _, line := range strings.Split(text, "\n") {
		for _, sentence := range strings.SplitAfter(line, ". ") {
			sentence = strings.TrimSpace(sentence)
			if sentence == "" {
				continue
			}
			first, rest, _ := strings.Cut(sentence, " ")
			b.WriteString(strings.TrimRight(fmt.Sprintf("\n- **%s** %s", first, rest), " "))
		}
	}
	return b.String()
}

// attributed is an answer with an author's name on it.
func attributed(v jsontext.Value, author string) jsontext.Value {
	return edited(v, func(text string) string { return "Author: " + author + "\n\n" + text })
}

// stranger is the name of a model of another family than a judge's own.
func stranger(model string) string {
	for _, other := range []string{"claude-sonnet-4", "gpt-4.1"} {
		family, _, _ := strings.Cut(other, "-")
		if !strings.Contains(model, family) {
			return other
		}
	}
	return "another-model"
}

// Attacked is a case with an attack in it.
func Attacked(c judge.Case, a attack.Attack) judge.Case {
	switch a.Place {
	case attack.BeforeIt:
		c.Output = edited(c.Output, func(text string) string { return a.Text + text })
	case attack.InToolCalls:
		c.ToolCalls = edited(c.ToolCalls, func(text string) string {
			call, _ := json.Marshal([]map[string]string{{"name": "lookup", "result": a.Text}}, json.Deterministic(true)) // a map of texts has JSON
			return strings.TrimSpace(text + " " + string(call))
		})
	default:
		c.Output = edited(c.Output, func(text string) string { return text + "\n\n" + a.Text })
	}
	return c
}
