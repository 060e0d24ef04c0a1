package metric

import (
	"errors"
	"regexp"
	"regexp/syntax"
)

// Bounds of a regular expression. The engine is RE2: it takes time in
// proportion to the text and to the size of the expression, in which {1,1000}
// counts a thousandfold.
const (
	maxPattern     = 4 << 10
	maxPatternSize = 10_000
)

// costMatch is what a byte of text costs for each step of an expression.
const costMatch = 8

var (
	errPattern     = errors.New("must be a regular expression of the RE2 syntax")
	errPatternSize = errors.New("is a regular expression that is too large once its repetitions are written out")
)

// pattern is a compiled regular expression. It is safe for concurrent use.
type pattern struct {
	*regexp.Regexp
	size int64
}

// compilePattern compiles an expression after looking at how large it will be.
func compilePattern(text string) (*pattern, error) {
	if len(text) > maxPattern {
		return nil, errPatternSize
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, errPattern
	}
	size := patternSize(tree)
	if size > maxPatternSize {
		return nil, errPatternSize
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, errPattern
	}
	return &pattern{re, size}, nil
}

// patternSize estimates the steps of a compiled expression from above, and
// stops counting somewhere above maxPatternSize.
func patternSize(re *syntax.Regexp) int64 {
	size := int64(2)
	if re.Op == syntax.OpLiteral {
		size = int64(len(re.Rune))
	}
	for _, sub := range re.Sub {
		if size > maxPatternSize {
			return size
		}
		size += patternSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= int64(max(re.Min, re.Max, 1))
	}
	return size
}

// matches reports whether the text holds a match.
func (p *pattern) matches(w *work, text string) (bool, error) {
	if !w.spend(costMatch * p.size * int64(len(text)+100)) {
		return false, errTooCostly
	}
	return p.MatchString(text), nil
}
