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
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// patience is how long the application may take to be ready again once its
// engines are up.
const patience = 30 * time.Second

// system is one set of engines with one application on it.
type system struct {
	state  string // folder of the engines' state
	env    []string
	url    string
	key    string
	app    *exec.Cmd
	exited chan error
	client *http.Client
}

func start(ctx context.Context) (*system, error) {
	s := &system{client: &http.Client{Timeout: 20 * time.Second}}
	var err error
	if s.state, err = os.MkdirTemp("", "assay-prove-"); err != nil {
		return s, err
	}
	if err := s.engines(ctx, "up"); err != nil {
		return s, err
	}
	if err := s.environment(); err != nil {
		return s, err
	}
	if err := s.startApp(ctx); err != nil {
		return s, err
	}
	if _, err := s.awaitReady(ctx, true); err != nil {
		return s, err
	}
	out, err := s.assay(ctx, "admin", "bootstrap", "--organization", "Proof").Output()
	if err != nil {
		return s, fmt.Errorf("bootstrap: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "SERVICE_API_KEY="); ok {
			s.key = v
		}
	}
	return s, nil
}

// engines runs the launcher on this system's own engines.
func (s *system) engines(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "dev/engines", args...)
	cmd.Env = append(os.Environ(), "ASSAY_DEV_STATE="+s.state)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("dev/engines %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func (s *system) environment() error {
	file, err := os.ReadFile(filepath.Join(s.state, "env"))
	if err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	pepper := make([]byte, 32)
	_, _ = rand.Read(pepper)
	s.url = "http://" + address
	s.env = []string{
		"ASSAY_HTTP_ADDR=" + address, "ASSAY_HTTP_INTERNAL_ADDR=", "ASSAY_KEY_PEPPER=" + hex.EncodeToString(pepper),
		"ASSAY_DATASET_KEEP_DELETED=0s", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
	}
	lines := bufio.NewScanner(bytes.NewReader(file))
	for lines.Scan() {
		s.env = append(s.env, lines.Text())
	}
	return lines.Err()
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (s *system) assay(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bin/assay", args...)
	cmd.Env = s.env
	return cmd
}

func (s *system) startApp(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(s.state, "app.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	s.app = s.assay(ctx, "all")
	s.app.Stdout, s.app.Stderr = log, log
	if err := s.app.Start(); err != nil {
		return fmt.Errorf("start bin/assay (run `make build`): %w", err)
	}
	_ = log.Close()
	app := s.app
	s.exited = make(chan error, 1)
	go func() { s.exited <- app.Wait() }()
	return nil
}

// killAndRecover kills one part under load, brings the engines up, and returns
// how long the application then took to be ready by itself.
func (s *system) killAndRecover(ctx context.Context, victim string) (time.Duration, error) {
	if victim == "app" {
		if err := s.app.Process.Signal(syscall.SIGKILL); err != nil {
			return 0, err
		}
		<-s.exited
		if err := s.startApp(ctx); err != nil {
			return 0, err
		}
		return s.awaitReady(ctx, true)
	}
	if err := s.engines(ctx, "kill", victim); err != nil {
		return 0, err
	}
	// The application has to notice: readiness that stays up is a lie. Redis is
	// optional, and the application serves on without it.
	if victim == "redis" {
		if err := s.engines(ctx, "up"); err != nil {
			return 0, err
		}
		return s.awaitReady(ctx, true)
	}
	if _, err := s.awaitReady(ctx, false); err != nil {
		return 0, fmt.Errorf("readiness did not notice: %w", err)
	}
	if err := s.engines(ctx, "up"); err != nil {
		return 0, err
	}
	return s.awaitReady(ctx, true)
}

// awaitReady waits until readiness is as wanted and returns how long it took.
func (s *system) awaitReady(ctx context.Context, want bool) (time.Duration, error) {
	began := time.Now()
	var last error
	for time.Since(began) < patience {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/health/ready", nil)
		if err != nil {
			return 0, err
		}
		res, err := s.client.Do(req)
		ready := err == nil && res.StatusCode == http.StatusOK
		if err == nil {
			last = errors.New(res.Status)
			_ = res.Body.Close()
		} else {
			last = err
		}
		if ready == want {
			return time.Since(began), nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case err := <-s.exited:
			s.exited <- err
			return 0, fmt.Errorf("the application ended: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return 0, fmt.Errorf("ready=%t was not seen in %s: %w", want, patience, last)
}

// tail returns the end of the application's log as an error, for a failure.
func (s *system) tail() error {
	log, err := os.ReadFile(filepath.Join(s.state, "app.log"))
	if err != nil {
		return err
	}
	return fmt.Errorf("the application's log ends with:\n%s", log[max(0, len(log)-3000):])
}

// stop ends the application and its engines and removes their state.
func (s *system) stop() error {
	if s.app != nil {
		_ = s.app.Process.Signal(syscall.SIGTERM)
		select {
		case <-s.exited:
		case <-time.After(patience):
			_ = s.app.Process.Kill()
		}
	}
	err := s.engines(context.Background(), "down")
	return errors.Join(err, os.RemoveAll(s.state))
}
