package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sources is a module with one package for each rule.
var sources = map[string]string{
	"go.mod":                          "module example.com/m\n\ngo 1.26\n",
	"internal/app/app.go":             "package app\nimport _ \"example.com/m/queue\"\n",
	"internal/tenancy/key.go":         "package tenancy\nimport _ \"sync\"\n",
	"internal/tenancy/key_test.go":    "package tenancy\n" + test("TestKey"),
	"internal/platform/devenv/env.go": "package devenv\nimport _ \"os/exec\"\n",
	"kit/kit.go":                      "package kit\nimport (_ \"example.com/m/internal/app\"; _ \"example.com/m/internal/platform/devenv\")\n",

	"sum/sum.go":                                "package sum\n",
	"sum/sum_test.go":                           "package sum_test\n" + test("TestSum"),
	"queue/queue.go":                            "package queue\nimport _ \"sync/atomic\"\n",
	"queue/queue_test.go":                       "package queue_test\n" + test("TestQueue"),
	"group/group.go":                            "package group\n",
	"group/group_test.go":                       "package group_test\n" + test("TestGroup") + "func start() { go start() }\n",
	"wait/wait.go":                              "package wait\nfunc Wait(c interface{ Done() <-chan struct{} }) { <-c.Done() }\n",
	"wait/wait_test.go":                         "package wait\n" + test("TestWait"),
	"store/store.go":                            "package store\n",
	"store/store_test.go":                       "package store_test\nimport _ \"example.com/m/internal/platform/devenv\"\n" + test("TestStore"),
	"tree/tree.go":                              "package tree\n",
	"tree/tree_test.go":                         "package tree_test\nimport _ \"os/exec\"\n" + test("TestTree"),
	"area/area.go":                              "package area\nimport (_ \"sync\"; _ \"example.com/m/internal/tenancy\")\n",
	"area/area_test.go":                         "package area\n" + test("TestArea"),
	"noun/noun.go":                              "package noun\nimport _ \"sync\"\n",
	"noun/noun_test.go":                         "package noun_test\nimport _ \"example.com/m/kit\"\n" + test("TestNoun"),
	"internal/test/prove/access/main.go":        "package main\nfunc main() {}\n",
	"internal/test/prove/access/access_test.go": "package main\n" + test("TestAccess"),
	"internal/test/prove/correction/c_test.go":  "package correction\n" + test("TestCorrection"),
	"bench/read/read_test.go":                   "package read\n" + test("TestBench"),
	"untested/untested.go":                      "package untested\nimport _ \"sync\"\n",
}

func test(name string) string {
	return "import \"testing\"\nfunc " + name + "(*testing.T) {}\n"
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestEachPackageIsOfTheKindsThatItsFilesSay(t *testing.T) {
	packages, err := Load(t.Context(), write(t, sources))
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]string{
		"pure":  "area group internal/tenancy queue sum wait",
		"world": "noun store tree",
		"raced": "group internal/tenancy queue wait",
		"all":   "noun area group internal/tenancy queue store sum tree wait",
		"bench": "bench/read",
	} {
		got, err := Select(packages, kind)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(strings.Join(got, " "), "example.com/m/", ""); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}

func TestWhatMatchesNothingIsAnError(t *testing.T) {
	packages := []Package{{Path: "m/sum"}, {Path: "m/read", Share: true, Bench: true}}
	for kind, want := range map[string]string{"raced": "no package is raced", "world": "no package is world", "fast": "no packages are called"} {
		if got, err := Select(packages, kind); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want an error with %q", kind, got, err, want)
		}
	}

	required := []string{"internal/app/app.go", "internal/tenancy/key.go", "internal/platform/devenv/env.go", "internal/test/prove/access/main.go", "internal/test/prove/correction/c_test.go"}
	for _, gone := range required {
		few := map[string]string{"go.mod": sources["go.mod"], "queue/queue.go": sources["queue/queue.go"]}
		for _, name := range required {
			if name != gone {
				few[name] = sources[name]
			}
		}
		if _, err := Load(t.Context(), write(t, few)); err == nil || !strings.Contains(err.Error(), "no package "+filepath.Dir(gone)) {
			t.Errorf("without %s: %v", gone, err)
		}
	}
}

func TestTheRepositoryHasPackagesOfEachKind(t *testing.T) {
	packages, err := Load(t.Context(), filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"pure", "world", "raced", "bench"} {
		if _, err := Select(packages, kind); err != nil {
			t.Error(err)
		}
	}
}
