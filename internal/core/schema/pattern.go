package schema

import (
	"errors"
	"regexp"
	"regexp/syntax"
)

// MaxPattern bounds the bytes of a regular expression.
const MaxPattern = 4 << 10

// maxPatternSize bounds the steps of a regular expression. The engine is RE2: it
// takes time in proportion to the text and to the size of the expression, in
// which {1,1000} counts a thousandfold.
const maxPatternSize = 10_000

// costMatch is what a byte of text costs for each step of an expression.
const costMatch = 8

var (
	errPattern     = errors.New("must be a regular expression of the RE2 syntax")
	errPatternSize = errors.New("is a regular expression that is too large once its repetitions are written out")
)

// Pattern is a compiled regular expression. It is safe for concurrent use.
type Pattern struct {
	*regexp.Regexp
	size int64
}

// CompilePattern compiles an expression after looking at how large it will be.
func CompilePattern(text string) (*Pattern, error) {
	if len(text) > MaxPattern {
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
	return &Pattern{re, size}, nil
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

// Steps is about how many steps the expression has once its repetitions are
// written out. A byte of text takes up to so many.
func (p *Pattern) Steps() int { return int(p.size) }

// Matches reports whether the text holds a match.
func (p *Pattern) Matches(w *Work, text string) (bool, error) {
	if !w.Spend(costMatch * p.size * int64(len(text)+100)) {
		return false, ErrTooCostly
	}
	return p.MatchString(text), nil
}
