package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTheTable(t *testing.T) {
	steps, err := ReadSteps(strings.NewReader("12 system packages\n7 lint\n480 test\n501 total\n"))
	if err != nil {
		t.Fatal(err)
	}
	budget, err := ReadSteps(strings.NewReader("# comment\n\n5 system packages\n   60 lint\n300 test\n400 total\n"))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := ReadRuns(strings.NewReader(`{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestSlow"}
{"Action":"pass","Package":"m/a","Test":"TestSlow/part","Elapsed":9}
{"Action":"pass","Package":"m/a","Test":"TestSlow","Elapsed":2.25}
{"Action":"fail","Package":"m/b","Test":"TestSlower","Elapsed":3.5}
{"Action":"pass","Package":"m/a","Elapsed":4}
{"Action":"fail","Package":"m/b","Elapsed":3.75}
{"Action":"output","Package":"m/c","Outp`))
	if err != nil {
		t.Fatal(err)
	}
	boots, err := ReadBoots(strings.NewReader("own m/a TestSlow\nshared m/b TestSlower\nown m/b TestSlower\n"))
	if err != nil {
		t.Fatal(err)
	}
	table := Table{Steps: steps, Budget: budget, Tests: map[string][]Run{"test": runs}, Boots: boots}
	var out strings.Builder
	if err := table.Write(&out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"seconds budget",
		"12 5 system packages over budget",
		"7 60 lint",
		"480 300 test over budget",
		"501 400 total over budget",
		"", "test: 2 tests, 1 passed, 1 failed",
		"the slowest of 2 packages",
		"4.0 m/a",
		"3.8 m/b",
		"the slowest tests",
		"3.5 m/b TestSlower",
		"2.2 m/a TestSlow",
		"", "boots of the application: 3 (2 own, 1 shared)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got, want := table.Over(), "test (480 of 300 s), total (501 of 400 s), system packages (12 of 5 s)"; got != want {
		t.Errorf("over budget: %s, want %s", got, want)
	}
	if got := (Table{Steps: steps}).Over(); got != "" {
		t.Errorf("over budget without one: %s", got)
	}
}

func TestALineThatIsNoStepIsAnError(t *testing.T) {
	for _, line := range []string{"lint", "lint 60", "60", "1m lint"} {
		if steps, err := ReadSteps(strings.NewReader(line)); err == nil {
			t.Errorf("%q is %v", line, steps)
		}
	}
}

// A step that is renamed would have no budget from then on.
func TestEveryStepHasABudgetAndTheyAddUp(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	file, err := os.Open(filepath.Join(root, ".ci", "budget"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	budget, err := ReadSteps(file)
	if err != nil {
		t.Fatal(err)
	}
	run, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	var phases []string
	for _, match := range regexp.MustCompile(`(?m)^\s*phase '(.+)'$`).FindAllStringSubmatch(string(run), -1) {
		phases = append(phases, match[1])
	}
	var known []string
	for _, tier := range []string{"ci", "nightly"} {
		steps, sum := slices.Concat(phases, makeSteps(t, root, tier)), 0
		for _, step := range steps {
			seconds, ok := find(budget, step)
			if !ok {
				t.Errorf("%s has no budget in .ci/budget", step)
			}
			sum += seconds
		}
		if whole, _ := find(budget, tier); sum > whole {
			t.Errorf("the steps of %s may take %d s together, and the whole %d s", tier, sum, whole)
		}
		known = slices.Concat(known, steps, []string{tier})
	}
	for _, b := range budget {
		if !slices.Contains(known, b.Name) {
			t.Errorf("no step is called %q", b.Name)
		}
	}
}

func makeSteps(t *testing.T, root, tier string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", "-s", "--no-print-directory", tier+"-steps")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	steps := strings.Fields(string(out))
	if len(steps) == 0 {
		t.Errorf("%s has no steps", tier)
	}
	return steps
}
