package terminal

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// duration is a length of time in at most six columns.
func duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" // an end before its start: two clocks
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < 10*time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	case d < 100*24*time.Hour:
		return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// count is a number in at most five columns.
func count(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	value := float64(n)
	for _, unit := range []string{"k", "M", "G", "T"} {
		value /= 1000
		switch {
		case value < 99.95:
			return fmt.Sprintf("%.1f%s", value, unit)
		case value < 999.5:
			return fmt.Sprintf("%.0f%s", value, unit)
		}
	}
	return "many"
}

// cost is an amount of dollars in at most seven columns, empty if it is not
// known.
func cost(usd *float64) string {
	switch {
	case usd == nil || math.IsNaN(*usd) || *usd < 0:
		return ""
	case *usd == 0:
		return "$0"
	case *usd < 0.0001:
		return "<$.0001"
	case *usd < 0.99995:
		return fmt.Sprintf("$%.4f", *usd)
	case *usd < 999.995:
		return fmt.Sprintf("$%.2f", *usd)
	case *usd < 999_999.5:
		return fmt.Sprintf("$%.0f", *usd)
	}
	return "$" + count(int64(min(*usd, 1e18)))
}

// Tokens is how many tokens went in and came out.
type Tokens struct{ In, Out int64 }

// flow is what went in and what came out, empty if neither did.
func (t Tokens) flow() string {
	if t.In == 0 && t.Out == 0 {
		return ""
	}
	return count(t.In) + "→" + count(t.Out)
}

// ago says how long before now something was.
func ago(now, at time.Time) string {
	d := now.Sub(at)
	before, after := "", " ago"
	if d < 0 {
		d, before, after = -d, "in ", ""
	}
	switch {
	case d < 5*time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%s%d s%s", before, d/time.Second, after)
	case d < time.Hour:
		return fmt.Sprintf("%s%d min%s", before, d/time.Minute, after)
	case d < 48*time.Hour:
		return fmt.Sprintf("%s%d h%s", before, d/time.Hour, after)
	}
	return fmt.Sprintf("%s%d d%s", before, d/(24*time.Hour), after)
}

// plural is a number and what it counts.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
