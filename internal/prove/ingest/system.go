package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
)

// organization is one tenant. The senders of two of them share every block.
type organization struct{ id, key string }

// system is one set of engines with one application on it, and the proxies
// between them.
type system struct {
	state    string // folder of everything that is written
	launcher string
	binary   string
	engine   map[string]string // the engines' own addresses
	fixed    []string          // environment of the application that never changes
	removed  string            // the guard that the application runs without
	store    *store            // object storage at present
	stores   map[string]*store
	url      string
	orgs     []organization
	direct   *clickhouse.DB // past the proxy
	net      *toxiproxy
	app      *exec.Cmd
	exited   chan error
	client   *http.Client
	volumes  []*volume
	tools    []*tool
}

func start(ctx context.Context, binary string) (*system, error) {
	s := &system{binary: binary, engine: map[string]string{}, stores: map[string]*store{}, client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true},
	}}
	var err error
	if s.state, err = os.MkdirTemp("", "assay-prove-"); err != nil {
		return s, err
	}
	if err := s.startEngines(ctx); err != nil {
		return s, err
	}
	if err := s.environment(); err != nil {
		return s, err
	}
	if s.direct, err = clickhouse.Open(clickhouse.Config{URL: secret.Text(s.engine["ASSAY_CLICKHOUSE_URL"])}); err != nil {
		return s, err
	}
	if s.net, err = s.startToxiproxy(ctx); err != nil {
		return s, err
	}
	if err := s.proxyClickHouse(ctx); err != nil {
		return s, err
	}
	if err := s.startStores(ctx); err != nil {
		return s, err
	}
	if out, err := s.assay(ctx, "migrate").CombinedOutput(); err != nil {
		return s, fmt.Errorf("migrate: %w\n%s", err, out)
	}
	for _, name := range []string{"First", "Second"} {
		if err := s.bootstrap(ctx, name); err != nil {
			return s, err
		}
	}
	return s, s.startApp(ctx)
}

// startEngines starts only what takes part: PostgreSQL and ClickHouse, whose
// data lies on a disk that can be filled, where one can be had.
func (s *system) startEngines(ctx context.Context) error {
	s.launcher = filepath.Join(s.state, "launcher")
	if out, err := exec.CommandContext(ctx, "go", "-C", "dev", "build", "-o", s.launcher, "./cmd/engines").CombinedOutput(); err != nil {
		return fmt.Errorf("build the launcher: %w\n%s", err, out)
	}
	if err := s.addVolume(ctx, "clickhouse", filepath.Join(s.state, "clickhouse", "data"), 16<<30); err != nil {
		return err
	}
	return s.engines(ctx, "up", "postgres", "clickhouse")
}

// engines runs the launcher on this system's own engines.
func (s *system) engines(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, s.launcher, append([]string{"-root", ".", "-state", s.state}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("engines %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func (s *system) environment() error {
	file, err := os.ReadFile(filepath.Join(s.state, "env"))
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(bytes.NewReader(file)); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), "="); ok {
			s.engine[name] = strings.Trim(value, `'"`)
		}
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	pepper := make([]byte, 32)
	_, _ = rand.Read(pepper)
	s.url = "http://" + address
	s.fixed = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
		"ASSAY_HTTP_ADDR=" + address, "ASSAY_HTTP_INTERNAL_ADDR=", "ASSAY_TRACE_GRPC_ADDR=",
		"ASSAY_KEY_PEPPER=" + hex.EncodeToString(pepper), "ASSAY_DEV_FAILPOINT_FILE=" + s.trap(),
		// A load is no customer: no limit of a plan may end it.
		"ASSAY_PLAN_SELF_HOSTED_HOUR=1000000000",
		"ASSAY_TRACE_INFLIGHT_BYTES=" + strconv.Itoa(inflightLimit),
		"ASSAY_POSTGRES_URL=" + s.engine["ASSAY_POSTGRES_URL"], "ASSAY_POSTGRES_OWNER_URL=" + s.engine["ASSAY_POSTGRES_OWNER_URL"],
		"ASSAY_TEMPORAL_ADDRESS=" + s.engine["ASSAY_TEMPORAL_ADDRESS"], "ASSAY_TEMPORAL_NAMESPACE=" + s.engine["ASSAY_TEMPORAL_NAMESPACE"],
	}
	return nil
}

