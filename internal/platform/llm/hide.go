package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/platform/secret"
)

// An endpoint that is hostile, or only careless, sends the key back in what it
// says. It is taken out before anybody stores or logs the words.

const (
	mask = "•••"
	// telling is how much of a secret gives it away. A shorter secret is no
	// secret: local servers want any word as a key, and that word may well
	// stand in an answer.
	telling = 8
)

// hidden masks every piece of the secret that is telling.
func hidden(text string, s secret.Text) string {
	key := s.Reveal()
	if len(key) < telling || len(text) < telling {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		n := 0
		if i+telling <= len(text) && strings.Contains(key, text[i:i+telling]) {
			n = telling
			for i+n < len(text) && strings.Contains(key, text[i:i+n+1]) {
				n++
			}
			b.WriteString(mask)
			i += n
			continue
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

// hide masks the secret where a reply repeats it whole.
func (r *Reply) hide(s secret.Text) {
	key := s.Reveal()
	if len(key) < telling {
		return
	}
	for _, field := range []*string{&r.ID, &r.Model, &r.Text} {
		*field = strings.ReplaceAll(*field, key, mask)
	}
	quoted, err := jsontext.AppendQuote(nil, key)
	for i := range r.ToolCalls {
		c := &r.ToolCalls[i]
		c.ID, c.Name = strings.ReplaceAll(c.ID, key, mask), strings.ReplaceAll(c.Name, key, mask)
		if err == nil {
			c.Arguments = jsontext.Value(strings.ReplaceAll(string(c.Arguments), string(quoted[1:len(quoted)-1]), mask))
		}
	}
}

// beginning is as much of a message as is looked at.
func beginning(text string) string { return text[:min(len(text), 4*MaxExcerpt)] }

// excerpt is a text in one line, cut to MaxExcerpt.
func excerpt(text string) string {
	text = strings.ToValidUTF8(text, " ")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if len(text) <= MaxExcerpt {
		return text
	}
	const more = "…"
	cut := MaxExcerpt - len(more)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + more
}

// plainWord is a word of a provider if it looks like one.
func plainWord(w string) string {
	if len(w) > 64 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") != "" {
		return ""
	}
	return w
}
