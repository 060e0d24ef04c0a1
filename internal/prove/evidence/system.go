package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/prove/rig"
)

// engineNames are those that take part.
var engineNames = []string{"postgres", "clickhouse", "temporal"}

// system is one set of engines with a server on it.
type system struct {
	*rig.System
	options
	server *rig.Process
	stream driver.Conn // to the tables of the stream, past the server
	loads  int         // so far, for their names
}

func start(ctx context.Context, o options) (s *system, err error) {
	s = &system{options: o}
	if s.System, err = rig.New(ctx, o.Binary); err != nil {
		return s, err
	}
	if err := s.Up(ctx, engineNames...); err != nil {
		return s, err
	}
	if s.stream, err = clickhouse.Connect(secret.Text(s.Engine["ASSAY_CLICKHOUSE_URL"])); err != nil {
		return s, err
	}
	s.Env = append(s.Env, "ASSAY_REDIS_URL=", "ASSAY_TRACE_GRPC_ADDR=") // they take no part
	if _, err := s.Prepare(ctx); err != nil {
		return s, err
	}
	return s, s.startServer(ctx)
}

// organizations makes some that have no evidence yet, so that everything in them is of
// one load.
func (s *system) organizations(ctx context.Context, n int) (all []rig.Organization, err error) {
	s.loads++
	for i := range n {
		o, err := s.Bootstrap(ctx, fmt.Sprintf("Load %d %d", s.loads, i))
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// startServer starts the API and waits until it listens.
func (s *system) startServer(ctx context.Context) (err error) {
	s.server, err = s.Serve(ctx, "server", rig.Patience)
	return err
}

// Logs returns the end of the log as an error.
func (s *system) Logs() error { return s.Tail("the log of serve", "serve") }

// Stop ends everything and removes what was written, unless it is to be kept.
func (s *system) Stop(keep bool) error {
	if s.server != nil {
		s.server.Kill()
	}
	var errs []error
	if s.stream != nil {
		errs = append(errs, s.stream.Close())
	}
	errs = append(errs, s.Down())
	if keep {
		return errors.Join(append(errs, fmt.Errorf("the state is kept in %s", s.State))...)
	}
	return errors.Join(append(errs, s.Remove())...)
}
