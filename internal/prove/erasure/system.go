package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/db"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/prove/rig"
)

// patience is how long anything may take that has to happen.
const patience = 3 * time.Minute

// pair is the cluster of the two servers, and pairDatabase where its tables are.
const (
	pair         = "pair"
	pairDatabase = "assay_pair"
)

// system is one set of engines with a server and a worker on it, and an
// application that runs ask.
type system struct {
	*rig.System
	fixed     []string // environment of the application that is the same in every round
	neighbour rig.Organization
	server    *rig.Process
	worker    *rig.Process

	target   *http.Server
	address  string
	canary   atomic.Pointer[string] // what the target answers
	answered atomic.Int64
}

func start(ctx context.Context, o options) (s *system, err error) {
	s = &system{}
	if s.System, err = rig.New(ctx, o.binary); err != nil {
		return s, err
	}
	if err := s.Up(ctx); err != nil {
		return s, err
	}
	if err := s.serveTarget(ctx); err != nil {
		return s, err
	}
	master, err := secret.NewMasterKey()
	if err != nil {
		return s, err
	}
	s.Env = append(s.Env, "ASSAY_TRACE_GRPC_ADDR=", "ASSAY_EGRESS_ALLOW=127.0.0.0/8", "ASSAY_SECRET_MASTER_KEY="+master.Reveal(),
		"ASSAY_TRACE_INSERT_TIMEOUT=1s", "ASSAY_ERASURE_SETTLE="+o.settle.String(), "ASSAY_ERASURE_PURGE_INTERVAL=10s",
		"ASSAY_DATASET_KEEP_DELETED=1h", "ASSAY_EVALUATION_KEEP_DELETED=1h", "ASSAY_EVALUATION_CHUNK_TIME=5s")
	s.fixed = s.Env
	orgs, err := s.Prepare(ctx)
	if err != nil {
		return s, err
	}
	s.neighbour = orgs[0]
	return s, s.makePair(ctx)
}

// makePair makes the tables of the cluster: each server makes its own.
func (s *system) makePair(ctx context.Context) error {
	for _, name := range []string{"ASSAY_CLICKHOUSE_URL", "ASSAY_DEV_CLICKHOUSE_SHARD2_URL"} {
		u, err := inDatabase(s.Engine[name], "system")
		if err != nil {
			return err
		}
		if err := s.exec(ctx, u, "CREATE DATABASE IF NOT EXISTS "+pairDatabase); err != nil {
			return err
		}
		if u, err = inDatabase(s.Engine[name], pairDatabase); err != nil {
			return err
		}
		if _, err := clickhouse.MigrateShard(ctx, clickhouse.Config{URL: secret.Text(u), Cluster: pair}, db.ClickHouse()); err != nil {
			return err
		}
	}
	return nil
}

func inDatabase(text, database string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	u.Path = "/" + database
	return u.String(), nil
}

// use starts the application on one shard or on two.
func (s *system) use(ctx context.Context, shards int) error {
	s.halt()
	s.Env = slices.Clone(s.fixed)
	if shards == 2 {
		s.Env = append(s.Env, "ASSAY_CLICKHOUSE_CLUSTER="+pair)
		for _, name := range []string{"ASSAY_CLICKHOUSE_URL", "ASSAY_CLICKHOUSE_READER_URL"} {
			u, err := inDatabase(s.Engine[name], pairDatabase)
			if err != nil {
				return err
			}
			s.Env = append(s.Env, name+"="+u)
		}
	}
	var err error
	if s.server, err = s.Serve(ctx, "server", patience); err != nil {
		return err
	}
	return s.startWorker(ctx)
}

func (s *system) startWorker(ctx context.Context) (err error) {
	s.worker, err = s.Start(ctx, "worker", "worker")
	return err
}

// exec runs statements on one server of ClickHouse.
func (s *system) exec(ctx context.Context, address string, statements ...string) error {
	ch, err := clickhouse.Connect(secret.Text(address))
	if err != nil {
		return err
	}
	defer func() { _ = ch.Close() }()
	for _, text := range statements {
		if err := ch.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// serveTarget serves the application that runs ask: it is slow, and its answers
// have the canary.
func (s *system) serveTarget(ctx context.Context) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.address = "http://" + l.Addr().String()
	s.target = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rig.Sleep(r.Context(), 100*time.Millisecond) != nil {
			return
		}
		s.answered.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_ = json.MarshalWrite(w, map[string]any{"output": "The answer is " + *s.canary.Load()})
	})}
	go func() { _ = s.target.Serve(l) }() // it ends with the proof
	return nil
}

func (s *system) halt() {
	for _, p := range []*rig.Process{s.worker, s.server} {
		if p != nil {
			p.Kill()
		}
	}
	s.worker, s.server = nil, nil
}

// Logs returns the ends of the logs as an error.
func (s *system) Logs() error {
	return errors.Join(s.Tail("the log of serve", "serve"), s.Tail("the log of worker", "worker"))
}

// Stop ends everything and removes what was written, unless it is to be kept.
func (s *system) Stop(keep bool) error {
	s.halt()
	if s.target != nil {
		_ = s.target.Close()
	}
	err := s.Down()
	if keep {
		return errors.Join(err, fmt.Errorf("the state is kept in %s", s.State))
	}
	return errors.Join(err, s.Remove())
}

// await asks until something is so.
func (s *system) await(ctx context.Context, what string, so func() (bool, error)) error {
	for until := time.Now().Add(patience); ; {
		ok, err := so()
		if err != nil || ok {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("it does not come to this: %s", what)
		}
		if err := rig.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}
