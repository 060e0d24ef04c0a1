// Package rig is what proofs stand on: engines of their own, which they may
// kill, and the application as a process that they may kill too.
package rig

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/platform/secret"
)

// System is one set of engines and the application that runs on it.
type System struct {
	State   string            // folder of everything that is written
	Engine  map[string]string // the engines' own addresses, by the application's names for them
	Binary  string            // the application
	URL     string            // where it serves
	Env     []string          // its environment, of which the last word counts
	Removed string            // the guard that it runs without

	// Server and Worker are the roles of the application, once they are started.
	Server, Worker *Process
	// Heartbeat is the longest silence of a worker.
	Heartbeat time.Duration
	// Points are those at which the application died, and how often.
	Points map[failpoint.Point]int

	launcher       string
	engines        []string // those that take part
	rand           *rand.Rand
	ends, removals []func() error

	mu      sync.Mutex
	crashes []*Crash
}

// New makes a system without engines, whose random choices follow from a seed. Even
// one that comes with an error is to be removed.
func New(ctx context.Context, binary string, seed uint64) (*System, error) {
	s := &System{Engine: map[string]string{}, Binary: binary, Points: map[failpoint.Point]int{}, rand: rand.New(rand.NewPCG(seed, 7))}
	var err error
	if s.State, err = os.MkdirTemp("", "assay-prove-"); err != nil {
		return s, err
	}
	launcher := filepath.Join(s.State, "launcher")
	if out, err := exec.CommandContext(ctx, "go", "-C", "dev", "build", "-o", launcher, "./cmd/engines").CombinedOutput(); err != nil {
		return s, fmt.Errorf("build the launcher: %w\n%s", err, out)
	}
	s.launcher = launcher
	return s, nil
}

// Up starts engines, all of them if none is named, and tells the application
// where they are.
func (s *System) Up(ctx context.Context, names ...string) error {
	s.engines = names
	if err := s.bring(ctx); err != nil {
		return err
	}
	file, err := os.ReadFile(filepath.Join(s.State, "env"))
	if err != nil {
		return err
	}
	address, err := FreeAddress()
	if err != nil {
		return err
	}
	pepper := make([]byte, 32)
	_, _ = cryptorand.Read(pepper)
	s.URL = "http://" + address
	s.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
		"ASSAY_HTTP_ADDR=" + address, "ASSAY_HTTP_INTERNAL_ADDR=",
		"ASSAY_KEY_PEPPER=" + hex.EncodeToString(pepper), "ASSAY_PAGES_ATTEMPTS_MINUTE=1000000", "ASSAY_DEV_FAILPOINT_FILE=" + s.trap(),
		// A load is no customer: no limit of a plan may end it.
		"ASSAY_PLAN_SELF_HOSTED_HOUR=1000000000",
	}
	for line := range strings.Lines(string(file)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			s.Engine[name] = strings.Trim(value, `'"`)
			s.Env = append(s.Env, name+"="+s.Engine[name])
		}
	}
	return nil
}

// Keyed gives the application a master key, and lets it ask this machine. More is what
// else it is told.
func (s *System) Keyed(more ...string) error {
	master, err := secret.NewMasterKey()
	s.Env = append(append(s.Env, "ASSAY_SECRET_MASTER_KEY="+master.Reveal(), "ASSAY_EGRESS_ALLOW=127.0.0.0/8"), more...)
	return err
}

// autogroup is whether the kernel shares the processors out by sessions.
const autogroup = "/proc/sys/kernel/sched_autogroup_enabled"

// ByThreads lets the kernel share the processors out by threads, as on a server,
// until restore is called. By sessions, as on a desktop, each connection of
// PostgreSQL would have as much of them as the whole of another engine. Where it
// may not be changed it stays.
func ByThreads() (restore func()) {
	was, err := os.ReadFile(autogroup)
	if err != nil || os.WriteFile(autogroup, []byte("0"), 0) != nil {
		return func() {}
	}
	return func() { _ = os.WriteFile(autogroup, was, 0) }
}

// bring brings up the engines that take part. The launcher gives up sooner than a busy
// machine answers it.
func (s *System) bring(ctx context.Context) error {
	return UntilUp(ctx, func() error { return s.Engines(ctx, append([]string{"up"}, s.engines...)...) })
}

// Engines runs the launcher on this system's own engines.
func (s *System) Engines(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, s.launcher, append([]string{"-root", ".", "-state", s.State}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("engines %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// Down stops the engines, if there are any.
func (s *System) Down() error {
	if s.launcher == "" {
		return nil
	}
	return s.Engines(context.Background(), "down")
}

// Remove removes everything that was written.
func (s *System) Remove() error { return os.RemoveAll(s.State) }

// Tail returns the end of a role's log as an error, for a failure. A role that
// never started has none.
func (s *System) Tail(what, role string) error {
	log, err := os.ReadFile(s.log(role))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return errors.Join(err, fmt.Errorf("%s ends with:\n%s", what, log[max(0, len(log)-3000):]))
}

func (s *System) log(role string) string { return filepath.Join(s.State, role+".log") }

// FreeAddress is one of this machine that nobody listens at.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Sleep waits, as long as the proof goes on.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
