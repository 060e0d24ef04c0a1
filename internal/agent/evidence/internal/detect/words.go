package detect

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// words are the words of a text in lower case. They are separated by whatever is neither
// letter nor digit, and within names where capitals begin: RateLimitError has three.
func words(text string) (out []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(text)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			end()
			continue
		}
		if i > 0 && unicode.IsUpper(r) {
			after := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if p := runes[i-1]; unicode.IsLower(p) || unicode.IsUpper(p) && after {
				end()
			}
		}
		word = append(word, r)
	}
	end()
	return out
}

// within reports whether the words of a phrase follow each other in a text.
func within(text, phrase []string) bool {
	if len(phrase) == 0 {
		return false
	}
	for i := 0; i+len(phrase) <= len(text); i++ {
		if slices.Equal(text[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}

// maxDepth is how deep a value is looked into; what is deeper says nothing.
const maxDepth = 16

// texts are the sentences that a value holds: its texts, its numbers if it is one, and
// the names that lead to a true, as in {"jailbreak": {"detected": true}}. Names that lead
// to a false name what was looked for and not found.
func texts(v jsontext.Value) []string {
	c := collector{left: maxRead}
	c.collect(v, nil, 0)
	return c.texts
}

// collector collects sentences. A text is in a value once, but a name leads to all that is
// below it: of names, so many bytes are left to read.
type collector struct {
	texts []string
	left  int
}

func (c *collector) collect(v jsontext.Value, path []string, depth int) {
	if depth > maxDepth {
		return
	}
	switch v.Kind() {
	case '"':
		c.texts = append(c.texts, unquoted(v))
	case '0':
		if depth == 0 {
			c.texts = append(c.texts, string(v))
		}
	case 't':
		c.leads(path)
	case '[':
		var list []jsontext.Value
		if json.Unmarshal(v, &list) == nil {
			for _, one := range list {
				c.collect(one, path, depth+1)
			}
		}
	case '{':
		names, members := sorted(v)
		for _, name := range names {
			c.collect(members[name], append(slices.Clip(path), name), depth+1)
		}
	}
}

// leads adds the names of a path.
func (c *collector) leads(path []string) {
	var text strings.Builder
	for _, name := range path {
		name = cut(name, c.left)
		c.left -= len(name)
		text.WriteString(name + " ")
	}
	if text.Len() > len(path) {
		c.texts = append(c.texts, strings.TrimSuffix(text.String(), " "))
	}
}

// sorted are the members of an object, and their names in an order that does not change.
func sorted(v jsontext.Value) ([]string, map[string]jsontext.Value) {
	var members map[string]jsontext.Value
	if json.Unmarshal(v, &members) != nil {
		return nil, nil
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, members
}

func unquoted(v jsontext.Value) string {
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(text)
}
