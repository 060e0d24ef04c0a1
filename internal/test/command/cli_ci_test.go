package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/assayhq/assay/internal/test/testkit"
)

// action is what GitHub reads of ci/github/action.yml.
type action struct {
	Name, Description, Author string
	Inputs                    map[string]struct {
		Description string
		Required    bool
		Default     *string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []step
	}
}

type step struct {
	Name, ID, Shell, Run, Uses string
	Env                        map[string]string
	With                       map[string]string
}

func readYAML(t *testing.T, file string, out any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", file))
	require.NoError(t, err)
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	d.KnownFields(true)
	require.NoError(t, d.Decode(out), file)
}

var expression = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)

func TestTheActionIsWellFormed(t *testing.T) {
	t.Parallel()
	var a action
	readYAML(t, "ci/github/action.yml", &a)
	require.Equal(t, "composite", a.Runs.Using)
	var used []string
	for name, in := range a.Inputs {
		require.NotEmpty(t, in.Description, name)
		require.NotEqual(t, in.Required, in.Default != nil, "%s is required or has a default", name)
	}
	for _, s := range a.Runs.Steps {
		require.Equal(t, "bash", s.Shell, s.Name)
		require.NotContains(t, s.Run, "${{", "a value in a script could be a command; it goes through the environment")
		for _, text := range s.Env {
			for _, m := range expression.FindAllStringSubmatch(text, -1) {
				if name, ok := strings.CutPrefix(m[1], "inputs."); ok {
					require.Contains(t, a.Inputs, name)
					used = append(used, name)
				}
			}
		}
		for _, name := range regexp.MustCompile(`\$\{?([A-Z_]+)`).FindAllStringSubmatch(s.Run, -1) {
			_, given := s.Env[name[1]]
			require.True(t, given || strings.HasPrefix(name[1], "GITHUB_") || strings.HasPrefix(name[1], "RUNNER_") || name[1] == "PIPESTATUS", "%s is not in the environment of %q", name[1], s.Name)
		}
	}
	for name := range a.Inputs {
		require.Contains(t, used, name, "an input that nothing reads")
	}

	var example struct {
		Name        string
		On          any
		Permissions map[string]string
		Jobs        map[string]struct {
			RunsOn  string `yaml:"runs-on"`
			Timeout int    `yaml:"timeout-minutes"`
			Steps   []step
		}
	}
	readYAML(t, "ci/github/example.yml", &example)
	at := slices.IndexFunc(example.Jobs["gate"].Steps, func(s step) bool { return strings.Contains(s.Uses, "ci/github") })
	with := example.Jobs["gate"].Steps[at].With
	for name := range with {
		require.Contains(t, a.Inputs, name)
	}
	for name, in := range a.Inputs {
		if in.Required {
			require.Contains(t, with, name)
		}
	}
}

// gitlab is what GitLab reads of ci/gitlab/gate.yml.
type gitlab struct {
	Gate struct {
		Image     string
		Variables map[string]string
		Script    []string
		Artifacts struct {
			When    string
			Reports map[string]string
		}
	} `yaml:".assay-gate"`
}

func TestTheGitLabExampleFitsTheTemplate(t *testing.T) {
	t.Parallel()
	var template gitlab
	readYAML(t, "ci/gitlab/gate.yml", &template)
	var example struct {
		Include []map[string]string
		Quality struct {
			Extends   string
			Variables map[string]string
		}
	}
	readYAML(t, "ci/gitlab/example.yml", &example)
	require.Equal(t, ".assay-gate", example.Quality.Extends)
	for name := range example.Quality.Variables {
		if name != "ASSAY_URL" {
			require.Contains(t, template.Gate.Variables, name)
		}
	}
}

// TestCIScripts runs what the action and the template run, with the command that
// is built from this tree, on a real server.
func TestCIScripts(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "assay")
	built, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", bin, "../../../cmd/assay").CombinedOutput()
	require.NoError(t, err, string(built))
	k := testkit.Working(t)
	c := k.Org(t)
	e := recorded(t, c, 100)
	var a action
	readYAML(t, "ci/github/action.yml", &a)
	var template gitlab
	readYAML(t, "ci/gitlab/gate.yml", &template)
	for name, c := range map[string]struct {
		script   string
		flags    []string
		settings func(dir, require, inconclusive string) []string
		report   string
	}{
		"github": {a.Runs.Steps[1].Run, []string{"--noprofile", "--norc", "-eo", "pipefail"}, func(dir, rules, inconclusive string) []string {
			return []string{
				"ASSAY_URL=" + k.URL, "ASSAY_API_KEY=" + c.Key.Reveal(), "EVALUATION=" + e.ID, "REQUIRE=" + rules, "BASELINE=branch:main", "MARGIN=5%", "RUN=new",
				"INCONCLUSIVE=" + inconclusive, "JUNIT=gate.xml", "ARGUMENTS=--seed=1\n", "ATTEMPT=" + dir, "GITHUB_ACTIONS=true", "GITHUB_REF_TYPE=branch",
				"GITHUB_REF_NAME=main", "GITHUB_OUTPUT=" + dir + "/output", "GITHUB_STEP_SUMMARY=" + dir + "/summary", "RUNNER_TEMP=" + dir,
			}
		}, "gate.xml"},
		"gitlab": {strings.Join(template.Gate.Script, "\n"), []string{"-e"}, func(dir, rules, inconclusive string) []string {
			all := []string{"ASSAY_URL=" + k.URL, "ASSAY_API_KEY=" + c.Key.Reveal(), "CI_JOB_ID=" + dir, "CI_DEFAULT_BRANCH=main", "CI_COMMIT_BRANCH=main", "GITLAB_CI=true"}
			for name, value := range template.Gate.Variables {
				all = append(all, name+"="+value)
			}
			return append(all, "ASSAY_EVALUATION="+e.ID, "ASSAY_REQUIRE="+rules, "ASSAY_MARGIN=5%", "ASSAY_INCONCLUSIVE="+inconclusive)
		}, "assay-gate.xml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, one := range []struct {
				rules, inconclusive string
				code                int
				verdict             string
			}{
				{"pass_rate>=0.7\n", "fail", 0, "PASS"},
				{"pass_rate>=0.7\noverall:non_inferior\n", "fail", 0, "PASS"}, // the run above is its baseline
				{"pass_rate>=0.99\n", "pass", 1, "FAIL"},
				{"pass_rate>=0.9\n", "fail", 3, "INCONCLUSIVE"},
				{"pass_rate>=0.9\n", "pass", 0, "INCONCLUSIVE"},
				{"passrate>=0.7\n", "pass", 2, ""},
			} {
				dir := t.TempDir()
				run := exec.CommandContext(t.Context(), "bash", append(c.flags, "-c", c.script)...)
				run.Dir = dir
				run.Env = append(c.settings(dir, one.rules, one.inconclusive), "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"))
				said, _ := run.CombinedOutput()
				require.Equal(t, one.code, run.ProcessState.ExitCode(), string(said))
				if one.verdict != "" {
					require.Contains(t, string(said), one.verdict)
					report, err := os.ReadFile(filepath.Join(dir, c.report))
					require.NoError(t, err)
					require.Contains(t, string(report), `name="verdict" value="`+one.verdict+`"`)
				}
				if name == "github" {
					output, err := os.ReadFile(filepath.Join(dir, "output"))
					require.NoError(t, err)
					require.Equal(t, "verdict="+one.verdict+"\n", string(output))
				}
			}
		})
	}
}
