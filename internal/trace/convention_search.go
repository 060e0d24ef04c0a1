package trace

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

const (
	// maxSearch is how much text of one span is searched.
	maxSearch = 64 << 10
	// maxWord is the longest word that is searched; what is longer is encoded
	// data.
	maxWord = 200
	// maxPreview is how many characters of a payload lists show.
	maxPreview = 200
)

// searchText is the text that is new in this span, without the syntax around
// it: the messages after the last answer in the input, because those before
// were new in an earlier span, and the output. It is good until the next call.
func (r *row) searchText() []byte {
	if len(r.input)+len(r.output) == 0 {
		return nil
	}
	k := r.know()
	g := gather{out: k.search[:0], inner: k.inner}
	// An output always gets half of the room if it needs it.
	g.limit = maxSearch - min(len(r.output), maxSearch/2)
	g.input(r.input, k.seenInput.of(r.input))
	g.limit = maxSearch
	g.output(r.output, k.seenOutput.of(r.output))
	k.search, k.inner = g.out, g.inner
	return bytes.TrimSuffix(g.out, []byte("\n"))
}

// inputPreview is the beginning of what the last user wrote, or else of the
// input. It is good until the next call.
func (r *row) inputPreview() []byte {
	if len(r.input) == 0 {
		return nil
	}
	k := r.know()
	s := k.seenInput.of(r.input)
	g := gather{out: k.preview[:0], inner: k.inner, limit: utf8.UTFMax * maxPreview}
	switch {
	case s.shape == shapeMessages && s.user >= 0:
		g.value(r.input, s.user, gatherNamed, 0)
	case s.shape == shapeMessages:
		g.elements(r.input, s.from)
	default:
		g.raw(r.input, s)
	}
	k.preview, k.inner = g.out, g.inner
	return shorten(g.out)
}

// outputPreview is the beginning of the output's text. It is good until the
// next call.
func (r *row) outputPreview() []byte {
	if len(r.output) == 0 {
		return nil
	}
	k := r.know()
	g := gather{out: k.answer[:0], inner: k.inner, limit: utf8.UTFMax * maxPreview}
	if s := k.seenOutput.of(r.output); s.shape == shapeMessages {
		g.output(r.output, s)
	} else {
		g.raw(r.output, s)
	}
	k.answer, k.inner = g.out, g.inner
	return shorten(g.out)
}

// shorten cuts a text to a preview, in place: white space becomes single
// spaces, and the end is a character's end.
func shorten(b []byte) []byte {
	n := 0 // what is kept
	for n < min(len(b), maxPreview) && (b[n] > ' ' && b[n] < utf8.RuneSelf || b[n] == ' ' && n > 0 && b[n-1] != ' ') {
		n++ // nothing to change so far
	}
	for i, chars := n, n; i < len(b) && chars < maxPreview; {
		from := i
		for i < len(b) && b[i] > ' ' && b[i] < utf8.RuneSelf {
			i++
		}
		word := b[from:min(i, from+maxPreview-chars)]
		n += copy(b[n:], word)
		chars += len(word)
		if i >= len(b) || chars == maxPreview {
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

// gather collects the texts of JSON values up to a limit.
type gather struct {
	out, inner []byte
	limit      int
	last       int  // where the text before begins
	nested     bool // within JSON that stood in a text
}

// want is which texts are collected.
type want uint8

const (
	// gatherNamed collects what stands under names that hold a message's words.
	gatherNamed want = iota
	// gatherWords is gatherNamed below such a name: bare strings count.
	gatherWords
	// gatherAll collects every string.
	gatherAll
)

func (g *gather) full() bool { return len(g.out) >= g.limit }

// input collects what is new in an input.
func (g *gather) input(b []byte, s survey) {
	if s.shape == shapeMessages {
		g.elements(b, s.from)
		return
	}
	g.plain(b, s)
}

// output collects an output. One that repeats the conversation counts from
// after the last user's message.
func (g *gather) output(b []byte, s survey) {
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
func (g *gather) plain(b []byte, s survey) {
	switch s.shape {
	case shapeJSON:
		g.value(b, jsonSpace(b, 0), gatherAll, 0)
	case shapeQuoted:
		g.value(b, s.first, gatherAll, 0)
	default:
		g.text(b)
	}
}

// raw collects a payload that holds no messages as it is.
func (g *gather) raw(b []byte, s survey) {
	if s.shape == shapeQuoted {
		g.value(b, s.first, gatherAll, 0)
		return
	}
	g.text(b)
}

// elements collects the messages of a list from the one at i on. A list that
// breaks off is a text.
func (g *gather) elements(b []byte, i int) {
	mark := len(g.out)
	for {
		if i = g.value(b, i, gatherNamed, 0); i < 0 {
			break
		}
		if i = jsonSpace(b, i); i >= len(b) || b[i] == ']' || g.full() {
			return
		}
		if b[i] != ',' {
			break
		}
		i = jsonSpace(b, i+1)
	}
	g.out = g.out[:mark]
	g.text(b)
}

// value collects from the value at i and returns the position after it, or -1.
func (g *gather) value(b []byte, i int, w want, depth int) int {
	if i >= len(b) || g.full() || depth > maxJSONDepth {
		return jsonSkip(b, i)
	}
	switch b[i] {
	case '"':
		end := jsonString(b, i)
		if end > 0 && w != gatherNamed {
			g.quoted(b[i+1 : end-1])
		}
		return end
	case '[', '{':
		walk := walkJSON(b, i)
		for walk.next() {
			in := w
			if walk.object && w != gatherAll {
				var known bool
				if in, known = wanted(walk.key); !known {
					walk.skip()
					continue
				}
			}
			walk.i = g.value(b, walk.at, in, depth+1)
		}
		return walk.end
	default:
		return jsonSkip(b, i)
	}
}

// wanted tells what is collected below a name within a message.
func wanted(key []byte) (want, bool) {
	switch string(key) {
	case "content", "text", "parts", "refusal", "reasoning", "reasoning_content", "thinking", "summary", "transcript",
		"message.content", "message_content.text", "contents", "message.contents":
		return gatherWords, true
	case "arguments", "args", "input", "result", "response", "output", "partial_json":
		return gatherAll, true
	case "message", "kwargs", "data", "delta", "tool_calls", "function", "function_call", "functionCall", "functionResponse",
		"additional_kwargs", "toolUse", "toolResult", "message.tool_calls", "choices", "candidates", "generations", "messages":
		return gatherNamed, true
	default:
		return 0, false
	}
}

// quoted collects a string, given what stands between its quotes. A string
// that is JSON itself, as arguments of tools are, gives its strings.
func (g *gather) quoted(raw []byte) {
	room := g.limit - len(g.out)
	if len(raw) == 0 || room <= 0 || isDataURL(raw) {
		return
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		g.text(raw)
		return
	}
	if !g.nested && (raw[0] == '{' || raw[0] == '[') && len(raw) <= 2*maxSearch {
		g.inner = appendUnescaped(g.inner[:0], raw)
		text, mark := g.inner, len(g.out)
		g.nested = true
		end := g.value(text, 0, gatherAll, 0)
		g.nested = false
		if end < 0 || jsonSpace(text, end) != len(text) {
			g.out = g.out[:mark]
			g.text(text)
		}
		return
	}
	mark := len(g.out)
	g.out = appendUnescaped(g.out, cut(raw, room))
	g.close(mark)
}

// text collects a text.
func (g *gather) text(b []byte) {
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
func (g *gather) close(mark int) {
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
	return hasPrefix(b, "data:") && bytes.IndexByte(b[:min(len(b), 128)], ',') >= 0
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
