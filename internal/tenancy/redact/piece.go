package redact

import (
	"iter"
	"unicode/utf8"
)

// A pattern is matched in time that is proportional to the text and to the size
// of the pattern, for each find: looking for the next may read the text to its
// end. Nothing ends a match that has begun. So a pattern sees a long text in
// pieces, shorter ones where it finds much, and between them one can stop. At
// worst a piece takes about 50 ms.
const (
	// pieceWork is how many bytes times steps of the pattern a piece has, and
	// findWork how many it may have times its finds.
	pieceWork = 1 << 19
	findWork  = 2 << 20
	// leastPiece and leastFinds hold whatever the pattern.
	leastPiece = 1 << 10
	leastFinds = 4
)

// find appends what the pattern finds. Between pieces it asks stop, if there is
// one, whether to go on.
func (p *redactPattern) find(spans []redactSpan, v []byte, stop func() error) []redactSpan {
	goOn := func() bool { return stop == nil || stop() == nil }
	for piece := range overlapping(v, 0, len(v), max(leastPiece, pieceWork/p.re.Steps()), goOn) {
		found, all := p.findIn(v, piece)
		if all {
			spans = append(spans, found...)
			continue
		}
		// Much is found: shorter pieces, of which the rest is removed.
		for short := range overlapping(v, piece.from, piece.to, leastPiece, goOn) {
			found, all := p.findIn(v, short)
			spans = append(spans, found...)
			if !all {
				spans = append(spans, redactSpan{found[len(found)-1].from, short.to, p.mark})
			}
		}
	}
	return spans
}

// findIn returns what the pattern finds in a piece, and whether that is all.
func (p *redactPattern) findIn(v []byte, piece redactSpan) (found []redactSpan, all bool) {
	text := v[piece.from:piece.to]
	if !p.re.Match(text) {
		return nil, true // as in nearly every text, without memory
	}
	most := max(leastFinds, findWork/(len(text)*p.re.Steps()))
	places := p.re.FindAllIndex(text, most)
	for _, at := range places {
		if at[0] < at[1] {
			found = append(found, redactSpan{piece.from + at[0], piece.from + at[1], p.mark})
		}
	}
	return found, len(places) < most || len(found) == 0
}

// overlapping yields the pieces of a part of the text. They overlap by a quarter:
// what is not longer is found whole, and what two pieces find of something longer
// becomes one.
func overlapping(v []byte, from, to, size int, goOn func() bool) iter.Seq[redactSpan] {
	return func(yield func(redactSpan) bool) {
		for ; ; from += size - size/4 {
			piece := redactSpan{from: runeStart(v, from), to: to}
			if from+size < to {
				piece.to = runeStart(v, from+size)
			}
			if !yield(piece) || piece.to == to || !goOn() {
				return
			}
		}
	}
}

// runeStart is at, or where the character begins that at is within.
func runeStart(v []byte, at int) int {
	for i := at; i > at-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(v[i]) {
			return i
		}
	}
	return at
}
