package metric_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/measure/metric"
)

func TestSimilarity(t *testing.T) {
	t.Parallel()
	const words = `{"method":"token_f1"}`
	runTrials(t, "similarity", map[string]trial{
		"the same text":                      {output: `"Paris"`, expected: `"Paris"`, want: 1},
		"three edits over seven characters":  {output: `"kitten"`, expected: `"sitting"`, want: 4.0 / 7, says: "3 edits over 7 characters"},
		"nothing in common":                  {output: `"abc"`, expected: `"xyz"`},
		"nothing at all":                     {output: `""`, expected: `"abc"`},
		"both are empty":                     {output: `""`, expected: `""`, want: 1},
		"white space":                        {output: `" a \n b "`, expected: `"a b"`, want: 1},
		"white space, exactly":               {params: `{"whitespace":"exact"}`, output: `"ab "`, expected: `"ab"`, want: 2.0 / 3},
		"letters in any case":                {params: `{"case":"insensitive"}`, output: `"ABC"`, expected: `"abc"`, want: 1},
		"characters, not bytes":              {output: `"日本語"`, expected: `"日本人"`, want: 2.0 / 3},
		"composed and decomposed":            {output: `"e\u0301"`, expected: `"\u00e9"`, want: 1},
		"objects by their canonical text":    {output: `{"b":1,"a":2}`, expected: `{"a":2,"b":1}`, want: 1},
		"a part":                             {params: `{"path":"/a"}`, output: `{"a":"abc"}`, expected: `"abd"`, want: 2.0 / 3},
		"by words, in any order":             {params: words, output: `"the cat sat"`, expected: `"Sat the CAT!"`, want: 1},
		"by words, some of them":             {params: words, output: `"the black cat"`, expected: `"the cat sat down"`, want: 4.0 / 7, says: "2 words in common, of 3"},
		"by words, each as often as it is":   {params: words, output: `"no no no"`, expected: `"no"`, want: 0.5},
		"by words, none":                     {params: words, output: `"yes"`, expected: `"no"`},
		"by words, Chinese by the character": {params: words, output: `"我爱你"`, expected: `"你爱我。"`, want: 1},
		"by words, only signs":               {params: words, output: `"!!"`, expected: `"??"`},
		"by words, the same signs":           {params: words, output: `"!!"`, expected: `"!!"`, want: 1},
		"by words, nothing against a word":   {params: words, output: `""`, expected: `"no"`},
		"the item's method":                  {output: `"b a"`, expected: `"a b"`, assertions: []string{`{"type":"similarity","method":"token_f1"}`}, want: 1},
		"no output":                          {expected: `"a"`, reason: metric.ReasonNoOutput},
		"no expected output":                 {output: `"a"`, reason: metric.ReasonNoExpectation},
	})
}

// The distance is checked against the table that defines it.
func TestSimilarityIsTheEditDistance(t *testing.T) {
	t.Parallel()
	m := find(t, "similarity", `{"whitespace":"exact"}`)
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.StringOfN(rapid.SampledFrom([]rune("abcé")), 0, 300, -1)
		a, b := few.Draw(t, "a"), few.Draw(t, "b")
		if rapid.Bool().Draw(t, "alike") { // a text and one that was made of it
			at := rapid.IntRange(0, len([]rune(a))).Draw(t, "at")
			b = string([]rune(a)[:at]) + few.Draw(t, "middle") + string([]rune(a)[at:])
		}
		longer := max(len([]rune(a)), len([]rune(b)))
		want := 1.0
		if longer > 0 {
			want = 1 - float64(distance([]rune(a), []rune(b)))/float64(longer)
		}
		got, ok := m.Score(metric.Case{Output: raw(text(a)), ExpectedOutput: raw(text(b))}).Value()
		require.True(t, ok)
		require.InDelta(t, want, got, 1e-12)
	})
}

func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		before := row[0]
		row[0] = i + 1
		for j, y := range b {
			step := before
			if x != y {
				step++
			}
			before, row[j+1] = row[j+1], min(step, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func TestSimilarityOfLongTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("All happy families are alike. ", 35_000) // a megabyte
	t.Run("a small change in a megabyte is found", func(t *testing.T) {
		t.Parallel()
		other := long[:500_000] + "?" + long[500_001:]
		trial{params: `{"whitespace":"exact"}`, output: text(long), expected: text(other), want: 1 - 1/float64(len(long))}.run(t, "similarity")
	})
	t.Run("two megabytes that differ throughout are not compared by characters", func(t *testing.T) {
		t.Parallel()
		trial{output: text(long), expected: text(strings.ToUpper(long)), reason: metric.ReasonTooCostly}.run(t, "similarity")
	})
	t.Run("they are by words", func(t *testing.T) {
		t.Parallel()
		trial{params: `{"method":"token_f1"}`, output: text(long), expected: text(strings.ToUpper(long)), want: 1}.run(t, "similarity")
	})
	t.Run("a hundred thousand letters of which no two are alike", func(t *testing.T) {
		t.Parallel()
		var a, b strings.Builder
		for i := range 20_000 {
			a.WriteRune(rune(0x4e00 + i))
			b.WriteRune(rune(0x4e00 + 19_999 - i))
		}
		s := find(t, "similarity", "").Score(trial{output: text(a.String()), expected: text(b.String())}.asCase())
		requireSound(t, find(t, "similarity", "").Definition(), s)
	})
}
