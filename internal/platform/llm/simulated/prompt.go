package simulated

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// prompt is what a model is asked, in no protocol.
type prompt struct {
	model  string
	system string
	turns  []turn
	tools  []tool
	schema jsontext.Value // of the answer; empty if any text will do
	max    int            // tokens of the answer; zero sets no limit
	stop   []string
	seed   int64

	stream bool // whether the answer comes in events
	usage  bool // whether the last event has the tokens, in the chat

	dimensions int  // of a vector
	packed     bool // whether vectors are written as base64

	hash uint64 // of the model, the seed and every word
}

type turn struct {
	role string // system, user, assistant or tool
	text string
}

type tool struct {
	name   string
	schema jsontext.Value
}

// seal computes the hash. It is the same in both protocols, so that a prompt
// gets the same answer in both.
func (p *prompt) seal() {
	h := hash(14695981039346656037).add(p.model).add(p.system).add(strconv.FormatInt(p.seed, 10))
	for _, t := range p.turns {
		h = h.add(t.role).add(t.text)
	}
	for _, t := range p.tools {
		h = h.add(t.name)
	}
	p.hash = mix(uint64(h))
}

// hash is FNV-1a, which is the same everywhere and for ever.
type hash uint64

func (h hash) add(text string) hash {
	for i := range len(text) {
		h = (h ^ hash(text[i])) * 1099511628211
	}
	return (h ^ 0xff) * 1099511628211 // a byte that no text has ends each part
}

func (p *prompt) name() string {
	if p == nil {
		return ""
	}
	return strconv.FormatUint(p.hash, 16)
}

// last is what the user, or a tool, said last.
func (p *prompt) last() turn {
	for i := len(p.turns) - 1; i >= 0; i-- {
		if r := p.turns[i].role; r == "user" || r == "tool" {
			return p.turns[i]
		}
	}
	return turn{}
}

func (p *prompt) contains(text string) bool {
	if strings.Contains(p.system, text) {
		return true
	}
	for _, t := range p.turns {
		if strings.Contains(t.text, text) {
			return true
		}
	}
	return false
}

// marker finds what stands in [[name:…]], the last time that it stands
// somewhere in the prompt.
func (p *prompt) marker(name string) (string, bool) {
	open := "[[" + name + ":"
	find := func(text string) (string, bool) {
		i := strings.Index(text, open)
		if i < 0 {
			return "", false
		}
		// Most prompts have none, so the search begins in front, where it is
		// quick.
		i = strings.LastIndex(text[i:], open) + i
		value, _, ok := strings.Cut(text[i+len(open):], "]]")
		return value, ok
	}
	for i := len(p.turns) - 1; i >= 0; i-- {
		if v, ok := find(p.turns[i].text); ok {
			return v, true
		}
	}
	return find(p.system)
}

// size is about how many tokens the prompt has.
func (p *prompt) size() int {
	n := tokens(p.system)
	for _, t := range p.turns {
		n += tokens(t.text)
	}
	for _, t := range p.tools {
		n += tokens(t.name) + tokens(string(t.schema))
	}
	return n + tokens(string(p.schema))
}

// tokens is about how many tokens a text has: four bytes make one.
func tokens(text string) int { return (len(text) + 3) / 4 }

// words is the text of a message's content: a string, or the text parts of a
// list. Pictures and the like have no words.
func words(v jsontext.Value) (string, bool) {
	switch v.Kind() {
	case '"':
		s, err := jsontext.AppendUnquote(nil, v)
		return string(s), err == nil
	case 'n', 0:
		return "", true
	case '[':
		var parts []struct {
			Text    string         `json:"text"`
			Content jsontext.Value `json:"content"` // of a tool's result
		}
		if json.Unmarshal(v, &parts) != nil {
			return "", false
		}
		var b strings.Builder
		for _, part := range parts {
			inner, _ := words(part.Content)
			b.WriteString(part.Text + inner)
		}
		return b.String(), true
	}
	return "", false
}
