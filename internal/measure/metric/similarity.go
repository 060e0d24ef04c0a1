package metric

import (
	"fmt"
	"iter"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/schema"
)

const (
	methodLevenshtein = "levenshtein"
	methodTokenF1     = "token_f1"
)

func similarity() spec {
	return spec{
		Definition: share(Definition{
			Name:     "similarity",
			Summary:  "How much the output's text is like the expected one.",
			Needs:    []Need{NeedOutput, NeedExpectedOutput},
			Abstains: "The item has no output or no expected output, or the texts are too long to be compared by characters.",
			Parameters: []Parameter{
				{
					Name: "method", Type: String, Enum: []string{methodLevenshtein, methodTokenF1}, Default: jsontext.Value(`"levenshtein"`),
					Summary: "By characters, where their order counts, or by words, where it does not.",
				},
				whitespaceParameter(whitespaceCollapse), caseParameter, pathParameter, expectedPathParameter, expectedParameter,
			},
		}),
		build: func(_ *Registry, s settings) (scorer, []Problem) {
			return func(l *look) Score { return scoreSimilarity(l, s) }, checkPaths(s)
		},
	}
}

func scoreSimilarity(l *look, s settings) Score {
	output, expected, instead, ok := l.sides(s)
	if !ok {
		return instead
	}
	n := normal{s.text("whitespace"), s.text("case")}
	byTokens := s.text("method") == methodTokenF1
	if byTokens {
		n.letters = caseInsensitive
	}
	a, err := l.textual(output, n)
	if err != nil {
		return tooCostly()
	}
	b, err := l.textual(expected, n)
	if err != nil {
		return tooCostly()
	}
	if byTokens {
		return tokenF1(&l.work, a, b)
	}
	return levenshteinRatio(&l.work, a, b)
}

// levenshteinRatio is 1 − d/n: d is the least number of characters to insert,
// delete or replace, n the length of the longer text.
func levenshteinRatio(w *work, a, b string) Score {
	if a == b {
		return Scored(1, "")
	}
	x, y := []rune(a), []rune(b)
	longer := max(len(x), len(y))
	d, err := levenshtein(w, x, y)
	if err != nil {
		return tooCostly()
	}
	return Scored(1-float64(d)/float64(longer), fmt.Sprintf("%d edits over %d characters.", d, longer))
}

// levenshtein is the edit distance of two texts, by the bit-parallel algorithm
// of Myers (1999) in the form that Hyyrö (2003) gave it. It goes through the
// table of distances in bands of 64 rows; what passes from a band to the next is
// whether each cell at its lower edge is more or less than its left neighbour.
func levenshtein(w *work, a, b []rune) (int, error) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return len(b), nil
	}
	const rows, perCell = 64, 4
	bands := (len(a) + rows - 1) / rows
	if !w.Spend(perCell*int64(bands)*int64(len(b)) + 50*int64(len(a)+len(b))) {
		return 0, schema.ErrTooCostly
	}
	left, top, kinds := letters(a, b)
	where := make([]uint64, kinds) // the rows of a band in which each letter stands
	edge := make([]int8, len(b))
	for i := range edge {
		edge[i] = 1
	}
	for len(left) > 0 {
		in := left[:min(rows, len(left))]
		left = left[len(in):]
		for row, letter := range in {
			where[letter] |= 1 << row
		}
		band(where, top, edge, len(in)-1)
		for _, letter := range in {
			where[letter] = 0
		}
	}
	distance := len(a)
	for _, d := range edge {
		distance += int(d)
	}
	return distance, nil
}

// band takes a band of rows from left to right. edge comes in with the steps
// along the row above the band, and goes out with those along its last row.
func band(where []uint64, top []int32, edge []int8, last int) {
	more, less := ^uint64(0), uint64(0) // rows that are one more or less than the row above
	for i, letter := range top {
		step := uint64(edge[i]) // all ones for a step down
		up, down := step&^(step>>1)&1, step>>63
		match := where[letter]
		vertical := match | less
		match |= down
		diagonal := (((match & more) + more) ^ more) | match
		right, left := less|^(diagonal|more), more&diagonal
		edge[i] = int8(right>>last&1) - int8(left>>last&1)
		right, left = right<<1|up, left<<1|down
		more, less = left|^(vertical|right), right&vertical
	}
}

// letters numbers the characters of a from 1 on. In b, 0 stands for characters
// that a does not have.
func letters(a, b []rune) (x, y []int32, kinds int) {
	number := map[rune]int32{}
	x, y = make([]int32, len(a)), make([]int32, len(b))
	for i, c := range a {
		if number[c] == 0 {
			number[c] = int32(len(number) + 1)
		}
		x[i] = number[c]
	}
	for i, c := range b {
		y[i] = number[c]
	}
	return x, y, len(number) + 1
}

// tokenF1 is the harmonic mean of two shares: how many of the output's words
// are expected, and how many of the expected ones it has. Each word counts as
// often as it is there.
func tokenF1(w *work, output, expected string) Score {
	if !w.Spend(200 * int64(len(output)+len(expected))) {
		return tooCostly()
	}
	left := map[string]int{}
	want, made, common := 0, 0, 0
	for t := range tokens(expected) {
		left[t]++
		want++
	}
	for t := range tokens(output) {
		made++
		if n := left[t]; n > 0 {
			left[t] = n - 1
			common++
		}
	}
	if made+want == 0 {
		return binary(output == expected, "Neither text has words.")
	}
	return Scored(2*float64(common)/float64(made+want),
		fmt.Sprintf("%d words in common, of %d in the output and %d expected.", common, made, want))
}

// tokens cuts a text into words: runs of letters, digits and the marks on them.
// Scripts that are written without spaces give a token for each character.
func tokens(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from := -1
		for i, c := range text {
			word := unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c)
			single := c >= 0x0E00 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
			if (!word || single) && from >= 0 {
				if !yield(text[from:i]) {
					return
				}
				from = -1
			}
			switch {
			case word && single:
				if !yield(text[i : i+utf8.RuneLen(c)]) {
					return
				}
			case word && from < 0:
				from = i
			}
		}
		if from >= 0 {
			yield(text[from:])
		}
	}
}
