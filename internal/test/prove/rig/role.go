package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Base is the system itself, for those that have it in them.
func (s *System) Base() *System { return s }

// StartServer starts the API and waits until it listens.
func (s *System) StartServer(ctx context.Context) (err error) {
	s.Server, err = s.Serve(ctx, "server", Patience)
	return err
}

// StartWorker starts the worker.
func (s *System) StartWorker(ctx context.Context) (err error) {
	s.Worker, err = s.Start(ctx, "worker", "worker")
	return err
}

// Halt ends the application as a power cut would.
func (s *System) Halt() {
	for _, p := range []*Process{s.Worker, s.Server} {
		if p != nil {
			p.Kill()
		}
	}
}

// Restart ends the roles that were started, and starts them as the system now says.
func (s *System) Restart(ctx context.Context) error {
	s.Halt()
	if s.Worker != nil {
		if err := s.StartWorker(ctx); err != nil {
			return err
		}
	}
	return s.StartServer(ctx)
}

// AwaitReady waits until the API says that the application is ready, or that it is not,
// and returns how long that took.
func (s *System) AwaitReady(ctx context.Context, want bool) (time.Duration, error) {
	began := time.Now()
	var last error
	for time.Since(began) < Patience {
		status, body, err := s.Call(ctx, Organization{}, http.MethodGet, "/api/health/ready", "", nil)
		if (err == nil && status == http.StatusOK && bytes.Contains(body, []byte(`"status":"ready"`))) == want {
			return time.Since(began), nil
		}
		if last = err; err == nil {
			last = fmt.Errorf("%d %s", status, http.StatusText(status))
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-s.Server.Exited():
			return 0, s.Server.Ended()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return 0, fmt.Errorf("ready=%t was not seen in %s: %w", want, Patience, last)
}

// Replica is the same system with a server at another address.
func (s *System) Replica() (*System, error) {
	address, err := FreeAddress()
	return &System{
		State: s.State, Engine: s.Engine, Binary: s.Binary, Removed: s.Removed, URL: "http://" + address,
		Env: append(s.Env[:len(s.Env):len(s.Env)], "ASSAY_HTTP_ADDR="+address), rand: s.rand,
	}, err
}

// Logs returns the ends of the logs as an error.
func (s *System) Logs() error {
	return errors.Join(s.Tail("the log of serve", "serve"), s.Tail("the log of worker", "worker"))
}

// OnStop has something ended before the engines are.
func (s *System) OnStop(end func() error) { s.ends = append(s.ends, end) }

// OnRemove has something done before what was written is removed.
func (s *System) OnRemove(do func() error) { s.removals = append(s.removals, do) }

// Stop ends everything and removes what was written, unless it is to be kept.
func (s *System) Stop(keep bool) error {
	s.Halt()
	var errs []error
	for _, end := range s.ends {
		errs = append(errs, end())
	}
	errs = append(errs, s.Down())
	if keep {
		return errors.Join(append(errs, fmt.Errorf("the state is kept in %s; what is mounted there has to be unmounted", s.State))...)
	}
	for _, do := range s.removals {
		errs = append(errs, do())
	}
	return errors.Join(append(errs, s.Remove())...)
}
