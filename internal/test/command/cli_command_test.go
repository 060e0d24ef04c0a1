package command_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/cli"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestTheWholeWay goes from a file of items to a report with commands alone.
func TestTheWholeWay(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	dir := t.TempDir()
	home := []string{"HOME=" + dir, "COLUMNS=80"}
	do := func(args ...string) string {
		t.Helper()
		got := run(home, args...)
		require.Zero(t, got.Code, got.Err+got.Out)
		require.Empty(t, got.Err)
		for line := range strings.Lines(got.Out) {
			if !slices.Contains(args, "--json") && !strings.Contains(line, k.URL) && !strings.Contains(line, "/") { // an address is never broken
				require.LessOrEqual(t, len([]rune(strings.TrimRight(line, "\n"))), 80, line)
			}
		}
		return got.Out
	}

	got := runWith(home, "SERVICE_API_KEY="+c.Key.Reveal()+"\n", "login", k.URL)
	require.Zero(t, got.Code, got.Err)
	require.NotContains(t, got.Out, c.Key.Reveal())
	items := filepath.Join(dir, "items.jsonl")
	require.NoError(t, os.WriteFile(items, []byte(`{"input":"same","expectedOutput":"same"}
{"input":"Where is my invoice?","expectedOutput":"Under Billing."}
`), 0o600))
	require.Contains(t, do("dataset", "create", "Questions", "--items", items), "items           2\n")
	require.True(t, jsontext.Value(do("dataset", "create", "As JSON", "--items", items, "--json")).IsValid(), "one document and nothing else")
	require.Contains(t, do("dataset", "list"), "Questions")
	require.NoError(t, os.WriteFile(items, []byte(`{"input":"equal","expectedOutput":"equal"}
{"input":"Where is my receipt?","expectedOutput":"Under Billing."}`), 0o600))
	require.Contains(t, do("dataset", "import", items, "questions"), "2 created, 0 already there, 0 refused\n")
	require.Contains(t, do("dataset", "freeze", "Questions", "--note=first"), "version 1 of Questions has 4 items\n")
	require.Contains(t, do("dataset", "show", "Questions"), "latest version  1\n")
	require.Contains(t, do("metric", "list"), "exact_match")
	require.Contains(t, do("metric", "show", "exact_match"), "0 to 1, higher is better")
	require.Contains(t, do("evaluation", "create", "Answers", "--dataset=Questions", "--metric=exact_match", "--model=simulated:echo"), "target   model: simulated echo\n")
	require.Contains(t, do("evaluation", "list"), "Answers")
	got = run(append(home, "GITHUB_ACTIONS=true", "GITHUB_HEAD_REF=feature", "GITHUB_SHA=abc"), "run", "Answers", "--wait", "--release=rel-1", "--metadata=ticket=7", "--metadata=owner=a=b")
	require.Zero(t, got.Code, got.Err)
	require.Contains(t, got.Out, "--failed\n")
	var r struct {
		RunID     string         `json:"run_id"`
		ReleaseID string         `json:"release_id"`
		Metadata  map[string]any `json:"metadata"`
	}
	require.NoError(t, json.Unmarshal([]byte(do("runs", "show", "Answers", "--json")), &r))
	require.Equal(t, "rel-1", r.ReleaseID)
	require.Equal(t, map[string]any{"branch": "feature", "commit": "abc", "ticket": "7", "owner": "a=b"}, r.Metadata)
	require.Contains(t, do("runs", "list", "Answers"), "feature")
	failed := do("results", "Answers", "--failed")
	require.Contains(t, failed, "run "+r.RunID+" · 2 failing items\n")
	require.Contains(t, failed, "  input     Where is my invoice?\n  output    Where is my invoice?\n  expected  Under Billing.\n")
	require.NotContains(t, failed, "same")
	require.NotContains(t, failed, "equal")
	require.Contains(t, do("results", "Answers", "--limit=1"), "1 of 4 are shown: use --limit for more.")
	require.Contains(t, do("results", "Answers", "--metric=exact_match", "--below=0"), "2 results")
	report := filepath.Join(dir, "report.html")
	require.Equal(t, report+"\n", do("report", "Answers", "--output", report))
	page, err := os.ReadFile(report)
	require.NoError(t, err)
	require.Contains(t, string(page), "<title>")
	require.Contains(t, do("runs", "attach", "Answers", r.RunID), "✓ completed")
	require.Contains(t, do("series", "Answers"), "repeat the run")
	do("run", "Answers", "--wait=false", "--seed=1")
	require.Contains(t, do("baseline", "show", "Answers"), "is pinned to no run")
	require.Contains(t, do("baseline", "pin", "Answers", r.RunID), "Answers is pinned to run "+r.RunID)
	require.Contains(t, do("baseline", "show", "Answers"), "run "+r.RunID)
	require.Contains(t, do("evaluation", "show", "Answers"), "pinned run  "+r.RunID+"\n")
	require.Contains(t, do("baseline", "unpin", "Answers"), "is pinned to no run")
	require.Contains(t, do("doctor"), "No problem found.")
	require.Contains(t, do("evaluation", "list", "--json"), `"evaluations": [`)
	got = run(home, "runs", "attach", "Answers")
	require.Zero(t, got.Code, got.Err)
	require.Contains(t, do("evaluation", "delete", "Answers", "--yes"), "is deleted")
	require.Contains(t, do("dataset", "delete", "Questions", "--yes"), "is deleted")
	require.Contains(t, do("logout"), "profile default is removed")
	require.Equal(t, 2, run(append(home, "ASSAY_URL="+k.URL), "dataset", "list").Code)
}

