package app_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/platform/devenv"
	"github.com/assayhq/assay/internal/platform/postgres/postgrestest"
	"github.com/assayhq/assay/internal/test/testkit"
)

var update = flag.Bool("update", false, "write the files of testdata anew")

// result is what a command leaves behind.
type result struct {
	Code     int
	Out, Err string
}

// run runs a command in the environment given, and in no other.
func run(environ []string, args ...string) result {
	var out, errOut bytes.Buffer
	code := app.Main("v1.2.3", args, environ, &out, &errOut)
	return result{code, out.String(), errOut.String()}
}

// environ is the environment of a process with the test's own databases.
func environ(cfg app.Config) []string {
	return []string{
		"ASSAY_POSTGRES_URL=" + cfg.Postgres.URL.Reveal(),
		"ASSAY_POSTGRES_OWNER_URL=" + cfg.Postgres.OwnerURL.Reveal(),
		"ASSAY_POSTGRES_CONN_WAIT=" + cfg.Postgres.ConnWait.String(),
		"ASSAY_CLICKHOUSE_URL=" + cfg.ClickHouse.URL.Reveal(),
		"ASSAY_CLICKHOUSE_READER_URL=" + cfg.ClickHouse.ReaderURL.Reveal(),
		"ASSAY_TEMPORAL_ADDRESS=" + cfg.Temporal.Address,
		"ASSAY_TEMPORAL_NAMESPACE=" + cfg.Temporal.Namespace,
		"ASSAY_KEY_PEPPER=" + testkit.Pepper,
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"help":            {"--help"},
		"help_bootstrap":  {"admin", "bootstrap", "--help"},
		"help_health":     {"health", "--help"},
		"help_tail":       {"tail", "--help"},
		"help_traces_get": {"traces", "get", "--help"},
		"help_run":        {"run", "--help"},
		"help_compare":    {"compare", "--help"},
		"help_gate":       {"gate", "--help"},
		"help_results":    {"results", "--help"},
		"help_report":     {"report", "--help"},
		"help_dataset":    {"dataset", "--help"},
		"help_evaluation": {"evaluation", "create", "--help"},
		"help_runs":       {"runs", "attach", "--help"},
		"help_login":      {"login", "--help"},
		"help_doctor":     {"doctor", "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(nil, args...)

			require.Zero(t, got.Code)
			require.Empty(t, got.Err)
			for line := range strings.Lines(got.Out) {
				require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, "too wide for a terminal: %s", line)
			}
			file := filepath.Join("testdata", name+".txt")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(file, []byte(got.Out), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), got.Out)
		})
	}
}

func TestACommandLineThatCannotBeReadIsTwo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a misspelt command":     {[]string{"mirgate"}, `did you mean "migrate"?`},
		"no command":             {nil, "expected one of"},
		"an unknown flag":        {[]string{"serve", "--prot=1"}, "unknown flag --prot"},
		"a missing flag":         {[]string{"admin", "bootstrap"}, "--organization"},
		"a value that is no one": {[]string{"admin", "bootstrap", "--organization=x", "--mode=prod"}, "live"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(nil, c.args...)
			require.Equal(t, 2, got.Code)
			require.Contains(t, got.Err, c.want)
			require.Regexp(t, "Run `assay ([a-z ]+ )?--help` for (a list of commands|its arguments and flags).\n$", got.Err)
			require.Empty(t, got.Out)
		})
	}
}

func TestVersionCommand(t *testing.T) {
	t.Parallel()
	got := run(nil, "version")
	require.Zero(t, got.Code)
	require.Regexp(t, `^assay v1\.2\.3\b.*\n$`, got.Out)
}

func TestOpenAPICommand(t *testing.T) {
	t.Parallel()
	root, err := devenv.Root()
	require.NoError(t, err)
	committed, err := os.ReadFile(filepath.Join(root, "api", "openapi.json"))
	require.NoError(t, err)

	got := run(nil, "openapi")

	require.Zero(t, got.Code, got.Err)
	require.True(t, json.Valid([]byte(got.Out)))
	require.JSONEq(t, string(committed), got.Out, "run `make gen`")
}

