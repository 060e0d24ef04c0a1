package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// deployment is what a user installs, as text, so that a test can change it.
type deployment struct {
	compose    string
	initSQL    string
	chConfig   string
	chUsers    string
	dockerfile string
	goVersion  string
	pins       map[string]string
}

type composeFile struct {
	Services map[string]service
	Volumes  map[string]any
}

type service struct {
	Image       string
	Command     []string
	Environment map[string]string
	Ports       []string
	Volumes     []string
	Healthcheck *struct{ Test []string }
	Restart     string
}

// appPorts are where Assay itself listens, for HTTP and for OTLP over gRPC;
// they have no engine behind them.
var appPorts = []int{4318, 4317}

func TestComposeAgreesWithTheLauncher(t *testing.T) {
	for _, difference := range drift(loadDeployment(t)) {
		t.Error(difference)
	}
}

// Each case changes one thing in what is shipped; the comparison has to name it.
func TestDriftIsReported(t *testing.T) {
	cases := []struct {
		name, part, old, new, report string
	}{
		{"ClickHouse release", "compose", "clickhouse-server:26.7", "clickhouse-server:26.8", "clickhouse: image"},
		{"PostgreSQL release", "compose", "postgres:15", "postgres:18", "postgres: image"},
		{"Temporal release", "compose", "temporalio/server:1.32.1", "temporalio/server:1.32.0", "temporal: image"},
		{"Temporal tools", "compose", "admin-tools:1.32.1", "admin-tools:1.31.0", "temporal-schema: image"},
		{"Redis release", "compose", "redis:7.2-alpine", "redis:8-alpine", "redis: image"},
		{"pin of the engine", "pin:chdb", "", "26.8.1-stable.1", "chdb"},
		{"pin of Temporal", "pin:temporal-server", "", "v1.33.0", "temporal-server"},
		{"published port", "compose", "127.0.0.1:8123:8123", "127.0.0.1:8124:8123", "port 8123"},
		{"port open to the network", "compose", "127.0.0.1:6379:6379", "6379:6379", "loopback"},
		{"PostgreSQL setting", "compose", "max_connections=300", "max_connections=100", "max_connections"},
		{"PostgreSQL setting gone", "compose", "      - -c\n      - autovacuum=on\n", "", "autovacuum"},
		{"Redis persistence", "compose", `--appendonly, "no"`, `--appendonly, "yes"`, "redis: command"},
		{"default password", "compose", "ASSAY_POSTGRES_APP_PASSWORD:-assay}", "ASSAY_POSTGRES_APP_PASSWORD:-secret}", "ASSAY_POSTGRES_APP_PASSWORD"},
		{"history shards", "compose", `NUM_HISTORY_SHARDS: "512"`, `NUM_HISTORY_SHARDS: "4"`, "NUM_HISTORY_SHARDS"},
		{"retention", "compose", "--retention 72h", "--retention 24h", "retention"},
		{"schema of visibility", "compose", "postgresql/v12/visibility", "postgresql/v13/visibility", "postgresql/v12/visibility"},
		{"variable of the product", "compose", "ASSAY_REDIS_URL:", "ASSAY_CACHE_URL:", "ASSAY_REDIS_URL"},
		{"address in the product", "compose", "@clickhouse:9000/assay", "@clickhouse:9440/assay", "ASSAY_CLICKHOUSE_URL"},
		{"pepper not required", "compose", "${ASSAY_KEY_PEPPER:?", "${ASSAY_KEY_PEPPER:-", "ASSAY_KEY_PEPPER"},
		{"health check gone", "compose", "    healthcheck:\n      test: [CMD, redis-cli, ping]", "    x-healthcheck:\n      test: [CMD, redis-cli, ping]", "redis: no health check"},
		{"second shard", "compose", "services:\n", "services:\n  clickhouse2:\n    image: clickhouse/clickhouse-server:26.7\n", "clickhouse2: is an engine of development alone"},
		{"port of the second shard", "compose", "      - 127.0.0.1:9000:9000\n", "      - 127.0.0.1:9000:9000\n      - 127.0.0.1:9002:9002\n", "9002 is not in the table"},
		{"address of the second shard", "compose", "      ASSAY_REDIS_URL:", "      ASSAY_DEV_CLICKHOUSE_SHARD2_URL: clickhouse://assay:assay@clickhouse2:9002/assay\n      ASSAY_REDIS_URL:", "ASSAY_DEV_CLICKHOUSE_SHARD2_URL"},
		{"engine gone", "compose", "\n  redis:\n", "\n  cache:\n", "redis: is not in the compose file"},
		{"settings not mounted", "compose", "./clickhouse/users.d/assay.xml:", "./clickhouse/other.xml:", "users.d/assay.xml"},
		{"role with more rights", "init.sql", "ALTER ROLE assay_app LOGIN NOCREATEDB", "ALTER ROLE assay_app LOGIN CREATEDB", "assay_app"},
		{"database gone", "init.sql", "CREATE DATABASE temporal_visibility OWNER temporal", "CREATE DATABASE visibility OWNER temporal", "temporal_visibility"},
		{"system log without an end", "clickhouse config", `<trace_log remove="1"/>`, "", "trace_log"},
		{"system log without a TTL", "clickhouse config", "<ttl>event_date + INTERVAL 3 DAY DELETE</ttl>", "", "query_log"},
		{"reader without a limit", "clickhouse users", "<max_execution_time>30</max_execution_time>", "", "max_execution_time"},
		{"Go release of the image", "dockerfile", "golang:1.26", "golang:1.27", "golang"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := loadDeployment(t)
			if name, isPin := strings.CutPrefix(c.part, "pin:"); isPin {
				d.pins[name] = c.new
			} else {
				text := map[string]*string{
					"compose": &d.compose, "init.sql": &d.initSQL, "dockerfile": &d.dockerfile,
					"clickhouse config": &d.chConfig, "clickhouse users": &d.chUsers,
				}[c.part]
				if !strings.Contains(*text, c.old) {
					t.Fatalf("the %s does not contain %q any more; the case has lost its subject", c.part, c.old)
				}
				*text = strings.Replace(*text, c.old, c.new, 1)
			}
			found := drift(d)
			if !slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, c.report) }) {
				t.Errorf("the comparison does not report %q; it says %q", c.report, found)
			}
		})
	}
}

func loadDeployment(t *testing.T) deployment {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(parts ...string) string {
		content, err := os.ReadFile(filepath.Join(append([]string{root}, parts...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	d := deployment{
		compose:    read("deploy", "compose.yaml"),
		initSQL:    read("deploy", "postgres", "init.sql"),
		chConfig:   read("deploy", "clickhouse", "config.d", "assay.xml"),
		chUsers:    read("deploy", "clickhouse", "users.d", "assay.xml"),
		dockerfile: read("deploy", "Dockerfile"),
		goVersion:  regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read("dev", "go.mod"))[1],
		pins:       map[string]string{},
	}
	for _, name := range []string{"chdb", "temporal-server", "temporal-sql"} {
		out, err := exec.Command(filepath.Join(root, "dev", "tool"), "--pin", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		d.pins[name] = strings.TrimSpace(string(out))
	}
	return d
}