// proxyClickHouse puts the proxy between the application and ClickHouse.
func (s *system) proxyClickHouse(ctx context.Context) error {
	for _, name := range []string{"ASSAY_CLICKHOUSE_URL", "ASSAY_CLICKHOUSE_READER_URL"} {
		u, err := url.Parse(s.engine[name])
		if err != nil {
			return err
		}
		if s.net.proxies["clickhouse"] == nil {
			if err := s.net.add(ctx, "clickhouse", u.Host); err != nil {
				return err
			}
		}
		u.Host = s.net.proxies["clickhouse"].listen
		s.fixed = append(s.fixed, name+"="+u.String())
	}
	return nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (s *system) bootstrap(ctx context.Context, name string) error {
	out, err := s.assay(ctx, "admin", "bootstrap", "--organization", name).Output()
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	var o organization
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch name {
		case "SERVICE_ORGANIZATION_ID":
			o.id = value
		case "SERVICE_API_KEY":
			o.key = value
		}
	}
	s.orgs = append(s.orgs, o)
	return nil
}

// trap is the file that names the failpoint that kills the application.
func (s *system) trap() string { return filepath.Join(s.state, "failpoint") }

func (s *system) assay(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Env = append(append(s.fixed[:len(s.fixed):len(s.fixed)], s.store.env...), "ASSAY_DEV_SABOTAGE="+s.removed)
	return cmd
}

// startApp starts the application as it serves, and waits until it listens. It
// must do that whether its engines are there or not.
func (s *system) startApp(ctx context.Context) error {
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	s.app = s.assay(ctx, "serve")
	s.app.Stdout, s.app.Stderr = log, log
	if err := s.app.Start(); err != nil {
		return fmt.Errorf("start %s (`make prove-ingest` builds it): %w", s.binary, err)
	}
	_ = log.Close()
	app, exited := s.app, make(chan error, 1)
	s.exited = exited
	go func() { exited <- app.Wait() }()
	for until := time.Now().Add(patience); ; {
		conn, err := net.DialTimeout("tcp", strings.TrimPrefix(s.url, "http://"), time.Second)
		if err == nil {
			return conn.Close()
		}
		select {
		case err := <-exited:
			exited <- err
			return fmt.Errorf("the application ended: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(until) {
			return fmt.Errorf("the application does not listen: %w", err)
		}
	}
}

// killApp ends the application as a power cut would.
func (s *system) killApp() error {
	if err := s.app.Process.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-s.exited
	return nil
}

// stopApp ends the application in good order.
func (s *system) stopApp() error {
	if err := s.app.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-s.exited:
		s.exited <- err
		return err
	case <-time.After(patience):
		return errors.New("the application does not end")
	}
}

func (s *system) log() string { return filepath.Join(s.state, "app.log") }

// tail returns the end of the application's log as an error, for a failure.
func (s *system) tail() error {
	log, err := os.ReadFile(s.log())
	if err != nil {
		return err
	}
	return fmt.Errorf("the application's log ends with:\n%s", log[max(0, len(log)-3000):])
}

// stop ends everything and removes what was written, unless it is to be kept.
func (s *system) stop(keep bool) error {
	if s.app != nil {
		_ = s.killApp()
	}
	var errs []error
	if s.direct != nil {
		errs = append(errs, s.direct.Close())
	}
	for _, t := range s.tools {
		t.stop()
	}
	if s.launcher != "" {
		errs = append(errs, s.engines(context.Background(), "down"))
	}
	if keep {
		return errors.Join(append(errs, fmt.Errorf("the state is kept in %s; what is mounted there has to be unmounted", s.state))...)
	}
	for _, v := range s.volumes {
		errs = append(errs, v.unmount())
	}
	return errors.Join(append(errs, os.RemoveAll(s.state))...)
}