func TestLoginStoresNothingThatDoesNotWork(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	dir := t.TempDir()
	got := runWith([]string{"HOME=" + dir}, strings.TrimPrefix(userKey, "SERVICE_API_KEY=")+"\n", "login", k.URL)
	require.Equal(t, 2, got.Code)
	require.Contains(t, got.Err, "assay: nothing is stored: the key")
	require.NoDirExists(t, filepath.Join(dir, ".config"))
}

// model is the command line as it is declared.
func model(t *testing.T) *kong.Application {
	t.Helper()
	var commands struct{ cli.Commands }
	parser, err := kong.New(&commands, kong.Name("assay"))
	require.NoError(t, err)
	return parser.Model
}

func TestEveryCommandIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/cli.md")
	require.NoError(t, err)
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		for _, child := range n.Children {
			if child.Hidden {
				continue
			}
			name := path + " " + child.Name
			require.NotEmpty(t, child.Help, name)
			if len(child.Children) > 0 {
				walk(child, name)
				continue
			}
			require.True(t, bytes.Contains(page, []byte("`"+name+"`")) || bytes.Contains(page, []byte("`"+name+" ")), "docs/cli.md does not have %s", name)
		}
	}
	walk(model(t).Node, "assay")
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"dat":                             "dataset\tManage datasets and their items\n",
		"dataset l":                       "list\tList datasets\n",
		"annotate l":                      "label\tAnswer the items of an annotation task, with single keys\nlist\tList annotation tasks\n",
		"gate 7 --junit x --margin 1 --b": "--baseline\tBaseline run: passed for the last run that passed its gate, branch:NAME, release:ID, tag:NAME, pinned, previous, or an ID (default: the baseline that the run was started with, or passed)\n--budget\tCost at which the run stops\n--branch\tBranch that is measured (default: that of the CI job, in GitHub Actions and GitLab CI)\n",
		"runs list 7 --status c":          "completed\t\ncancelled\t\n",
		"completion f":                    "fish\t\n",
		"complete":                        "",
	} {
		args := append([]string{"complete-words", "--"}, strings.Split(words, " ")...)
		got := run(nil, args...)
		require.Zero(t, got.Code, got.Err)
		require.ElementsMatch(t, strings.Split(want, "\n"), strings.Split(got.Out, "\n"), words)
	}
	for _, shell := range []string{"zsh", "fish"} {
		require.Contains(t, run(nil, "completion", shell).Out, "assay complete-words --")
	}
}

// TestBashCompletes asks bash itself.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	built, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", filepath.Join(dir, "assay"), "../../../cmd/assay").CombinedOutput()
	require.NoError(t, err, string(built))
	shell := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-c",
		`source <(assay completion bash); COMP_WORDS=(assay evaluation cr); COMP_CWORD=2; _assay; echo "${COMPREPLY[@]}"`)
	shell.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	said, err := shell.CombinedOutput()
	require.NoError(t, err, string(said))
	require.Equal(t, "create\n", string(said))
}
