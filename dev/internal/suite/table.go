package suite

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// slowest is how many tests and packages the table names.
const slowest = 10

// A Step is a part of the checks, and how long it took or may take.
type Step struct {
	Name    string
	Seconds int
}

// ReadSteps reads lines of seconds and a name, in their order. Lines that begin
// with # are comments.
func ReadSteps(r io.Reader) ([]Step, error) {
	var steps []Step
	for lines := bufio.NewScanner(r); ; {
		if !lines.Scan() {
			return steps, lines.Err()
		}
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		number, name, _ := strings.Cut(line, " ")
		seconds, err := strconv.Atoi(number)
		if err != nil || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("%q is not a number of seconds and the name of a step", line)
		}
		steps = append(steps, Step{strings.TrimSpace(name), seconds})
	}
}

// A Run is a test, or a package if the name of the test is empty.
type Run struct {
	Package, Test string
	Seconds       float64
	Failed        bool
}

// ReadRuns reads what `go test -json` wrote: how long packages and tests took.
// Subtests are part of their test. The last line may be torn: a run that is killed
// has a table too.
func ReadRuns(r io.Reader) ([]Run, error) {
	var runs []Run
	for decoder := json.NewDecoder(r); ; {
		var event struct {
			Action, Package, Test string
			Elapsed               float64
		}
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return runs, nil
		} else if err != nil {
			return nil, err
		}
		if (event.Action == "pass" || event.Action == "fail") && event.Package != "" && !strings.Contains(event.Test, "/") {
			runs = append(runs, Run{event.Package, event.Test, event.Elapsed, event.Action == "fail"})
		}
	}
}

// Boots are how often the application was started, by kind (own or shared).
type Boots map[string]int

// ReadBoots reads a line for each boot: its kind, the package and the test.
func ReadBoots(r io.Reader) (Boots, error) {
	boots := Boots{}
	for lines := bufio.NewScanner(r); ; {
		if !lines.Scan() {
			return boots, lines.Err()
		}
		if fields := strings.Fields(lines.Text()); len(fields) > 0 {
			boots[fields[0]]++
		}
	}
}

// A Table is what there is to say about a run of the checks.
type Table struct {
	Steps, Budget []Step
	Tests         map[string][]Run // by the name of the file that they are from
	Boots         Boots
}

// Write prints the table.
func (t Table) Write(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	say := func(format string, args ...any) { fmt.Fprintf(tab, format, args...) }
	say("seconds\tbudget\t\n")
	for _, s := range t.Steps {
		budget, over := "-", ""
		if b, ok := find(t.Budget, s.Name); ok {
			budget = strconv.Itoa(b)
			if s.Seconds > b {
				over = "  over budget"
			}
		}
		say("%d\t%s\t  %s%s\n", s.Seconds, budget, s.Name, over)
	}
	for _, file := range slices.Sorted(maps.Keys(t.Tests)) {
		var tests, packages []Run
		failed := 0
		for _, r := range t.Tests[file] {
			switch {
			case r.Test == "":
				packages = append(packages, r)
				continue
			case r.Failed:
				failed++
			}
			tests = append(tests, r)
		}
		say("\t\t\n\t\t%s: %d tests, %d passed, %d failed\n", file, len(tests), len(tests)-failed, failed)
		say("\t\tthe slowest of %d packages\n", len(packages))
		for _, r := range longest(packages) {
			say("%.1f\t\t  %s\n", r.Seconds, r.Package)
		}
		say("\t\tthe slowest tests\n")
		for _, r := range longest(tests) {
			say("%.1f\t\t  %s %s\n", r.Seconds, r.Package, r.Test)
		}
	}
	if len(t.Boots) > 0 {
		var kinds []string
		sum := 0
		for _, kind := range slices.Sorted(maps.Keys(t.Boots)) {
			kinds = append(kinds, fmt.Sprintf("%d %s", t.Boots[kind], kind))
			sum += t.Boots[kind]
		}
		say("\t\t\n\t\tboots of the application: %d (%s)\n", sum, strings.Join(kinds, ", "))
	}
	return tab.Flush()
}

// Over says which steps took longer than their budget, worst first; it is empty
// if none did.
func (t Table) Over() string {
	type excess struct {
		Step
		budget int
	}
	var all []excess
	for _, s := range t.Steps {
		if b, ok := find(t.Budget, s.Name); ok && s.Seconds > b {
			all = append(all, excess{s, b})
		}
	}
	slices.SortStableFunc(all, func(a, b excess) int { return (b.Seconds - b.budget) - (a.Seconds - a.budget) })
	var words []string
	for _, e := range all {
		words = append(words, fmt.Sprintf("%s (%d of %d s)", e.Name, e.Seconds, e.budget))
	}
	return strings.Join(words, ", ")
}

func longest(runs []Run) []Run {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b Run) int {
		switch {
		case a.Seconds > b.Seconds:
			return -1
		case a.Seconds < b.Seconds:
			return 1
		}
		return 0
	})
	return runs[:min(len(runs), slowest)]
}

func find(steps []Step, name string) (int, bool) {
	i := slices.IndexFunc(steps, func(s Step) bool { return s.Name == name })
	if i < 0 {
		return 0, false
	}
	return steps[i].Seconds, true
}
