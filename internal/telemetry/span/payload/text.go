package payload

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxSearch is how much text of one span is searched.
	MaxSearch = 64 << 10
	// maxWord is the longest word that is searched; what is longer is encoded
	// data.
	maxWord = 200
	// MaxPreview is how many characters of a payload lists show.
	MaxPreview = 200
)

// Texts makes texts of payloads: what is searched, and previews. It is reused
// from span to span, and what it returns is good until the next call.
type Texts struct {
	search, inner, preview, answer []byte
	inputLayout, outputLayout      layoutCache
}

// Reset forgets the payloads of a span.
func (t *Texts) Reset() { t.inputLayout.at, t.outputLayout.at = nil, nil }

// Search is the text that is new in this span, without the syntax around
// it: the messages after the last answer in the input, because those before
// were new in an earlier span, and the output.
func (t *Texts) Search(input, output []byte) []byte {
	g := collector{out: t.search[:0], inner: t.inner}
	// An output always gets half of the room if it needs it.
	g.limit = MaxSearch - min(len(output), MaxSearch/2)
	g.input(input, t.inputLayout.of(input))
	g.limit = MaxSearch
	g.output(output, t.outputLayout.of(output))
	t.search, t.inner = g.out, g.inner
	return bytes.TrimSuffix(g.out, []byte("\n"))
}

// HasMessages reports whether a payload holds messages.
func (t *Texts) HasMessages(b []byte) bool { return t.inputLayout.of(b).shape == shapeMessages }

// InputPreview is the beginning of what the last user wrote, or else of the
// input.
func (t *Texts) InputPreview(input []byte) []byte {
	s := t.inputLayout.of(input)
	g := collector{out: t.preview[:0], inner: t.inner, limit: utf8.UTFMax * MaxPreview}
	switch {
	case s.shape == shapeMessages && s.user >= 0:
		g.message(input, s.user)
	case s.shape == shapeMessages:
		g.elements(input, s.from)
	default:
		g.raw(input, s)
	}
	t.preview, t.inner = g.out, g.inner
	return shorten(g.out)
}

// OutputPreview is the beginning of the output's text.
func (t *Texts) OutputPreview(output []byte) []byte {
	g := collector{out: t.answer[:0], inner: t.inner, limit: utf8.UTFMax * MaxPreview}
	if s := t.outputLayout.of(output); s.shape == shapeMessages {
		g.output(output, s)
	} else {
		g.raw(output, s)
	}
	t.answer, t.inner = g.out, g.inner
	return shorten(g.out)
}

// shorten cuts a text to a preview, in place: white space becomes single
// spaces, and the end is a character's end.
func shorten(b []byte) []byte {
	n := 0 // what is kept
	for n < min(len(b), MaxPreview) && (b[n] > ' ' && b[n] < utf8.RuneSelf || b[n] == ' ' && n > 0 && b[n-1] != ' ') {
		n++ // nothing to change so far
	}
	for i, chars := n, n; i < len(b) && chars < MaxPreview; {
		from := i
		for i < len(b) && b[i] > ' ' && b[i] < utf8.RuneSelf {
			i++
		}
		word := b[from:min(i, from+MaxPreview-chars)]
		n += copy(b[n:], word)
		chars += len(word)
		if i >= len(b) || chars == MaxPreview {
			break
		}
		c, size := utf8.DecodeRune(b[i:])
		if c > ' ' && !unicode.IsSpace(c) {
			n += copy(b[n:], b[i:i+size])
			chars++
		} else if n > 0 && b[n-1] != ' ' {
			b[n] = ' '
			n++
			chars++
		}
		i += size
	}
	return bytes.TrimSuffix(b[:n], []byte(" "))
}

// collector collects the texts of JSON values up to a limit.
type collector struct {
	out, inner []byte
	limit      int
	last       int  // where the text before begins
	nested     bool // within JSON that stood in a text
}

// want is which texts are collected.
type want uint8

const (
	// collectNamed collects what stands under names that hold a message's words.
	collectNamed want = iota
	// collectWords is gatherNamed below such a name: bare strings count.
	collectWords
	// collectAll collects every string.
	collectAll
)

func (g *collector) full() bool { return len(g.out) >= g.limit }

// input collects what is new in an input.
func (g *collector) input(b []byte, s layout) {
	if s.shape == shapeMessages {
		g.elements(b, s.from)
		return
	}
	g.plain(b, s)
}

// output collects an output. One that repeats the conversation counts from
// after the last user's message.
func (g *collector) output(b []byte, s layout) {
	switch {
	case s.shape != shapeMessages:
		g.plain(b, s)
	case s.after >= 0:
		g.elements(b, s.after)
	default:
		g.elements(b, s.first)
	}
}

// plain collects a payload that holds no messages.
func (g *collector) plain(b []byte, s layout) {
	switch s.shape {
	case shapeJSON:
		g.value(b, SkipSpace(b, 0), collectAll, 0)
	case shapeQuoted:
		g.value(b, s.first, collectAll, 0)
	default:
		g.text(b)
	}
}

// raw collects a payload that holds no messages as it is.
func (g *collector) raw(b []byte, s layout) {
	if s.shape == shapeQuoted {
		g.value(b, s.first, collectAll, 0)
		return
	}
	g.text(b)
}

