package bench

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Figure is a ratio with what is wanted of it and the bound at which the bench
// fails.
type Figure struct {
	Name, Says  string
	Got         Ratio
	Goal, Bound float64
	// Short bounds a short run instead, where being short costs the ratio.
	Short float64
	// Least says that Goal and Bound are least values; otherwise less is better.
	Least bool
}

// Once is a ratio that was measured a single time.
func Once(ratio float64) Ratio { return Ratio{Median: ratio, Low: ratio, High: ratio, Rounds: 1} }

// String shows the figure, and whether it keeps its bound.
func (f Figure) String() string {
	word := "ceiling"
	if f.Least {
		word = "floor"
	}
	text := fmt.Sprintf("%s: %v; goal %.2f, %s %.2f", f.Says, f.Got, f.Goal, word, f.Bound)
	if f.Least && f.Got.Median < f.Bound || !f.Least && f.Got.Median > f.Bound {
		text += ": NOT REACHED"
	}
	return text
}

// Judge fails a whole run at its bound, and a short one if all of its interval
// is beyond.
func (f Figure) Judge() error {
	bound := f.Bound
	if !Whole() && f.Short != 0 {
		bound = f.Short
	}
	judge := f.Got.AtMost
	if f.Least {
		judge = f.Got.AtLeast
	}
	if err := judge(bound); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}

// Report measures figures one after another, each on engines that have gone
// quiet, and prints each as soon as it is known. The last lines are for
// machines. Every figure that is beyond its bound fails the test.
func Report(t testing.TB, measures ...func() Figure) {
	t.Helper()
	load := LoadAverage()
	lines, judged := make([]string, len(measures)), make([]error, len(measures))
	for i, measure := range measures {
		Quiet(t)
		f := measure()
		_, _ = fmt.Fprintln(os.Stdout, f)
		if !Whole() && !Raced && f.Judge() != nil {
			// A few rounds share what else the machine does; twice in a row it is the code.
			Quiet(t)
			f = measure()
			_, _ = fmt.Fprintln(os.Stdout, "once more:", f)
		}
		lines[i], judged[i] = fmt.Sprintf("%s ratio %.3f", f.Name, f.Got.Median), f.Judge()
	}
	most, err := PeakMemory(os.Getpid())
	require.NoError(t, err)
	_, _ = fmt.Fprintf(os.Stdout, "load average %s to %s; most memory of the bench itself %d MB\n%s\n", load, LoadAverage(), most>>20, strings.Join(lines, "\n"))
	if !Raced {
		require.NoError(t, errors.Join(judged...))
	}
}
