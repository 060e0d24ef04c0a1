package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/stat"
)

// excerpt is the beginning of a text.
type excerpt struct {
	Text string
	More int // characters that were cut off
}

const excerptLength = 480

// excerptOf is the beginning of a value: of the text itself if it is one.
func excerptOf(v jsontext.Value) excerpt {
	if len(v) == 0 || v.Kind() == 'n' {
		return excerpt{}
	}
	return shorten(plain(v), excerptLength)
}

// plain is the text of a JSON string, and any other value as JSON.
func plain(v jsontext.Value) string {
	if v.Kind() == '"' {
		if text, err := jsontext.AppendUnquote(nil, v); err == nil {
			return string(text)
		}
	}
	return string(v)
}

// shorten cuts a text and shows signs that would hide or turn round what
// follows them.
func shorten(text string, most int) excerpt {
	var b strings.Builder
	n := 0
	for i, r := range text {
		if n == most {
			return excerpt{b.String(), utf8.RuneCountInString(text[i:])}
		}
		if r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r)) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
		n++
	}
	return excerpt{Text: b.String()}
}

// grouped writes a number with commas between thousands.
func grouped[T int | int64](n T) string {
	text := strconv.FormatInt(int64(n), 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// scale is how the values of a figure are written.
type scale struct {
	percent bool
	unit    string
}

func scaleOf(d Metric) scale { return scale{percent: d.Kind == metric.Binary, unit: d.Unit} }

func (s scale) text(v float64) string {
	switch {
	case s.percent:
		return share(v)
	case s.unit == "ms" && math.Abs(v) >= 10_000:
		return decimals(v/1000, 1) + " s"
	case s.unit == "ms":
		return digits(v) + " ms"
	case s.unit == "usd":
		return "$" + digits(v)
	case s.unit != "":
		return digits(v) + " " + s.unit
	}
	return decimals(v, 3)
}

// share writes a share in percent. Only what is everything reads as 100%, and only
// what is nothing as 0%.
func share(v float64) string {
	for n := 1; ; n++ {
		text := decimals(100*v, n)
		whole := strings.Trim(text, "0.") == "" && v != 0 || strings.TrimRight(text, "0.") == "1" && len(strings.SplitN(text, ".", 2)[0]) == 3 && v != 1
		if !whole || n == 6 {
			return text + "%"
		}
	}
}

// signed writes a difference.
func (s scale) signed(v float64) string {
	sign := "+"
	if v < 0 {
		sign = "−"
	}
	v = math.Abs(v)
	text := s.text(v)
	if s.percent {
		text = decimals(100*v, 1) + " pts"
	}
	if strings.Trim(text, "0.$ %mspt") == "" {
		sign = "±"
	}
	return sign + text
}

func decimals(v float64, n int) string {
	text := strconv.FormatFloat(v, 'f', n, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	return strings.Replace(text, "-", "−", 1)
}

// digits writes a number of any size with three digits.
func digits(v float64) string {
	a := math.Abs(v)
	switch {
	case a == 0:
		return "0"
	case a >= 1000:
		return grouped(int64(math.Round(v)))
	case a >= 100:
		return decimals(v, 0)
	case a >= 10:
		return decimals(v, 1)
	case a >= 1e-9:
		// As many decimals as show three digits, and no zeros behind them.
		return strings.TrimRight(strings.TrimRight(decimals(v, 2-int(math.Floor(math.Log10(a)))), "0"), ".")
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// usd writes an amount of money.
func usd(nano int64) string {
	v := float64(nano) / 1e9
	if v == 0 || v >= 1 {
		return "$" + strconv.FormatFloat(v, 'f', 2, 64)
	}
	return "$" + digits(v)
}

// took writes how long something took.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return decimals(d.Seconds(), 1) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

func moment(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// methods are the names of intervals in words.
var methods = map[string]string{
	"t": "Student’s t", "clustered_t": "Student’s t over clusters", "within_item_t": "Student’s t within items", "wilson": "Wilson",
	"wilson_neff_t": "Wilson at the effective n", "newcombe_paired": "Newcombe for pairs", "zero_variance_bound": "bound without variation",
	"ppi_adjusted_t": "Student’s t of the corrected mean", "active_ppi_adjusted_t": "Student’s t of the corrected mean", "adjusted_wald": "adjusted Wald",
	"adjusted_t": "adjusted Student’s t", "percentile": "percentiles of resampling", "gaffke": "Gaffke", "bonett_wright": "Bonett and Wright",
	"wilson_neff": "Wilson at the effective n", "jeffreys": "Jeffreys", "jackknife_t": "jackknife", "wald": "Wald",
	"order_statistics": "order statistics", "order_statistics_neff": "order statistics at the effective n",
}

func methodName(method string) string {
	if name, ok := methods[method]; ok {
		return name
	}
	return strings.ReplaceAll(method, "_", " ")
}

// basis says what a figure rests on: its interval, n and method, or why there is
// none.
func (s scale) basis(e stat.Estimate) string {
	parts := []string{}
	switch ci := e.CI; {
	case e.Value == nil:
		parts = append(parts, "no value: "+why(e))
	case ci == nil:
		parts = append(parts, "no interval: "+why(e))
	default:
		parts = append(parts, decimals(100*ci.Level, trailing(100*ci.Level))+"% CI "+s.between(ci))
	}
	parts = append(parts, "n "+grouped(e.N))
	if e.Clusters != e.N && e.Clusters > 0 {
		parts = append(parts, grouped(e.Clusters)+" independent")
	}
	if e.CI != nil {
		parts = append(parts, methodName(e.CI.Method))
	}
	return strings.Join(parts, " · ")
}

func trailing(v float64) int {
	if v == math.Trunc(v) {
		return 0
	}
	return 1
}

func (s scale) between(ci *stat.Interval) string {
	switch {
	case ci.Lower == nil && ci.Upper == nil:
		return "unbounded"
	case ci.Lower == nil:
		return "up to " + s.text(*ci.Upper)
	case ci.Upper == nil:
		return "from " + s.text(*ci.Lower)
	}
	return s.text(*ci.Lower) + " to " + s.text(*ci.Upper)
}

// why is the reason for what an estimate lacks.
func why(e stat.Estimate) string {
	if len(e.Warnings) > 0 {
		return e.Warnings[0]
	}
	return string(e.Status)
}

// missing says how many scores are missing, and what they could change.
func (s scale) missing(e stat.Estimate) string {
	m := e.Missing
	if m == nil || m.Rows == 0 {
		return ""
	}
	text := fmt.Sprintf("%s of the scores missing (%s)", decimals(100*m.Share, 1)+"%", grouped(m.Rows))
	if m.Lower != nil && m.Upper != nil {
		text += ", value between " + s.text(*m.Lower) + " and " + s.text(*m.Upper) + " had they been there"
	}
	return text
}
