package requirement

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Requirement is one condition of a gate: a threshold for a figure, or what its
// difference from a baseline must show.
type Requirement struct {
	Text   string
	Figure string
	// Quantile is that of the figure's values which a threshold is for, such as
	// 0.95 in p95(latency_ms)<=800; zero is their mean.
	Quantile float64
	// A threshold has one of >=, >, <= and <.
	Operator  string
	Threshold float64
	// A comparison has one of the claims.
	Claim Claim
}

// Claim is what a comparison can be required to show.
type Claim string

// The claims.
const (
	ClaimBetter      Claim = "better"
	ClaimNonInferior Claim = "non_inferior"
	ClaimEquivalent  Claim = "equivalent"
)

// NeedsMargin reports whether the claim is about a margin.
func (c Claim) NeedsMargin() bool { return c == ClaimNonInferior || c == ClaimEquivalent }

// Figures that every run has; all others are metrics.
const (
	PassRate = "pass_rate"
	Overall  = "overall"
)

var (
	figureName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.:-]{0,63}$`)
	quantile   = regexp.MustCompile(`^p([1-9][0-9]?(?:\.[0-9]{1,2})?)\(([^()]+)\)$`)
	threshold  = regexp.MustCompile(`^\s*([^<>=\s]+)\s*(>=|<=|>|<)\s*([^<>=\s]+)\s*$`)
)

// Parse reads a requirement such as pass_rate>=0.9, p95(latency_ms)<=800 or
// overall:non_inferior. A number may be a percentage: 90%.
func Parse(text string) (Requirement, error) {
	r := Requirement{Text: strings.TrimSpace(text)}
	if m := threshold.FindStringSubmatch(text); m != nil {
		r.Figure, r.Operator = m[1], m[2]
		if q := quantile.FindStringSubmatch(r.Figure); q != nil {
			percent, err := strconv.ParseFloat(q[1], 64)
			if err != nil {
				return r, fmt.Errorf("%q: %q is not a quantile", text, q[1])
			}
			r.Figure, r.Quantile = q[2], percent/100
		}
		digits, percent := strings.CutSuffix(m[3], "%")
		n, err := strconv.ParseFloat(digits, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return r, fmt.Errorf("%q: %q is not a number", text, m[3])
		}
		if r.Threshold = n; percent {
			r.Threshold /= 100
		}
		if share := r.Figure == PassRate || r.Figure == Overall; share && r.Quantile > 0 {
			return r, fmt.Errorf("%q: a quantile is of a metric's values; use %s itself", text, r.Figure)
		} else if share && (r.Threshold < 0 || r.Threshold > 1) {
			return r, fmt.Errorf("%q: %s is between 0 and 1: use a number such as 0.9, or 90%%", text, r.Figure)
		}
	} else if at := strings.LastIndex(r.Text, ":"); at > 0 { // names may have colons, too
		r.Figure, r.Claim = r.Text[:at], Claim(r.Text[at+1:])
		switch r.Claim {
		case ClaimBetter, ClaimNonInferior, ClaimEquivalent:
		default:
			return r, fmt.Errorf("%q: unknown comparison %q: use better, non_inferior or equivalent", text, r.Claim)
		}
	}
	if !figureName.MatchString(r.Figure) {
		return r, fmt.Errorf("%q is not a valid requirement: use one such as pass_rate>=0.9, p95(latency_ms)<=800 or overall:non_inferior", text)
	}
	return r, nil
}
