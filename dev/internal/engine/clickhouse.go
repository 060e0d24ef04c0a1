package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clickhouseVersion is the release that development runs and the compose file names.
const clickhouseVersion = "26.7"

// Users of ClickHouse: Assay itself, and the one that answers people's queries.
const (
	clickhouseUser   = "assay"
	clickhouseReader = "assay_reader"
)

// clickhousePasswords names the variables from which deploy/clickhouse/users.d
// takes each user's password, in the compose file as in development.
var clickhousePasswords = map[string]string{
	"ASSAY_CLICKHOUSE_PASSWORD":        clickhouseUser,
	"ASSAY_CLICKHOUSE_READER_PASSWORD": clickhouseReader,
}

const clickhouseHint = "ClickHouse comes from npm and needs a C compiler: apt-get install -y npm gcc libc6-dev; dev/tool chdb fetches it"

// clickhouseConfig is what the official image has of its own, and the cluster
// of development: the rest is in deploy/clickhouse, which both share. Where the
// engine finds a terminal it would write its log there too, and the launcher
// leads both to one file.
const clickhouseConfig = `<clickhouse>
    <users_config>users.xml</users_config>
    <logger>
        <log>%s</log>
        <console>false</console>
    </logger>
%s</clickhouse>
`

// clickhouseUsers has the user of the session inside the process, which has no
// password and therefore no way in but from loopback.
const clickhouseUsers = `<clickhouse>
    <profiles><default/></profiles>
    <quotas><default/></quotas>
    <users>
        <default>
            <password/>
            <networks><ip>127.0.0.1</ip><ip>::1</ip></networks>
            <profile>default</profile>
            <quota>default</quota>
            <access_management>1</access_management>
        </default>
    </users>
</clickhouse>
`

// clickhouseTestDatabases is how many databases of tests have a row filter. Their
// names are those that internal/platform/clickhouse/clickhousetest gives.
const clickhouseTestDatabases = 1000

// clickhouseTestFilters has the row filter of deploy/clickhouse for the databases
// of tests: this engine reads filters only when it starts.
func clickhouseTestFilters() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<clickhouse><users><%s><databases>\n", clickhouseReader)
	for n := range clickhouseTestDatabases {
		fmt.Fprintf(&b, `<database name="assay_test_%03d"><table name=""><filter>org_id = toUUIDOrZero(getSetting('log_comment'))</filter></table></database>`+"\n", n)
	}
	fmt.Fprintf(&b, "</databases></%s></users></clickhouse>\n", clickhouseReader)
	return b.String()
}

// startClickHouse brings one of the servers up. The name is that of its engine,
// its folder, its log and its native port.
func startClickHouse(name string) func(context.Context, *Checkout) error {
	return func(ctx context.Context, c *Checkout) error {
		var ended <-chan error
		if _, up := c.running(name); !up {
			var err error
			if ended, err = c.spawnClickHouse(ctx, name); err != nil {
				return err
			}
		}
		return c.await(ctx, name, "an answer", 60*time.Second, ended, func(ctx context.Context) error {
			_, err := c.clickhouseQuery(ctx, name, "", "CREATE DATABASE IF NOT EXISTS "+assayDatabase)
			return err
		})
	}
}

func readyClickHouse(name string) func(context.Context, *Checkout) (string, error) {
	return func(ctx context.Context, c *Checkout) (string, error) {
		if err := answers(c.Ports.address(name)); err != nil {
			return "", err
		}
		return c.clickhouseQuery(ctx, name, assayDatabase, "SELECT version()")
	}
}

func (c *Checkout) spawnClickHouse(ctx context.Context, name string) (ended <-chan error, err error) {
	library, err := c.tool(name, "chdb")
	if err != nil {
		return nil, err
	}
	server, err := c.compileClickHouse(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := c.configureClickHouse(name); err != nil {
		return nil, err
	}
	data := c.path(name, "data")
	// This engine makes its system logs anew at each start and stumbles over
	// those of the last one, which clickhouse-server would read again.
	if err := os.RemoveAll(filepath.Join(data, "data", "system")); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(data, 0o755); err != nil {
		return nil, err
	}
	// This engine hangs on a port that is taken, and says so in its log only.
	ports := map[string]int{name: c.Ports.on(name), name + "-http": c.Ports.on(name + "-http")}
	if which, free := awaitFree(ports); !free {
		return nil, fmt.Errorf("%s is in use by another program; end that one, or run `down`, after which `up` finds other ports for all engines", which)
	}
	p := process{
		engine: name,
		dir:    data,
		args: []string{
			server, library,
			"--config-file=" + c.path(name, "etc", "config.xml"),
			"--path=" + data,
			"--log-level=information", // the engine reads the level of the shared file too late
			"--listen_host=127.0.0.1",
			"--tcp_port=" + strconv.Itoa(c.Ports.on(name)),
			"--http_port=" + strconv.Itoa(c.Ports.on(name+"-http")),
		},
	}
	for variable, user := range clickhousePasswords {
		p.env = append(p.env, variable+"="+developmentPassword(user))
	}
	return c.spawn(p)
}

// compileClickHouse builds the program that serves the engine's library. Each
// server has its own, so that two that start together do not meet in one file.
func (c *Checkout) compileClickHouse(ctx context.Context, name string) (string, error) {
	binary := c.path(name, "server")
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		return "", err
	}
	source := filepath.Join(c.Root, "dev", "clickhouse", "server.c")
	fresh := binary + ".new"
	out, err := exec.CommandContext(ctx, "gcc", "-O1", "-Wall", "-Wextra", "-o", fresh, source, "-ldl").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("compile %s: %w\n%s", source, err, out)
	}
	return binary, os.Rename(fresh, binary)
}

// configureClickHouse lays the shared settings beside the engine's own.
func (c *Checkout) configureClickHouse(name string) error {
	etc := c.path(name, "etc")
	if err := os.RemoveAll(etc); err != nil {
		return err
	}
	config := fmt.Sprintf(clickhouseConfig, c.LogPath(name), c.clickhousePair())
	if err := writeFile(filepath.Join(etc, "config.xml"), config, 0o644); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(etc, "users.xml"), clickhouseUsers, 0o644); err != nil {
		return err
	}
	shared := filepath.Join(c.Root, "deploy", "clickhouse")
	files, err := filepath.Glob(filepath.Join(shared, "*.d", "*.xml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no ClickHouse settings in " + shared)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(shared, file)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(etc, name), string(content), 0o644); err != nil {
			return err
		}
	}
	if err := writeFile(filepath.Join(etc, "users.d", "tests.xml"), clickhouseTestFilters(), 0o644); err != nil {
		return err
	}
	if name == clickhouseShards[0] {
		return nil
	}
	// After the shared file in the alphabet, and therefore above it.
	return writeFile(filepath.Join(etc, "config.d", "small.xml"), clickhouseSmall, 0o644)
}

// clickhouseQuery asks a server over HTTP as Assay's user.
func (c *Checkout) clickhouseQuery(ctx context.Context, name, database, query string) (string, error) {
	target := url.URL{Scheme: "http", Host: c.Ports.address(name + "-http"), Path: "/"}
	if database != "" {
		target.RawQuery = url.Values{"database": {database}}.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), strings.NewReader(query))
	if err != nil {
		return "", err
	}
	request.SetBasicAuth(clickhouseUser, developmentPassword(clickhouseUser))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s: %s", name, response.Status, strings.TrimSpace(string(body)))
	}
	return strings.TrimSpace(string(body)), nil
}
