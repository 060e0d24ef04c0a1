package shape

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// path is where in a body the reader is. It is written out only if somebody
// has to know.
type path []step

// step is an index or a name, which is documented or as it was sent.
type step struct {
	documented string
	raw        jsontext.Value
	number     int
}

func (p *path) name(documented string)    { *p = append(*p, step{documented: documented}) }
func (p *path) quoted(raw jsontext.Value) { *p = append(*p, step{raw: raw}) }
func (p *path) index(n int)               { *p = append(*p, step{number: n}) }
func (p *path) leave()                    { *p = (*p)[:len(*p)-1] }
func (p path) top() bool                  { return len(p) == 0 }

// maxStep bounds what a name that a caller chose adds to a pointer.
const maxStep = 200

// pointer is the path as a JSON Pointer.
func (p path) pointer() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteByte('/')
		switch {
		case s.documented != "":
			b.WriteString(s.documented)
		case s.raw != nil:
			b.WriteString(escapePointer(sentName(s.raw)))
		default:
			b.WriteString(strconv.Itoa(s.number))
		}
	}
	return b.String()
}

// sentName is a name as it was sent, cut off if it is long.
func sentName(raw jsontext.Value) string {
	if len(raw) > 6*maxStep { // no escape sequence is longer than six bytes
		for end := maxStep; end > 0; end-- {
			begin, err := jsontext.AppendUnquote(nil, append(raw[:end:end], '"'))
			if err == nil {
				return string(begin) + "…"
			}
		}
	}
	sent, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		sent = raw
	}
	return cut(string(sent), maxStep)
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func escapePointer(name string) string { return pointerEscapes.Replace(name) }

// shorten bounds a pointer that somebody else wrote.
func shorten(pointer string) string { return cut(pointer, 5*maxStep) }

// cut shortens text to at most n bytes and an ellipsis.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
