package redact

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRedactPatterns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ pattern, text, want string }{
		"a literal":                       {`EMP-\d{6}`, "by EMP-123456.", "by [redacted:x]."},
		"the text as it was sent":         {`^secret .*$`, "secret sk-" + redactDrawn(600, base62, 48), "[redacted:x]"},
		"overlapping finds become one":    {`key: sk-\w{5}`, "a key: sk-" + redactDrawn(600, base62, 48) + " b", "a [redacted:x] b"},
		"the longest of equal beginnings": {`sk-\w{5}`, "sk-" + redactDrawn(600, base62, 48) + " b", "[redacted:openai_key] b"},
		"either case":                     {`(?i)case no\. \d+`, "CASE No. 17", "[redacted:x]"},
		"the long s":                      {`(?i)case \d+`, "caſe 17", "[redacted:x]"},
		"the Kelvin sign":                 {`(?i)kilo\d+`, "\u212Ailo5", "[redacted:x]"},
		"a choice":                        {`(?:EMP|CUST)-\d+`, "CUST-5 EMP-6", "[redacted:x] [redacted:x]"},
		"no literal":                      {`\d{3}-\d{2}-\d{4}`, "ssn 078-05-1120", "ssn [redacted:x]"},
		"nothing is not removed":          {`z*`, "azb", "a[redacted:x]b"},
		"a secret that a removal bares":   {`x+`, "xxxsk-" + redactDrawn(600, base62, 48), "[redacted:x][redacted:openai_key]"},
		"not ASCII":                       {`Größe \d+`, "Größe 5", "[redacted:x]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := redactRuled(t, Rule{Name: "x", Pattern: c.pattern})
			out, changed := r.Text(nil, []byte(c.text))
			require.Equal(t, c.want, string(out))
			require.True(t, changed)
		})
	}

	t.Run("an escaped long s is found in a document", func(t *testing.T) {
		t.Parallel()
		r := redactRuled(t, Rule{Name: "x", Pattern: `(?i)case \d+`})
		out, changed := r.JSONText(nil, []byte(`["ca\u017Fe 17"]`))
		require.True(t, changed)
		require.Equal(t, `["[redacted:x]"]`, string(out))
	})
}

func TestRedactRequiredLiterals(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`EMP-\d{6}`:              "EMP-",
		`\bacct_[0-9a-f]{12}\b`:  "acct_",
		`(?i)Case File \d+`:      "case file  ?ſ",
		`(?i)Token`:              "token ?\u212a",
		`(abc|defg)+x`:           "abc|defg",
		`(abc|\d)x`:              "x",
		`a?bc*`:                  "b",
		`(?:foo){2,}`:            "foo",
		`(?:foo){0,2}`:           "",
		`\d+`:                    "",
		`.*`:                     "",
		``:                       "",
		`[Aa]bc`:                 "bc",
		`"name": "x"`:            `name`,
		`a/bcd`:                  "bcd",
		`Größe`:                  "Gr",
		`ab|cd|`:                 "",
		`^abc$`:                  "abc",
		`(?P<n>long literal)|xy`: "long literal|xy",
	} {
		p, err := newRedactPattern("", pattern)
		require.NoError(t, err)
		var got, odd []string
		for _, n := range p.needles {
			if n.text[0] >= 0x80 {
				odd = append(odd, "?"+string(n.text))
			} else {
				got = append(got, string(n.text))
			}
		}
		text := strings.Join(append([]string{strings.Join(got, "|")}, odd...), " ")
		require.Equal(t, want, text, pattern)
	}
}

// The search for a needle finds what the standard library finds.
func TestRedactNeedles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-cA-C_ "]{0,60}`).Draw(t, "text")
		piece := redactPiece{text: rapid.StringMatching(`[a-cA-C_]{1,5}`).Draw(t, "piece"), fold: rapid.Bool().Draw(t, "fold")}
		n := newRedactNeedle(piece)
		n.then = rapid.SampledFrom([]string{"", `"`, "a_"}).Draw(t, "then")

		pattern := regexp.QuoteMeta(piece.text)
		if n.then != "" {
			pattern += "[" + n.then + "]"
			if piece.fold {
				pattern = "(?i:" + regexp.QuoteMeta(piece.text) + ")[" + n.then + "]"
			}
		} else if piece.fold {
			pattern = "(?i)" + pattern
		}
		require.Equal(t, regexp.MustCompile(pattern).MatchString(text), n.in([]byte(text)))
	})
}

// No prefilter hides a match: a pattern behind it removes what it removes alone.
func TestRedactPrefilterOfPatterns(t *testing.T) {
	t.Parallel()
	patterns := []string{`ab+c`, `(?i)ab+c`, `(a|bb)c`, `a.c`, `(?i)(ak|s)b`, `(?:abc)?d`, `[ab]{2}c`, `(ab|c){2}`, `a\Q"\Eb`}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SampledFrom(patterns).Draw(t, "pattern")
		text := rapid.StringMatching(`[abcdskABCK"ſK ]{0,40}`).Draw(t, "text")
		p, err := newRedactPattern("", pattern)
		require.NoError(t, err)
		if p.re.MatchString(text) && len(p.needles) > 0 {
			require.True(t, redactAny(p.needles, []byte(text)))
		}
	})
}
