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

// clickhouseConfig is what the official image has of its own: the rest is in
// deploy/clickhouse, which both share.
const clickhouseConfig = `<clickhouse>
    <users_config>users.xml</users_config>
    <logger>
        <log>%s</log>
    </logger>
</clickhouse>
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

func startClickHouse(ctx context.Context, c *Checkout) error {
	var ended <-chan error
	if _, up := c.running("clickhouse"); !up {
		library, err := c.tool("clickhouse", "chdb")
		if err != nil {
			return err
		}
		server, err := c.compileClickHouse(ctx)
		if err != nil {
			return err
		}
		if err := c.configureClickHouse(); err != nil {
			return err
		}
		data := c.path("clickhouse", "data")
		// This engine makes its system logs anew at each start and stumbles over
		// those of the last one, which clickhouse-server would read again.
		if err := os.RemoveAll(filepath.Join(data, "data", "system")); err != nil {
			return err
		}
		if err := os.MkdirAll(data, 0o755); err != nil {
			return err
		}
		p := process{
			engine: "clickhouse",
			dir:    data,
			args: []string{
				server, library,
				"--config-file=" + c.path("clickhouse", "etc", "config.xml"),
				"--path=" + data,
				"--log-level=information", // the engine reads the level of the shared file too late
				"--listen_host=127.0.0.1",
				"--tcp_port=" + strconv.Itoa(c.Ports.on("clickhouse")),
				"--http_port=" + strconv.Itoa(c.Ports.on("clickhouse-http")),
			},
		}
		for variable, user := range clickhousePasswords {
			p.env = append(p.env, variable+"="+developmentPassword(user))
		}
		if ended, err = c.spawn(p); err != nil {
			return err
		}
	}
	return c.await(ctx, "clickhouse", "an answer", 60*time.Second, ended, func(ctx context.Context) error {
		_, err := c.clickhouseQuery(ctx, "", "CREATE DATABASE IF NOT EXISTS "+assayDatabase)
		return err
	})
}

func readyClickHouse(ctx context.Context, c *Checkout) (string, error) {
	if err := answers(c.Ports.address("clickhouse")); err != nil {
		return "", err
	}
	return c.clickhouseQuery(ctx, assayDatabase, "SELECT version()")
}

// compileClickHouse builds the program that serves the engine's library.
func (c *Checkout) compileClickHouse(ctx context.Context) (string, error) {
	binary := c.path("clickhouse", "server")
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
func (c *Checkout) configureClickHouse() error {
	etc := c.path("clickhouse", "etc")
	if err := os.RemoveAll(etc); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(etc, "config.xml"), fmt.Sprintf(clickhouseConfig, c.LogPath("clickhouse")), 0o644); err != nil {
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
	return nil
}

// clickhouseQuery asks over HTTP as Assay's user.
func (c *Checkout) clickhouseQuery(ctx context.Context, database, query string) (string, error) {
	target := url.URL{Scheme: "http", Host: c.Ports.address("clickhouse-http"), Path: "/"}
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
		return "", fmt.Errorf("clickhouse: %s: %s", response.Status, strings.TrimSpace(string(body)))
	}
	return strings.TrimSpace(string(body)), nil
}