// elements collects the messages of a list from the one at i on. A list that
// breaks off is a text.
func (g *collector) elements(b []byte, i int) {
	mark := len(g.out)
	for {
		if i = g.message(b, i); i < 0 {
			break
		}
		if i = SkipSpace(b, i); i >= len(b) || b[i] == ']' || g.full() {
			return
		}
		if b[i] != ',' {
			break
		}
		i = SkipSpace(b, i+1)
	}
	g.out = g.out[:mark]
	g.text(b)
}

// value collects from the value at i and returns the position after it, or -1.
func (g *collector) value(b []byte, i int, w want, depth int) int {
	if i >= len(b) || g.full() || depth > maxDepth {
		return ValueEnd(b, i)
	}
	switch b[i] {
	case '"':
		end := StringEnd(b, i)
		if end > 0 && w != collectNamed {
			g.quoted(b[i+1 : end-1])
		}
		return end
	case '[', '{':
		walk := Walk(b, i)
		for walk.Next() {
			in := w
			if walk.object && w != collectAll {
				var known bool
				if in, known = wanted(walk.Key); !known {
					walk.Skip()
					continue
				}
			}
			walk.i = g.value(b, walk.At, in, depth+1)
		}
		return walk.end
	default:
		return ValueEnd(b, i)
	}
}

// wanted tells what is collected below a name within a message.
func wanted(key []byte) (want, bool) {
	switch string(key) {
	case "content", "text", "parts", "refusal", "reasoning", "reasoning_content", "thinking", "summary", "transcript",
		"message.content", "message_content.text", "contents", "message.contents":
		return collectWords, true
	case "arguments", "args", "input", "result", "response", "output", "partial_json":
		return collectAll, true
	case "message", "kwargs", "data", "delta", "tool_calls", "function", "function_call", "functionCall", "functionResponse",
		"additional_kwargs", "toolUse", "toolResult", "message.tool_calls", "choices", "candidates", "generations", "messages":
		return collectNamed, true
	default:
		return 0, false
	}
}

// quoted collects a string, given what stands between its quotes. A string
// that is JSON itself, as arguments of tools are, gives its strings.
func (g *collector) quoted(raw []byte) {
	room := g.limit - len(g.out)
	if len(raw) == 0 || room <= 0 || isDataURL(raw) {
		return
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		g.text(raw)
		return
	}
	if !g.nested && (raw[0] == '{' || raw[0] == '[') && len(raw) <= 2*MaxSearch {
		g.inner = AppendUnescaped(g.inner[:0], raw)
		text, mark := g.inner, len(g.out)
		g.nested = true
		end := g.value(text, 0, collectAll, 0)
		g.nested = false
		if end < 0 || SkipSpace(text, end) != len(text) {
			g.out = g.out[:mark]
			g.text(text)
		}
		return
	}
	mark := len(g.out)
	g.out = AppendUnescaped(g.out, cut(raw, room))
	g.close(mark)
}

// text collects a text.
func (g *collector) text(b []byte) {
	room := g.limit - len(g.out)
	if len(b) == 0 || room <= 0 {
		return
	}
	mark := len(g.out)
	g.out = append(g.out, cut(b, room)...)
	g.close(mark)
}

// close ends a text that was appended at mark: without encoded data, apart
// from the next, and not said twice in a row.
func (g *collector) close(mark int) {
	kept := dropLong(g.out[mark:])
	if before := g.out[min(g.last, mark):mark]; len(before) == len(kept)+1 && bytes.Equal(before[:len(kept)], kept) {
		// LangChain says every answer twice.
		kept = nil
	}
	g.out = g.out[:mark+len(kept)]
	if len(kept) > 0 {
		g.out, g.last = append(g.out, '\n'), mark
	}
}

// cut is a text of at most n bytes that ends where a character ends.
func cut(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	for end := n; end > max(0, n-utf8.UTFMax); end-- {
		if utf8.RuneStart(b[end]) {
			return b[:end]
		}
	}
	return b[:n]
}

// isDataURL reports whether a text is a file rather than words.
func isDataURL(b []byte) bool {
	return startsWith(b, "data:") && bytes.IndexByte(b[:min(len(b), 128)], ',') >= 0
}

// encoded are the bytes of base64, hexadecimal and their like.
var encoded = func() (set [256]bool) {
	for c := range 256 {
		set[c] = c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' ||
			c == '+' || c == '/' || c == '=' || c == '_' || c == '-'
	}
	return set
}()

// dropLong removes runs of encoded data that are longer than a word, in
// place. Such a run covers one of every maxWord+1 bytes, so only those are
// looked at.
func dropLong(b []byte) []byte {
	const step = maxWord + 1
	out := b[:0]
	from := 0 // what is before is in out
	for i := step - 1; i < len(b); i += step {
		if i < from || !encoded[b[i]] {
			continue
		}
		start, end := i, i+1
		for start > from && encoded[b[start-1]] {
			start--
		}
		for end < len(b) && encoded[b[end]] {
			end++
		}
		if end-start > maxWord {
			out = append(out, b[from:start]...)
			from = end
		}
	}
	if from == 0 {
		return b
	}
	return append(out, b[from:]...)
}
