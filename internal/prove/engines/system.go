package engines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/assayhq/assay/internal/prove/rig"
)

// patience is how long the application may take to be ready again once its
// engines are up.
const patience = 30 * time.Second

// system is one set of engines with one application on it.
type system struct {
	*rig.System
	org rig.Organization
	app *rig.Process
}

func start(ctx context.Context) (s *system, err error) {
	s = &system{}
	if s.System, err = rig.New(ctx, "bin/assay", 0); err != nil {
		return s, err
	}
	if err := s.Up(ctx); err != nil {
		return s, err
	}
	s.Env = append(s.Env, "ASSAY_DATASET_KEEP_DELETED=0s")
	if err := s.startApp(ctx); err != nil {
		return s, err
	}
	if _, err := s.awaitReady(ctx, true); err != nil {
		return s, err
	}
	s.org, err = s.Bootstrap(ctx, "Proof")
	return s, err
}

func (s *system) startApp(ctx context.Context) (err error) {
	s.app, err = s.Start(ctx, "application", "all")
	return err
}

// killAndRecover kills one part under load, brings the engines up, and returns
// how long the application then took to be ready by itself.
func (s *system) killAndRecover(ctx context.Context, victim string) (time.Duration, error) {
	if victim == "app" {
		if !s.app.Kill() {
			return 0, s.app.Ended()
		}
		if err := s.startApp(ctx); err != nil {
			return 0, err
		}
		return s.awaitReady(ctx, true)
	}
	if err := s.Engines(ctx, "kill", victim); err != nil {
		return 0, err
	}
	// The application has to notice: readiness that stays up is a lie. Redis is
	// optional, and the application serves on without it.
	if victim != "redis" {
		if _, err := s.awaitReady(ctx, false); err != nil {
			return 0, fmt.Errorf("readiness did not notice: %w", err)
		}
	}
	if err := s.Engines(ctx, "up"); err != nil {
		return 0, err
	}
	return s.awaitReady(ctx, true)
}

// awaitReady waits until readiness is as wanted and returns how long it took.
func (s *system) awaitReady(ctx context.Context, want bool) (time.Duration, error) {
	began := time.Now()
	var last error
	for time.Since(began) < patience {
		status, body, err := s.Call(ctx, rig.Organization{}, http.MethodGet, "/api/health/ready", "", nil)
		if (err == nil && status == http.StatusOK && bytes.Contains(body, []byte(`"status":"ready"`))) == want {
			return time.Since(began), nil
		}
		if last = err; err == nil {
			last = fmt.Errorf("%d %s", status, http.StatusText(status))
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-s.app.Exited():
			return 0, s.app.Ended()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return 0, fmt.Errorf("ready=%t was not seen in %s: %w", want, patience, last)
}

// Logs returns the end of the application's log as an error.
func (s *system) Logs() error { return s.Tail("the application's log", "all") }

// Stop ends the application and its engines, and removes their state.
func (s *system) Stop(bool) error {
	if s.app != nil && s.app.Stop(patience) != nil {
		s.app.Kill()
	}
	return errors.Join(s.Down(), s.Remove())
}