func TestConfigCommand(t *testing.T) {
	t.Parallel()

	t.Run("prints every setting and no secret", func(t *testing.T) {
		t.Parallel()
		got := run([]string{
			"ASSAY_POSTGRES_URL=postgres://app:hunter2@db/assay", "ASSAY_POSTGRES_OWNER_URL=postgres://owner:hunter3@db/assay",
			"ASSAY_CLICKHOUSE_URL=clickhouse://app:hunter4@ch/assay", "ASSAY_CLICKHOUSE_READER_URL=clickhouse://reader:hunter5@ch/assay",
			"ASSAY_REDIS_URL=redis://:hunter6@r", "ASSAY_KEY_PEPPER=hunter7 hunter7 hunter7 hunter7 hunter7", "ASSAY_KEY_PREVIOUS_PEPPER=hunter8",
		}, "config")

		require.Zero(t, got.Code, got.Err)
		require.NotContains(t, got.Out+got.Err, "hunter")
		for _, s := range settings(t) {
			require.Contains(t, got.Out, s.Env+" ")
		}
		require.Regexp(t, `ASSAY_POSTGRES_URL +••• +environment`, got.Out)
		require.Regexp(t, `ASSAY_POSTGRES_MAX_CONNS +20 +default`, got.Out)
	})

	t.Run("reads the file that a flag or the environment names", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "assay.yaml")
		require.NoError(t, os.WriteFile(file, []byte("postgres: {max_conns: 33}\n"), 0o600))
		for _, got := range []result{run(nil, "config", "--config", file), run([]string{"ASSAY_CONFIG=" + file}, "config")} {
			require.Regexp(t, `ASSAY_POSTGRES_MAX_CONNS +33 +file`, got.Out)
		}
	})

	t.Run("names a file that is not there", func(t *testing.T) {
		t.Parallel()
		got := run(nil, "config", "--config", "/no/such/file.yaml")
		require.Equal(t, 1, got.Code)
		require.Contains(t, got.Err, "/no/such/file.yaml")
	})

	t.Run("fails with every problem when the settings cannot work", func(t *testing.T) {
		t.Parallel()
		got := run([]string{"ASSAY_POSTGRES_URL=nonsense://hunter2", "ASSAY_TEMPORAL_NAMSPACE=x", "ASSAY_KEY_PEPPER=hunter2"}, "config")
		require.Equal(t, 1, got.Code)
		for _, want := range []string{
			"did you mean ASSAY_TEMPORAL_NAMESPACE?", "cannot be read: it should look like postgres://",
			"is empty: give the native URL", "is missing or shorter than 32 characters: make one with `openssl rand -hex 32`",
		} {
			require.Contains(t, got.Err, want)
		}
		require.NotContains(t, got.Out+got.Err, "hunter2")
	})
}

func TestMigrateCommand(t *testing.T) {
	t.Parallel()
	cfg := testkit.Config(t)
	cfg.Postgres = postgrestest.Empty(t)

	first := run(environ(cfg), "migrate")
	require.Zero(t, first.Code, first.Err)
	require.Contains(t, first.Out, "0001_tenancy.sql")
	require.Equal(t, result{0, "The schemas are up to date.\n", ""}, run(environ(cfg), "migrate"))
}

func TestBootstrapCommand(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	got := run(environ(k.App.Config), "admin", "bootstrap", "--organization", "My team", "--mode", "test")

	require.Zero(t, got.Code, got.Err)
	values := map[string]string{}
	for line := range strings.Lines(got.Out) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			values[name] = value
		}
	}
	key := values["SERVICE_API_KEY"]
	require.Regexp(t, "^asy_test_", key)
	require.NotEmpty(t, values["SERVICE_ORGANIZATION_ID"])
	require.Equal(t, 1, strings.Count(got.Out+got.Err, key), "the key is shown once")

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, k.URL+"/api/datasets?organizationId="+values["SERVICE_ORGANIZATION_ID"], nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	answer := httptest.NewRecorder()
	k.App.Edge.ServeHTTP(answer, req)
	require.Equal(t, http.StatusOK, answer.Code, answer.Body.String())
}

func TestBootstrapWithoutASchemaSaysToMigrate(t *testing.T) {
	t.Parallel()
	cfg := testkit.Config(t)
	cfg.Postgres = postgrestest.Empty(t)

	got := run(environ(cfg), "admin", "bootstrap", "--organization", "My team")

	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Err, "assay migrate")
}

func TestHealthCommand(t *testing.T) {
	t.Parallel()

	t.Run("a process that is ready", func(t *testing.T) {
		t.Parallel()
		k := testkit.Shared(t)
		require.Equal(t, result{0, "ready\n", ""}, run(nil, "health", "--url", k.URL))

		u, err := url.Parse(k.URL)
		require.NoError(t, err)
		byAddress := run(append(environ(k.App.Config), "ASSAY_HTTP_ADDR=:"+u.Port()), "health")
		require.Equal(t, result{0, "ready\n", ""}, byAddress, "without a URL it asks this machine")
	})

	t.Run("a process that is not", func(t *testing.T) {
		t.Parallel()
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
		t.Cleanup(srv.Close)
		got := run(nil, "health", "--url", srv.URL)
		require.Equal(t, 1, got.Code)
		require.Contains(t, got.Err, "is not ready")
	})

	t.Run("no process", func(t *testing.T) {
		t.Parallel()
		got := run(nil, "health", "--url", "http://127.0.0.1:1")
		require.Equal(t, 1, got.Code)
		require.Contains(t, got.Err, "no response from http://127.0.0.1:1")
	})
}
