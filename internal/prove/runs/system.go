package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/assayhq/assay/internal/client/api"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/prove/rig"
)

// patience is how long anything may take that has to happen.
const patience = rig.Patience

// engineNames are those that take part.
var engineNames = []string{"postgres", "clickhouse", "temporal"}

// organization is one tenant with its key to the provider.
type organization struct {
	rig.Organization
	providerKey string
}

// system is one set of engines with a server and a worker on it, and what the
// worker asks.
type system struct {
	*rig.System
	options
	orgs    []*organization
	results driver.Conn
	rows    *pgxpool.Pool // as the owner, who sees all organizations
	targets *targets
	server  *rig.Process
	worker  *rig.Process
}

func start(ctx context.Context, o options) (s *system, err error) {
	s = &system{options: o}
	if s.System, err = rig.New(ctx, o.Binary); err != nil {
		return s, err
	}
	if err := s.Up(ctx, engineNames...); err != nil {
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
	orgs, err := s.Prepare(ctx)
	if err != nil {
		return s, err
	}
	if err := errors.Join(s.startServer(ctx), s.startWorker(ctx)); err != nil {
		return s, err
	}
	for _, o := range orgs {
		if err := s.admit(ctx, o); err != nil {
			return s, err
		}
	}
	return s, nil
}

// environment adds what the application is told beside its engines.
func (s *system) environment() error {
	master, err := secret.NewMasterKey()
	if err != nil {
		return err
	}
	s.Env = append(s.Env,
		"ASSAY_REDIS_URL=", // it takes no part
		"ASSAY_TRACE_GRPC_ADDR=", "ASSAY_EGRESS_ALLOW=127.0.0.0/8", "ASSAY_SECRET_MASTER_KEY="+master.Reveal(),
		// Short chunks: a run has several of them.
		"ASSAY_EVALUATION_CHUNK_TIME=2s", "ASSAY_EVALUATION_HEARTBEAT="+s.heartbeat.String())
	return nil
}

// open connects the check to the stores.
func (s *system) open(ctx context.Context) (err error) {
	if s.results, err = clickhouse.Connect(secret.Text(s.Engine["ASSAY_CLICKHOUSE_URL"])); err != nil {
		return err
	}
	s.rows, err = pgxpool.New(ctx, s.Engine["ASSAY_POSTGRES_OWNER_URL"])
	return err
}

// admit gives an organization a key to the simulated provider and notes it.
func (s *system) admit(ctx context.Context, tenant rig.Organization) error {
	o := &organization{Organization: tenant}
	var made api.ProviderKey
	err := s.Post(ctx, o.Organization, "/api/developer/provider-keys", "provider", map[string]any{
		"provider": "openai", "name": "simulated", "baseUrl": s.targets.models + "/v1", "secret": "only-for-proofs",
	}, &made)
	o.providerKey = strconv.FormatInt(made.ID, 10)
	s.orgs = append(s.orgs, o)
	return err
}

// startServer starts the API and waits until it listens.
func (s *system) startServer(ctx context.Context) (err error) {
	s.server, err = s.Serve(ctx, "server", patience)
	return err
}

func (s *system) startWorker(ctx context.Context) (err error) {
	s.worker, err = s.Start(ctx, "worker", "worker")
	return err
}

// Logs returns the ends of the logs as an error.
func (s *system) Logs() error {
	return errors.Join(s.Tail("the log of serve", "serve"), s.Tail("the log of worker", "worker"))
}

// Stop ends everything and removes what was written, unless it is to be kept.
func (s *system) Stop(keep bool) error {
	for _, p := range []*rig.Process{s.worker, s.server} {
		if p != nil {
			p.Kill()
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
	errs = append(errs, s.Down())
	if keep {
		return errors.Join(append(errs, fmt.Errorf("the state is kept in %s", s.State))...)
	}
	return errors.Join(append(errs, s.Remove())...)
}
