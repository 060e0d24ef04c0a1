package engine

import (
	"strconv"
	"strings"
)

// passage is the tokens of a statement, without its annotations. Cedar's tree does not say where
// its parts are, so that they are looked for by what they say: the first that says it is meant.
type passage struct {
	at     span
	tokens []token
}

// passages are those of the statements, in their order.
func (o outline) passages() []passage {
	out := make([]passage, len(o.statements))
	next := 0
	for i := range o.statements {
		from := next
		for next < len(o.tokens) && (i+1 == len(o.statements) || o.tokens[next] != o.statements[i+1].start) {
			next++
		}
		out[i] = passage{o.statements[i], unannotated(o.tokens[from:next])}
	}
	return out
}

// unannotated is a statement without its annotations, which may have no value.
func unannotated(all []token) []token {
	for len(all) > 2 && all[0].text == "@" {
		if all = all[2:]; len(all) > 3 && all[0].text == "(" {
			all = all[3:]
		}
	}
	return all
}

// find is the first token that says a name where it is preceded or followed by another, or the
// beginning of the statement.
func (p passage) find(name string, fits func(before, after string) bool) token {
	for i, t := range p.tokens {
		if t.text != name && unquoted(t.text) != name {
			continue
		}
		var before, after string
		if i > 0 {
			before = p.tokens[i-1].text
		}
		if i+1 < len(p.tokens) {
			after = p.tokens[i+1].text
		}
		if fits(before, after) {
			return t
		}
	}
	return p.at.start
}

// attribute is where an attribute is read.
func (p passage) attribute(name string) token {
	return p.find(name, func(before, _ string) bool { return before == "." || before == "has" || before == "[" })
}

// guard is where a policy asks whether there is a fact, in one of context.history has name,
// context["history"] has "name" and context has history.name.
func (p passage) guard(name string) token {
	for i, t := range p.tokens {
		if t.text != name && unquoted(t.text) != name {
			continue
		}
		var has, ofHistory bool
		for _, before := range p.tokens[max(0, i-4):i] {
			has = has || before.text == "has"
			ofHistory = ofHistory || before.text == history || unquoted(before.text) == history
		}
		if has && ofHistory {
			return t
		}
	}
	return p.attribute(name)
}

// operand is where an attribute is read that another token follows; otherwise where it is read first.
func (p passage) operand(name, follows string) token {
	reads := func(before string) bool { return before == "." || before == "[" }
	t := p.find(name, func(before, after string) bool { return reads(before) && after == follows })
	if t == p.at.start {
		t = p.find(name, func(before, _ string) bool { return reads(before) })
	}
	return t
}

// entityType is where a type is named.
func (p passage) entityType(name string) token {
	first, _, _ := strings.Cut(name, "::")
	return p.find(first, func(before, after string) bool { return after == "::" || before == "is" })
}

// word is where a number or a word is written.
func (p passage) word(text string) token {
	return p.find(text, func(string, string) bool { return true })
}

// text is where a text is written, or the id of an entity.
func (p passage) text(name string) token {
	for _, t := range p.tokens {
		if t.text[0] == '"' && unquoted(t.text) == name {
			return t
		}
	}
	return p.at.start
}

// annotation is where a statement is annotated.
func (p passage) annotation(name string) token {
	if t, ok := p.at.annotations[name]; ok {
		return t
	}
	return p.at.start
}

// unquoted is what a quoted token says; empty if it is not one.
func unquoted(text string) string {
	if len(text) < 2 || text[0] != '"' {
		return ""
	}
	if said, err := strconv.Unquote(text); err == nil {
		return said
	}
	return text[1 : len(text)-1]
}
