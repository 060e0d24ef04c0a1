package erasure

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
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// pair is the cluster of the two servers, and pairDatabase where its tables are.
const (
	pair         = "pair"
	pairDatabase = "assay_pair"
)

// system is one set of engines with a server and a worker on it, and an
// application that runs ask.
type system struct {
	*rig.System
	options
	fixed     []string // environment of the application that is the same in every round
	shards    []string // names of the addresses of ClickHouse
	neighbour rig.Organization

	address  string
	canary   atomic.Pointer[string] // what the target answers
	answered atomic.Int64
}

func start(ctx context.Context, o options) (s *system, err error) {
	s = &system{options: o, shards: []string{"ASSAY_CLICKHOUSE_URL", "ASSAY_DEV_CLICKHOUSE_SHARD2_URL"}}
	if s.System, err = rig.New(ctx, o.Binary, o.Seed); err != nil {
		return s, err
	}
	if err := s.Up(ctx); err != nil {
		return s, err
	}
	if err := s.serveTarget(ctx); err != nil {
		return s, err
	}
	if err := s.Keyed("ASSAY_TRACE_GRPC_ADDR=", "ASSAY_TRACE_INSERT_TIMEOUT=1s", "ASSAY_ERASURE_SETTLE="+o.settle.String(), "ASSAY_ERASURE_PURGE_INTERVAL=10s",
		"ASSAY_DATASET_KEEP_DELETED=1h", "ASSAY_EVALUATION_KEEP_DELETED=1h", "ASSAY_EVALUATION_CHUNK_TIME=5s"); err != nil {
		return s, err
	}
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
	for _, name := range s.shards {
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
	s.Halt()
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
	return errors.Join(s.StartServer(ctx), s.StartWorker(ctx))
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
	target := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rig.Sleep(r.Context(), 100*time.Millisecond) != nil {
			return
		}
		s.answered.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_ = json.MarshalWrite(w, map[string]any{"output": "The answer is " + *s.canary.Load()})
	})}
	go func() { _ = target.Serve(l) }() // it ends with the proof
	s.OnStop(target.Close)
	return nil
}

// await asks until something is so.
func (s *system) await(ctx context.Context, what string, so func() (bool, error)) error {
	for until := time.Now().Add(3 * rig.Patience); ; { // an erasure hears late of a worker that died
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
