package redact

import (
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/core/schema"
)

// redactPattern is an organization's rule for text.
type redactPattern struct {
	mark    string
	re      *schema.Pattern
	needles []redactNeedle // one of them is in every text that matches; none means that nothing is known
	escaped []redactNeedle // how else they may stand in a JSON document
}

func newRedactPattern(mark, pattern string) (redactPattern, error) {
	re, err := schema.CompilePattern(pattern)
	if err != nil {
		return redactPattern{}, err
	}
	if re.Steps() > maxSteps {
		return redactPattern{}, errSteps
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return redactPattern{}, err
	}
	p := redactPattern{mark: mark, re: re}
	for _, piece := range required(tree) {
		p.needles = append(p.needles, newRedactNeedle(piece))
		if piece.odd {
			escape := strings.Trim(strconv.QuoteToASCII(piece.text), `"`)
			p.escaped = append(p.escaped, newRedactNeedle(redactPiece{text: escape, fold: true}))
		}
	}
	return p, nil
}

// patternSpans appends what the organization's patterns find in v.
func (r *Redactor) patternSpans(spans []redactSpan, v []byte) []redactSpan {
	for i := range r.patterns {
		p := &r.patterns[i]
		if len(p.needles) == 0 || redactAny(p.needles, v) {
			spans = p.find(spans, v, r.stop)
		}
	}
	return spans
}

// redactPiece is a literal to look for.
type redactPiece struct {
	text string
	fold bool // in either case
	odd  bool // hardly ever there
}

// required returns literals of which every text that matches holds one,
// or nothing if there are none to name.
func required(re *syntax.Regexp) []redactPiece {
	switch re.Op {
	case syntax.OpLiteral:
		return redactPieces(string(re.Rune), re.Flags&syntax.FoldCase != 0)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []redactPiece
		for _, sub := range re.Sub {
			if p := required(sub); redactShort(p) > redactShort(best) {
				best = p
			}
		}
		return best
	case syntax.OpAlternate:
		var all []redactPiece
		for _, sub := range re.Sub {
			p := required(sub)
			if p == nil {
				return nil
			}
			all = append(all, p...)
		}
		if len(all) <= 16 { // more of them cost more than the pattern saves
			return all
		}
	}
	return nil
}

// redactShort is the length of the shortest piece; the longer, the rarer.
func redactShort(pieces []redactPiece) int {
	shortest := 0
	for _, p := range pieces {
		if !p.odd && (shortest == 0 || len(p.text) < shortest) {
			shortest = len(p.text)
		}
	}
	return shortest
}

// redactPieces returns the longest piece of a literal that reads the same in
// every text with that literal, or nothing. Encoders of JSON escape quotation
// marks, what means something in HTML, and characters beyond ASCII.
func redactPieces(literal string, fold bool) []redactPiece {
	longest := ""
	for piece := range strings.FieldsFuncSeq(literal, func(c rune) bool {
		return c < ' ' || c >= 0x7f || strings.ContainsRune("\"\\/<>&'`+=", c)
	}) {
		if len(piece) > len(longest) {
			longest = piece
		}
	}
	if longest == "" {
		return nil
	}
	pieces := []redactPiece{{text: longest, fold: fold}}
	// Two letters are the same in another case as characters beyond ASCII.
	if fold && strings.ContainsAny(longest, "sS") {
		pieces = append(pieces, redactPiece{text: "\u017f", odd: true})
	}
	if fold && strings.ContainsAny(longest, "kK") {
		pieces = append(pieces, redactPiece{text: "\u212a", odd: true})
	}
	return pieces
}
