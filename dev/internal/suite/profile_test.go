package suite

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The graph is that of three packages: b imports a, kit imports b, and tests of
// a and b import kit. A test inside a has Go build b and kit anew for it.
func TestAProfileTellsWhatIsBuiltTwice(t *testing.T) {
	file, err := os.Open(filepath.Join("testdata", "graph.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	actions, err := ReadActions(file)
	if err != nil {
		t.Fatal(err)
	}
	processes, err := ReadProcesses(strings.NewReader("/tree/a\t2.5s\t1s\n/tree/b\t1s\t1.25s\n"))
	if err != nil {
		t.Fatal(err)
	}
	boots, err := ReadBooted(strings.NewReader("own example.com/m/a TestIn 300ms\nshared example.com/m/a TestOut 200ms\nown example.com/m/b TestOut\n"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := (Profile{Actions: actions, Processes: processes, Boots: boots, Module: "example.com/m", Root: "/tree"}).Write(&out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"compile link boots boot run wait PACKAGE",
		"2.0 0.5 2 0.5 1.0 1.5 a",
		"1.5 0.4 1 0.0 1.2 0.0 b",
		"0.3 0.0 0 0.0 0.0 0.0 what several of them need",
		"3.8 0.9 3 0.5 2.2 1.5 sum",
		"",
		"7 packages were compiled 10 times; 1.5 s of that is repetition",
		"2 times 1.4 kit",
		"2 times 1.0 b",
		"2 times 0.6 a",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAProcessIsTimed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "processes")
	if err := Timed(file, []string{"sh", "-c", "sleep 0.1"}); err != nil {
		t.Fatal(err)
	}
	if err := Timed(file, []string{"sh", "-c", "exit 3"}); err == nil {
		t.Error("the failure of a command is lost")
	}
	content, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	processes, err := ReadProcesses(content)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if len(processes) != 2 || processes[0].Folder != folder || processes[0].Real < 100*time.Millisecond || processes[0].Processor > processes[0].Real {
		t.Errorf("%+v", processes)
	}
}
