package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// fraction is a share that a flag gives: 0.02 or 2%.
type fraction float64

// UnmarshalText reads a share.
func (f *fraction) UnmarshalText(text []byte) error {
	digits, percent := strings.CutSuffix(strings.TrimSpace(string(text)), "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return fmt.Errorf("%q is not a number: use a fraction such as 0.02, or 2%%", text)
	}
	if percent {
		n /= 100
	}
	*f = fraction(n)
	return nil
}

// within refuses a share outside of bounds. A number above 1 is probably meant as
// a percentage.
func (f fraction) within(flag string, least, most float64) error {
	n := float64(f)
	if n >= least && n <= most {
		return nil
	}
	if n > 1 && n <= 100*most && n/100 >= least {
		return fmt.Errorf("--%s is %g, but must be from %g to %g: write %g%% or %g", flag, n, least, most, n, n/100)
	}
	return fmt.Errorf("--%s is %g, but must be from %g to %g: use a fraction such as 0.02, or 2%%", flag, n, least, most)
}
