package engine

import (
	"fmt"
	"os"
	"strings"
)

// EnvPath is the file that a shell reads with `set -a; . .dev/env`.
func (c *Checkout) EnvPath() string { return c.path("env") }

// environment tells the product how to reach the engines, at the address that
// each has. The compose file sets the same names.
func environment(address func(engine string) string) [][2]string {
	postgres := func(role string) string {
		return fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", role, developmentPassword(role), address("postgres"), assayDatabase)
	}
	clickhouse := func(user string) string { return clickhouseURL(user, address("clickhouse")) }
	return [][2]string{
		{"ASSAY_POSTGRES_URL", postgres(appRole)},
		{"ASSAY_POSTGRES_OWNER_URL", postgres(ownerRole)},
		{"ASSAY_CLICKHOUSE_URL", clickhouse(clickhouseUser)},
		{"ASSAY_CLICKHOUSE_READER_URL", clickhouse(clickhouseReader)},
		{"ASSAY_TEMPORAL_ADDRESS", address("temporal")},
		{"ASSAY_TEMPORAL_NAMESPACE", temporalNamespace},
		{"ASSAY_REDIS_URL", "redis://" + address("redis") + "/0"},
	}
}

func clickhouseURL(user, address string) string {
	return fmt.Sprintf("clickhouse://%s:%s@%s/%s", user, developmentPassword(user), address, assayDatabase)
}

// developmentEnvironment is what only a checkout needs: where objects are kept,
// which an installation keeps at the product's own default, and what tests and
// tools read. The product leaves every name that begins with ASSAY_DEV_ alone,
// and refuses other names that it does not know.
func (c *Checkout) developmentEnvironment() [][2]string {
	return [][2]string{
		{"ASSAY_BLOB_URL", "file://" + c.path("blobs")},
		{"ASSAY_DEV_CLICKHOUSE_SHARD2_URL", clickhouseURL(clickhouseUser, c.Ports.address("clickhouse2"))},
		{"ASSAY_DEV_DIR", c.path()},
	}
}

// writeEnv records this checkout's environment.
func (c *Checkout) writeEnv() error {
	var text strings.Builder
	for _, line := range append(environment(c.Ports.address), c.developmentEnvironment()...) {
		fmt.Fprintf(&text, "%s=%s\n", line[0], shellQuote(line[1]))
	}
	return writeFile(c.EnvPath(), text.String(), 0o644)
}

// shellQuote quotes a value only when a shell would read it otherwise.
func shellQuote(value string) string {
	if !strings.ContainsAny(value, " \t'\"\\$`&;|<>()#~") {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

// Env gives the content of the env file.
func (c *Checkout) Env() (string, error) {
	content, err := os.ReadFile(c.EnvPath())
	if os.IsNotExist(err) {
		return "", fmt.Errorf("%s is not there yet; run `up` first", c.EnvPath())
	}
	return string(content), err
}
