package engines

import (
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// patience is how long a write may take that has to happen.
const patience = rig.Patience

// system is one set of engines with one application on it, in all roles.
type system struct {
	*rig.System
	org rig.Organization
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
	if _, err := s.AwaitReady(ctx, true); err != nil {
		return s, err
	}
	s.org, err = s.Bootstrap(ctx, "Proof")
	return s, err
}

func (s *system) startApp(ctx context.Context) (err error) {
	s.Server, err = s.Start(ctx, "application", "all")
	return err
}

// killAndRecover kills one part under load, brings the engines up, and returns
// how long the application then took to be ready by itself.
func (s *system) killAndRecover(ctx context.Context, victim string) (time.Duration, error) {
	if victim == "app" {
		if !s.Server.Kill() {
			return 0, s.Server.Ended()
		}
		if err := s.startApp(ctx); err != nil {
			return 0, err
		}
		return s.AwaitReady(ctx, true)
	}
	if err := s.Engines(ctx, "kill", victim); err != nil {
		return 0, err
	}
	// The application has to notice: readiness that stays up is a lie. Redis is
	// optional, and the application serves on without it.
	if victim != "redis" {
		if _, err := s.AwaitReady(ctx, false); err != nil {
			return 0, fmt.Errorf("readiness did not notice: %w", err)
		}
	}
	if err := s.Engines(ctx, "up"); err != nil {
		return 0, err
	}
	return s.AwaitReady(ctx, true)
}

// Logs returns the end of the application's log as an error.
func (s *system) Logs() error { return s.Tail("the application's log", "all") }
