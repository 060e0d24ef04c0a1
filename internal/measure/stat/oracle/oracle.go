// Package oracle compares functions with what other libraries make of the same
// inputs. Tests use it; the folder has the programs that ask the libraries.
package oracle

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// folder names the folder with the cases; the script run sets it.
const folder = "ASSAY_STAT_ORACLE"

// The relative distance at which a number differs from the oracle's, unless a
// case allows more, and what is as good as zero.
const (
	tolerance = 1e-9
	zero      = 1e-11
)

// Outputs are the numbers that a call gave, under the names of the oracle.
type Outputs = map[string]any

// Function computes the outputs of a case from its input.
type Function func(in json.RawMessage) (Outputs, error)

// Asking makes a function of one that reads its own inputs.
func Asking[T any](f func(in T) (Outputs, error)) Function {
	return func(raw json.RawMessage) (Outputs, error) {
		var in T
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, err
		}
		return f(in)
	}
}

// Together joins outputs.
func Together(parts ...Outputs) Outputs {
	all := Outputs{}
	for _, p := range parts {
		maps.Copy(all, p)
	}
	return all
}

// call is one case: what went in, and what a reference library makes of it.
type call struct {
	Function string          `json:"f"`
	In       json.RawMessage `json:"in"`
	Out      Outputs         `json:"out"`
}

// Compare runs the cases of a package through its functions and fails where they
// make something else of them. It also tries wrong numbers, and fails unless it
// notices each.
func Compare(t *testing.T, name string, functions map[string]Function) {
	t.Helper()
	from := os.Getenv(folder)
	if from == "" {
		t.Skip("no cases: run internal/measure/stat/oracle/run") //nolint:forbidigo // the cases need Python; the command that has it runs this test
	}
	file, err := os.Open(filepath.Join(from, name)) //nolint:gosec // the script that runs the tests names the folder
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	count, wrong, sabotaged, caught := map[string]int{}, 0, 0, 0
	lines := json.NewDecoder(bufio.NewReader(file))
	for n := 1; ; n++ {
		var c call
		err := lines.Decode(&c)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, "case %d", n)
		f, ok := functions[c.Function]
		require.True(t, ok, "there is no function %s", c.Function)
		got, err := f(c.In)
		require.NoError(t, err, "case %d of %s: %.600s", n, c.Function, c.In)
		if bad := differ(c.Out, got); bad != "" {
			wrong++
			if wrong <= 20 {
				t.Logf("case %d, %s: %s\n%.600s", n, c.Function, bad, c.In)
			}
		}
		// A check that cannot fail checks nothing.
		if lie := lie(c.Out); lie != nil && count[c.Function] < 5 {
			sabotaged++
			if differ(lie, got) != "" {
				caught++
			}
		}
		count[c.Function]++
	}
	cases := 0
	for _, n := range count {
		cases += n
	}
	t.Logf("sabotaged %d caught %d", sabotaged, caught)
	t.Logf("stat-oracle %s functions %d cases %d mismatches %d", name, len(count), cases, wrong)
	require.Zero(t, wrong)
	require.Len(t, count, len(functions), "functions that the generator knows")
	require.GreaterOrEqual(t, sabotaged, len(count))
	require.Equal(t, sabotaged, caught, "a wrong number has to be noticed")
}

// lie moves one number by a little more than is allowed.
func lie(out Outputs) Outputs {
	for _, key := range slices.Sorted(maps.Keys(out)) {
		x, ok := out[key].(float64)
		if !ok || key == "tolerance" || key == "absolute" {
			continue
		}
		lie := maps.Clone(out)
		lie[key] = x + 2.5*allowed(out, x)
		return lie
	}
	for key := range out { // lists
		if list, ok := out[key].([]any); ok && len(list) > 0 {
			wrong := slices.Clone(list)
			wrong[0] = wrong[0].(float64) + 1e-6
			return Outputs{key: wrong}
		}
	}
	return nil
}

func allowed(out Outputs, x float64) float64 {
	if a, ok := out["absolute"].(float64); ok {
		return a
	}
	relative := tolerance
	if v, ok := out["tolerance"].(float64); ok {
		relative = v
	}
	return math.Max(zero, relative*math.Abs(x))
}

// differ says how what was got differs from what was wanted, or nothing.
func differ(want, got Outputs) string {
	for key, w := range want {
		if key == "tolerance" || key == "absolute" {
			continue
		}
		g, ok := got[key]
		if !ok {
			return "has no " + key
		}
		if p, ok := g.(*float64); ok {
			g = nil
			if p != nil {
				g = *p
			}
		}
		switch w := w.(type) {
		case float64:
			x, ok := g.(float64)
			if !ok || math.IsNaN(x) || math.Abs(x-w) > allowed(want, w) {
				return fmt.Sprintf("%s is %v and should be %v", key, g, w)
			}
		case []any:
			list, _ := g.([]float64)
			if len(list) != len(w) {
				return fmt.Sprintf("%s is %v and should be %v", key, g, w)
			}
			for i := range w {
				if x := w[i].(float64); math.Abs(list[i]-x) > allowed(want, x) {
					return fmt.Sprintf("%s[%d] is %v and should be %v", key, i, list[i], x)
				}
			}
		default:
			if fmt.Sprint(g) != fmt.Sprint(w) {
				return fmt.Sprintf("%s is %v and should be %v", key, g, w)
			}
		}
	}
	return ""
}
