package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// redisMajor is the release line of Redis that Assay uses.
const redisMajor = 7

// redisSettings keep Redis a cache: it writes nothing to disk, and whatever it
// holds can be lost. The compose file has the same.
var redisSettings = [][2]string{{"save", ""}, {"appendonly", "no"}}

func startRedis(ctx context.Context, c *Checkout) error {
	var ended <-chan error
	if _, up := c.running("redis"); !up {
		server, err := exec.LookPath("redis-server")
		if err != nil {
			return err
		}
		dir := c.path("redis")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		p := process{engine: "redis", dir: dir, args: []string{
			server,
			"--bind", "127.0.0.1", "--port", strconv.Itoa(c.Ports.on("redis")), "--dir", dir, "--daemonize", "no",
		}}
		for _, setting := range redisSettings {
			p.args = append(p.args, "--"+setting[0], setting[1])
		}
		if ended, err = c.spawn(p); err != nil {
			return err
		}
	}
	return c.await(ctx, "redis", "an answer", 15*time.Second, ended, func(ctx context.Context) error {
		_, err := readyRedis(ctx, c)
		return err
	})
}

func readyRedis(ctx context.Context, c *Checkout) (string, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.Ports.address("redis"))
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, "INFO server\r\nQUIT\r\n"); err != nil {
		return "", err
	}
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if version, found := strings.CutPrefix(lines.Text(), "redis_version:"); found {
			return version, nil
		}
	}
	return "", fmt.Errorf("%s does not answer as Redis", c.Ports.address("redis"))
}
