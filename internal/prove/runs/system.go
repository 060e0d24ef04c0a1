package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
)

// patience is how long anything may take that has to happen.
const patience = 2 * time.Minute

// engineNames are those that take part.
var engineNames = []string{"postgres", "clickhouse", "temporal"}

// organization is one tenant with its key to the provider.
type organization struct{ id, key, providerKey string }

// system is one set of engines with a server and a worker on it, and what the
// worker asks.
type system struct {
	options
	state    string // folder of everything that is written
	launcher string
	engine   map[string]string // the engines' own addresses
	env      []string          // of the application
	sabotage string            // the guard that it runs without
	url      string
	orgs     []*organization
	results  *clickhouse.DB
	rows     *pgxpool.Pool // as the owner, who sees all organizations
	targets  *targets
	client   *http.Client
	server   *process
	worker   *process

	mu      sync.Mutex
	crashes []*crash
}

func start(ctx context.Context, o options) (*system, error) {
	s := &system{options: o, engine: map[string]string{}, client: &http.Client{Timeout: 20 * time.Second}}
	var err error
	if s.state, err = os.MkdirTemp("", "assay-prove-"); err != nil {
		return s, err
	}
	s.launcher = filepath.Join(s.state, "launcher")
	if out, err := exec.CommandContext(ctx, "go", "-C", "dev", "build", "-o", s.launcher, "./cmd/engines").CombinedOutput(); err != nil {
		return s, fmt.Errorf("build the launcher: %w\n%s", err, out)
	}
	if err := s.engines(ctx, append([]string{"up"}, engineNames...)...); err != nil {
		return s, err
	}
	if s.targets, err = startTargets(ctx); err != nil {
		return s, err
	}
	if err := s.environment(); err != nil {
		return s, err
	}
	if err := s.open(ctx); err != nil {
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
	if err := errors.Join(s.startServer(ctx), s.startWorker(ctx)); err != nil {
		return s, err
	}
	for _, o := range s.orgs {
		if err := s.addProvider(ctx, o); err != nil {
			return s, err
		}
	}
	return s, nil
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
	delete(s.engine, "ASSAY_REDIS_URL") // it takes no part
	address, err := freeAddress()
	if err != nil {
		return err
	}
	pepper := make([]byte, 32)
	_, _ = rand.Read(pepper)
	s.url = "http://" + address
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
		"ASSAY_HTTP_ADDR=" + address, "ASSAY_HTTP_INTERNAL_ADDR=", "ASSAY_TRACE_GRPC_ADDR=",
		"ASSAY_KEY_PEPPER=" + hex.EncodeToString(pepper), "ASSAY_DEV_FAILPOINT_FILE=" + s.trap(), "ASSAY_EGRESS_ALLOW=127.0.0.0/8",
		// A load is no customer: no limit of a plan may end it.
		"ASSAY_PLAN_SELF_HOSTED_HOUR=1000000000",
		// Short chunks: a run has several of them.
		"ASSAY_EVALUATION_CHUNK_TIME=2s", "ASSAY_EVALUATION_HEARTBEAT=" + s.heartbeat.String(),
	}
	for _, name := range slices.Sorted(maps.Keys(s.engine)) {
		s.env = append(s.env, name+"="+s.engine[name])
	}
	master, err := secret.NewMasterKey()
	if err != nil {
		return err
	}
	s.env = append(s.env, "ASSAY_SECRET_MASTER_KEY="+master.Reveal())
	return nil
}

// open connects the check to the stores.
func (s *system) open(ctx context.Context) (err error) {
	if s.results, err = clickhouse.Open(clickhouse.Config{URL: secret.Text(s.engine["ASSAY_CLICKHOUSE_URL"])}); err != nil {
		return err
	}
	s.rows, err = pgxpool.New(ctx, s.engine["ASSAY_POSTGRES_OWNER_URL"])
	return err
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
	o := &organization{}
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

// addProvider gives an organization a key to the simulated provider.
func (s *system) addProvider(ctx context.Context, o *organization) error {
	var made struct {
		ID int64 `json:"id"`
	}
	err := s.post(ctx, o, "/api/developer/provider-keys", "provider", map[string]any{
		"provider": "openai", "name": "simulated", "baseUrl": s.targets.models + "/v1", "secret": "only-for-proofs",
	}, &made)
	o.providerKey = strconv.FormatInt(made.ID, 10)
	return err
}

// trap is the file that names the failpoint that kills the worker.
func (s *system) trap() string { return filepath.Join(s.state, "failpoint") }

func (s *system) assay(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Env = append(s.env[:len(s.env):len(s.env)], "ASSAY_DEV_SABOTAGE="+s.sabotage)
	return cmd
}

// startServer starts the API and waits until it listens.
func (s *system) startServer(ctx context.Context) (err error) {
	if s.server, err = s.startProcess(ctx, "serve"); err != nil {
		return err
	}
	for until := time.Now().Add(patience); ; {
		conn, err := net.DialTimeout("tcp", strings.TrimPrefix(s.url, "http://"), time.Second)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-s.server.exited:
			return errors.New("the server ended")
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(until) {
			return fmt.Errorf("the server does not listen: %w", err)
		}
	}
}

func (s *system) startWorker(ctx context.Context) (err error) {
	s.worker, err = s.startProcess(ctx, "worker")
	return err
}

// tail returns the ends of the logs as an error, for a failure.
func (s *system) tail() error {
	var errs []error
	for _, role := range []string{"serve", "worker"} {
		log, err := os.ReadFile(filepath.Join(s.state, role+".log"))
		if err != nil {
			continue // it never started
		}
		errs = append(errs, fmt.Errorf("the log of %s ends with:\n%s", role, log[max(0, len(log)-2500):]))
	}
	return errors.Join(errs...)
}

// stop ends everything and removes what was written, unless it is to be kept.
func (s *system) stop(keep bool) error {
	for _, p := range []*process{s.worker, s.server} {
		if p != nil {
			p.kill()
		}
	}
	var errs []error
	if s.results != nil {
		errs = append(errs, s.results.Close())
	}
	if s.rows != nil {
		s.rows.Close()
	}
	if s.targets != nil {
		s.targets.stop()
	}
	if s.launcher != "" {
		errs = append(errs, s.engines(context.Background(), "down"))
	}
	if keep {
		return errors.Join(append(errs, fmt.Errorf("the state is kept in %s", s.state))...)
	}
	return errors.Join(append(errs, os.RemoveAll(s.state))...)
}
