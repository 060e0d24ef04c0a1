package redact

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRulesAreBounded(t *testing.T) {
	t.Parallel()
	many := func(n int, pattern string) (rules []Rule) {
		for i := range n {
			rules = append(rules, Rule{Name: "x", Pattern: fmt.Sprintf(pattern, i)})
		}
		return rules
	}
	for name, c := range map[string]struct {
		rules   []Rule
		refused int
		want    error
	}{
		"a large pattern":     {[]Rule{{Name: "k", Key: "k"}, {Name: "x", Pattern: `[^ab]{0,1000}[yz]`}}, 1, errSteps},
		"repeated repetition": {[]Rule{{Name: "x", Pattern: `((a{1,9}){1,9}){1,9}`}}, 0, errSteps},
		"large ones together": {many(20, `[^ab]{0,200}%d`), 6, errAll},
		"many":                {many(MaxRules+1, `a%d`), MaxRules, errMany},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(c.rules)
			var refused *RuleError
			require.ErrorAs(t, err, &refused)
			require.ErrorIs(t, err, c.want)
			require.Equal(t, c.refused, refused.Rule)
		})
	}
	_, err := New(many(MaxRules, `a%d`))
	require.NoError(t, err)
}

// TestALongTextIsMatchedInPieces shows that everything that is shorter than the
// pieces overlap is found wherever it lies, and what is longer in full where its
// pieces match.
func TestALongTextIsMatchedInPieces(t *testing.T) {
	t.Parallel()
	r := redactRuled(t, Rule{Name: "x", Pattern: `<[a-z]{10,200}>`}, Rule{Name: "y", Pattern: `0+`})
	piece := pieceWork / r.patterns[0].re.Steps()
	secret := "<" + strings.Repeat("q", 150) + ">"
	for at := piece - 400; at < piece+400; at += 7 {
		text := strings.Repeat("é", at/2) + secret + strings.Repeat("é", piece)
		out, changed := r.Text(nil, []byte(text))
		require.True(t, changed)
		require.Equal(t, strings.Repeat("é", at/2)+"[redacted:x]"+strings.Repeat("é", piece), string(out), at)
	}
	out, _ := r.Text(nil, []byte("a"+strings.Repeat("0", 5<<20)+"b"))
	require.Equal(t, "a[redacted:y]b", string(out))
}

// TestPatternsTakeBoundedTime uses the worst patterns that are taken, on texts
// for which they are worst.
//
//nolint:paralleltest // it measures time
func TestPatternsTakeBoundedTime(t *testing.T) {
	const most = 2 * time.Second // about 50 ms, on a machine that does much else
	for pattern, char := range map[string]string{
		`[^ab]{0,240}[yz]`:             "c",
		`x(?:.{0,40}.{0,40}.{0,40}y)?`: "x",
		`x[^y]*y|x`:                    "x",
		`(?:(?:a?){9}){9}b`:            "a",
	} {
		p, err := newRedactPattern("[x]", pattern)
		require.NoError(t, err)
		text := []byte(strings.Repeat(char, 1<<20))
		var longest time.Duration
		last := time.Now()
		pieces := 0
		p.find(nil, text, func() error {
			longest = max(longest, time.Since(last))
			last = time.Now()
			if pieces++; pieces >= 5 {
				return errors.New("enough")
			}
			return nil
		})
		require.Less(t, longest, most, pattern)
	}
}

// TestWhatCannotBeLookedAtIsRemoved fills a piece with finds.
func TestWhatCannotBeLookedAtIsRemoved(t *testing.T) {
	t.Parallel()
	p, err := newRedactPattern("[x]", `x(?:.{0,40}.{0,40}.{0,40}y)?|secret`)
	require.NoError(t, err)
	text := []byte(strings.Repeat("x", 20<<10) + "secret")
	out := redactReplace(nil, text, p.find(nil, text, nil))
	require.NotContains(t, string(out), "secret")
	require.Empty(t, bytes.ReplaceAll(out, []byte("[x]"), nil))
}
