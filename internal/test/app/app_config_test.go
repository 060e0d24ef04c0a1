package app_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/platform/config"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/testkit"
)

func settings(t testing.TB) []config.Setting {
	t.Helper()
	list, err := config.Settings(&app.Config{})
	require.NoError(t, err)
	require.NotEmpty(t, list)
	return list
}

func TestEverySettingIsExplained(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, s := range settings(t) {
		require.Regexp(t, `[.)]$|: [^:]+$`, s.Help, "%s needs a sentence", s.Name)
		require.Regexp(t, `^ASSAY_[A-Z0-9_]+$`, s.Env)
		require.Empty(t, seen[s.Env], "%s and %s have one variable", s.Name, seen[s.Env])
		seen[s.Env] = s.Name
		require.False(t, s.Secret && s.Default != "", "%s: a secret has no default", s.Name)
		for _, word := range []string{"url", "pepper", "password", "secret", "token"} {
			if last := s.Name[strings.LastIndex(s.Name, ".")+1:]; strings.Contains(last, word) && last != "pepper_version" && last != "traces_url" && s.Name != "blob.url" { // which refuses credentials
				require.True(t, s.Secret, "%s looks like a secret and is printed", s.Name)
			}
		}
	}
}

// TestEveryProblemSaysWhatToDo breaks each group of settings and reads what the
// person at the terminal would.
func TestEveryProblemSaysWhatToDo(t *testing.T) {
	t.Parallel()
	good := environ(testkit.Config(t))
	for variable, want := range map[string]string{
		"ASSAY_POSTGRES_URL=":                     "postgres.url is empty: give the connection URL of the runtime role, for example postgres://",
		"ASSAY_POSTGRES_URL=http://hunter2":       "postgres.url cannot be read: it should look like postgres://",
		"ASSAY_POSTGRES_OWNER_URL=http://hunter2": "postgres.owner_url cannot be read: it should look like postgres://",
		"ASSAY_POSTGRES_MAX_CONNS=1":              "postgres.max_conns is 1: it must be at least 2",
		"ASSAY_CLICKHOUSE_URL=":                   "clickhouse.url is empty: give the native URL, for example clickhouse://",
		"ASSAY_CLICKHOUSE_URL=::hunter2":          "clickhouse.url cannot be read: it should look like clickhouse://",
		"ASSAY_TEMPORAL_ADDRESS=":                 "temporal.address is empty: give host:port",
		"ASSAY_TEMPORAL_NAMESPACE=":               "temporal.namespace is empty: give",
		"ASSAY_TEMPORAL_QUEUE_PREFIX=":            "temporal.queue_prefix is empty: give",
		"ASSAY_REDIS_URL=hunter2":                 "redis.url cannot be read: it should look like redis://",
		"ASSAY_KEY_PEPPER=hunter2":                "key.pepper is missing or shorter than 32 characters: make one with",
		"ASSAY_KEY_PEPPER_VERSION=0":              "key.pepper_version must be 1 or more",
		"ASSAY_DATASET_KEEP_DELETED=-1h":          "dataset.keep_deleted is negative: give a duration such as 720h",
		"ASSAY_EVALUATION_KEEP_DELETED=-1h":       "evaluation.keep_deleted is negative: give a duration such as 720h",
		"ASSAY_TELEMETRY_LOG_LEVEL=loud":          `telemetry.log_level is "loud": use debug, info, warn or error`,
		"ASSAY_TELEMETRY_LOG_FORMAT=xml":          `telemetry.log_format is "xml": use json or text`,
		"ASSAY_TELEMETRY_TRACE_RATIO=2":           "telemetry.trace_ratio is 2: give a share between 0 and 1",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			got := run(append(append([]string{}, good...), variable), "migrate")
			require.Equal(t, 1, got.Code)
			name, words, _ := strings.Cut(want, " ")
			require.Contains(t, got.Err, name)
			require.Contains(t, got.Err, words)
			require.NotContains(t, got.Err, "hunter2")
		})
	}
}

func TestReadinessNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	// Most operations need PostgreSQL alone, and telemetry is accepted without
	// ClickHouse: a balancer has to go on sending it.
	status := map[string]string{"": "ready", "clickhouse": "degraded", "temporal": "degraded", "redis": "degraded"}
	for engine, away := range map[string]func(*app.Config){
		"postgres":   func(c *app.Config) { c.Postgres.URL = "postgres://assay_app:hunter2@127.0.0.1:1/assay" },
		"redis":      func(c *app.Config) { c.Redis.URL = "redis://:hunter2@127.0.0.1:1/0" },
		"clickhouse": func(c *app.Config) { c.ClickHouse.URL = "clickhouse://assay:hunter2@127.0.0.1:1/assay" },
		"temporal":   func(c *app.Config) { c.Temporal.Address = "127.0.0.1:1" },
		"":           func(*app.Config) {},
	} {
		t.Run("without "+engine, func(t *testing.T) {
			t.Parallel()
			cfg := testkit.Config(t)
			away(&cfg)
			missing := min(1, len(engine))
			a, err := app.New(t.Context(), cfg, "test", time.Now)
			require.NoError(t, err, "a process starts without its engines")
			t.Cleanup(func() { _ = a.Close() })

			var answer *httptest.ResponseRecorder
			// On a busy machine an engine that is there may answer too late.
			require.Eventually(t, func() bool {
				answer = httptest.NewRecorder()
				a.Edge.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/health/ready", nil))
				return strings.Count(answer.Body.String(), `"ok":false`) == missing
			}, 10*time.Minute, time.Millisecond)

			body := answer.Body.String()
			require.NotContains(t, body, "hunter2")
			var got struct {
				testkit.Envelope
				Status string `json:"status"`
				Checks []any  `json:"checks"`
			}
			require.NoError(t, json.Unmarshal([]byte(body), &got))
			require.Equal(t, status[engine], got.Status)
			checks := got.Checks
			if got.Status == "" {
				require.Equal(t, http.StatusServiceUnavailable, answer.Code)
				require.NotEmpty(t, answer.Header().Get("Retry-After"))
				checks, _ = got.Error.Details["checks"].([]any)
			} else {
				require.Equal(t, http.StatusOK, answer.Code, body)
			}
			require.NotEmpty(t, checks)
			for _, c := range checks {
				check, _ := c.(map[string]any)
				require.Equal(t, check["name"] != engine, check["ok"], "%v", check)
				if check["name"] == engine {
					require.Contains(t, check["message"], "ASSAY_"+strings.ToUpper(engine))
				}
			}
		})
	}

	t.Run("with a role that could see everything", func(t *testing.T) {
		t.Parallel()
		cfg := testkit.Config(t)
		cfg.Postgres.URL = secret.Text(cfg.Postgres.OwnerURL.Reveal())
		a, err := app.New(t.Context(), cfg, "test", time.Now)
		require.NoError(t, err)
		t.Cleanup(func() { _ = a.Close() })

		answer := httptest.NewRecorder()
		a.Edge.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/health/ready", nil))

		require.Equal(t, http.StatusServiceUnavailable, answer.Code)
		require.Contains(t, answer.Body.String(), "its role is unsafe")
	})
}
