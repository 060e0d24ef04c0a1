package detect_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/detect"
)

func TestGist(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"":                               "",
		" \n\t":                          "",
		"Connection refused":             "connection refused",
		"took 12.5s, limit 10":           "took # limit #",
		"rows 1,000 of -3":               "rows # of #",
		"order A-17 not found":           "order # not found",
		`unknown field "colour" in body`: "unknown field # in body",
		"unknown field 'it' in `body`":   "unknown field # in #",
		"don't repeat what you can't do": "don t repeat what you can t do",
		"the users' rows":                "the users rows",
		`a "quote that does not end`:     "a quote that does not end",
		"GET https://api.example.com/v1/x?a=b failed":                "get # failed",
		"run 6f1e2a3b-0c4d-4e5f-8a9b-0c1d2e3f4a5b ended":             "run # ended",
		"run deadbeef-cafe-babe-feed-facedeadbeef ended":             "run # ended",
		"at 2026-03-02T10:00:00.123+02:00: closed":                   "at # closed",
		"since Mon, 02 Mar 2026 10:00:00 GMT closed":                 "since # gmt closed",
		"since March 2, 2026 closed":                                 "since # closed",
		"call_abc123 and req_011CQx and 0x7ffe and deadbeef":         "# and # and # and #",
		"rate_limit_exceeded: retry":                                 "rate_limit_exceeded retry",
		"a decade of facades":                                        "a decade of facades",
		"issue #42 of #43":                                           "issue # of #",
		"[1, 2, 3] is not [4, 5]":                                    "# is not #",
		"Größe ½ überschritten":                                      "größe # überschritten",
		"you may retry":                                              "you may retry",
		`{"code": 7, "detail": "x"} was refused`:                     "# was refused",
		"bad \xff\xfe bytes":                                         "bad bytes",
		strings.Repeat("word ", 80):                                  strings.TrimSpace(strings.Repeat("word ", 50)),
		strings.Repeat("12 ", 80) + "end":                            "# end",
		"panic: runtime error: index out of range [5] with length 3": "panic runtime error index out of range # with length #",
		"dial tcp 10.0.0.7:5432: connect: connection refused":        "dial tcp # connect connection refused",
		"-- _ - __":                 "",
		"\"a \\\" b\" is not \"c\"": "# is not #",
		"“curly” and ‘single’ and «angled» quotes":          "# and # and # quotes",
		"postgres://user:secret@db/x?y=1, and nothing else": "# and nothing else",
		"timeout after 30 seconds":                          "timeout after # seconds",
		"decimal 5 is not of the market 7":                  "decimal # is not of the market #",
	} {
		require.Equal(t, want, detect.Gist(message), message)
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()

	t.Run("it is the same tomorrow", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, "fp_c08d652cdfb5318108fd3746", detect.Fingerprint("tool_timeout", "agent", "search", "no reply after 30 s"))
	})

	t.Run("mode, runtime, tool and message tell failures apart", func(t *testing.T) {
		t.Parallel()
		seen := map[string][]string{}
		words := []string{"", "a", "b", "ab", "a b", "1:a"}
		for _, mode := range words {
			for _, runtime := range words {
				for _, tool := range words {
					for _, message := range []string{"", "a", "b", "ab", "a b"} {
						fp := detect.Fingerprint(mode, runtime, tool, message)
						require.Empty(t, seen[fp])
						seen[fp] = []string{mode, runtime, tool, message}
					}
				}
			}
		}
	})
}

// TestStable shows that what differs from time to time makes no difference, whatever it
// is replaced by.
func TestStable(t *testing.T) {
	t.Parallel()
	forms := []string{
		"request %s failed", "%s", "order %s: %s of %s", "(%s) [%s] {%s}", "no reply from %s after %s, see %s", "id=%s status=%s", "attempt %s.", "a\n%s\nb",
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 1_000 {
		form := forms[r.IntN(len(forms))]
		fill := func() string {
			var with []any
			for range strings.Count(form, "%s") {
				with = append(with, varying(r))
			}
			return fmt.Sprintf(form, with...)
		}
		one, other := fill(), fill()
		require.Equal(t, detect.Gist(one), detect.Gist(other), "%q\n%q", one, other)
		require.Equal(t, detect.Fingerprint("loop", "r", "t", one), detect.Fingerprint("loop", "r", "t", other))
		require.NotEqual(t, detect.Fingerprint("loop", "r", "t", one), detect.Fingerprint("other", "r", "t", one))
		require.NotEqual(t, detect.Fingerprint("loop", "r", "t", one), detect.Fingerprint("loop", "r", "t2", one))
		require.NotEqual(t, detect.Fingerprint("loop", "r", "t", one), detect.Fingerprint("loop", "r2", "t", one))
	}
}

// varying is something that differs from time to time.
func varying(r *rand.Rand) string {
	bytes := make([]byte, 16)
	for i := range bytes {
		bytes[i] = byte(r.Uint32())
	}
	digits := hex.EncodeToString(bytes)
	at := time.Unix(r.Int64N(4e9), r.Int64N(1e9)).UTC()
	switch r.IntN(12) {
	case 0:
		return strconv.Itoa(r.IntN(1e6))
	case 1:
		return strconv.FormatFloat(-r.Float64()*1e4, 'g', -1, 64)
	case 2:
		return digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
	case 3:
		return digits[:8+r.IntN(24)]
	case 4:
		return "0x" + strings.ToUpper(digits[:4+r.IntN(8)])
	case 5:
		return `"` + strings.Repeat("x y", r.IntN(4)) + `"`
	case 6:
		return "'" + strings.Repeat("some text ", r.IntN(3)) + "'"
	case 7:
		return "https://example.com/" + digits[:4] + "?q=" + digits[:2]
	case 8:
		return at.Format(time.RFC3339Nano)
	case 9:
		return at.Format("2006-01-02 15:04:05")
	case 10:
		return at.Format("2 January 2006")
	default:
		return "call_" + digits[:6] + "7"
	}
}

// FuzzFingerprint shows that no message makes it panic, that its form is always the
// same, and that the gist of a gist is the gist.
func FuzzFingerprint(f *testing.F) {
	for _, seed := range [][4]string{
		{"tool_timeout", "agent", "search", `no reply from "x" after 30 s at 2026-03-02T10:00:00Z`},
		{"", "", "", ""},
		{"other", "r", "t", "'a' 'b 'c''d' \"\\\" ` “ ‘ « https:// İ ǅ Ⅷ ½ ªº ̇"},
		{"loop", "a\x00b", "\xff", "Mon, 02 Mar 2026 may 5 -_- # ## #a a# --1"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Add("other", "r", "t", strings.Repeat("Ⱥ", 9_000))
	f.Add("other", "r", "t", strings.Repeat("a", 150)+"z "+strings.Repeat("x", 99)+"-y "+strings.Repeat("-", 150)+"b")
	f.Fuzz(func(t *testing.T, mode, runtime, tool, message string) {
		fp := detect.Fingerprint(mode, runtime, tool, message)
		require.Regexp(t, `^fp_[0-9a-f]{24}$`, fp)
		require.Equal(t, fp, detect.Fingerprint(mode, runtime, tool, message))

		gist := detect.Gist(message)
		require.Equal(t, gist, detect.Gist(gist))
		require.Equal(t, fp, detect.Fingerprint(mode, runtime, tool, gist))
		require.LessOrEqual(t, len(strings.Fields(gist)), 50)
	})
}
