package redact

import (
	"time"
	"unicode/utf8"
)

// A pattern is matched in time that is proportional to the text and to the size
// of the pattern, and nothing ends a match that has begun. So a pattern sees a
// long text in pieces, and between them one can stop.
const (
	// pieceWork is how many bytes times steps of the pattern a piece has. Each
	// takes up to 15 ns.
	pieceWork = 1 << 20
	// leastPiece is how long a piece is whatever the pattern.
	leastPiece = 2 << 10
	// patience is how long finding some in a piece may take before twice as many
	// are looked for. Looking for one may read the piece to its end, so many can
	// take long where a few do not.
	patience = 25 * time.Millisecond
	fewFinds = 8
)

// find appends what the pattern finds. Pieces overlap by a quarter: what is not
// longer is found whole, and what two pieces find of something longer becomes
// one.
func (p *redactPattern) find(spans []redactSpan, v []byte, stop func() error) []redactSpan {
	size := max(leastPiece, pieceWork/p.re.Steps())
	for from := 0; ; from += size - size/4 {
		begin, end := runeStart(v, from), len(v)
		if from+size < len(v) {
			end = runeStart(v, from+size)
		}
		spans = p.findIn(spans, v[begin:end], begin)
		if end == len(v) || stop != nil && stop() != nil {
			return spans
		}
	}
}

// findIn appends what the pattern finds in a piece that begins at at. A piece in
// which finding takes too long is removed from there on.
func (p *redactPattern) findIn(spans []redactSpan, v []byte, at int) []redactSpan {
	began := time.Now()
	for most := 1; ; most *= 2 {
		found := p.re.FindAllIndex(v, most)
		all := len(found) < most
		if !all && (most < fewFinds || time.Since(began) < patience) {
			continue
		}
		for _, f := range found {
			if f[0] < f[1] {
				spans = append(spans, redactSpan{at + f[0], at + f[1], p.mark})
			}
		}
		if !all {
			spans = append(spans, redactSpan{at + found[len(found)-1][0], at + len(v), p.mark})
		}
		return spans
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
