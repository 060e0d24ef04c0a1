package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/prove/rig"
)

const (
	patience = 2 * time.Minute
	// budgetBytes is what a process takes on at one time. It is the least that
	// can be set, so that attacks fill it at once, and budgetWeight is what a byte
	// of it takes in memory at most.
	budgetBytes, budgetWeight = 64 << 20, 6
)

// system is one set of engines with a server and a worker on it.
type system struct {
	*rig.System
	server, worker *rig.Process
	spans          *clickhouse.DB
	target         *http.Server // an application that answers slowly
	targetURL      string
	restore        func()
}

func start(ctx context.Context, binary string) (s *system, err error) {
	s = &system{}
	if s.System, err = rig.New(ctx, binary); err != nil {
		return s, err
	}
	if err := s.Up(ctx, "postgres", "clickhouse", "temporal"); err != nil {
		return s, err
	}
	s.restore = rig.ByThreads()
	master, err := secret.NewMasterKey()
	if err != nil {
		return s, err
	}
	s.Env = append(s.Env, "ASSAY_REDIS_URL=", "ASSAY_TRACE_GRPC_ADDR=", "ASSAY_EGRESS_ALLOW=127.0.0.0/8",
		"ASSAY_SECRET_MASTER_KEY="+master.Reveal(), "ASSAY_ADMISSION_BYTES="+strconv.Itoa(budgetBytes),
		// Sized for a machine of two processors that runs all engines too.
		"ASSAY_EVALUATION_CHUNK_TIME=2s", "ASSAY_EVALUATION_RUNS=20", "ASSAY_EVALUATION_SLOTS=4", "ASSAY_POSTGRES_MAX_CONNS=6",
		"ASSAY_CLICKHOUSE_READER_URL="+s.Engine["ASSAY_CLICKHOUSE_READER_URL"]+"?max_open_conns=6")
	if out, err := s.Assay(ctx, "migrate").CombinedOutput(); err != nil {
		return s, fmt.Errorf("migrate: %w\n%s", err, out)
	}
	if s.spans, err = clickhouse.Open(clickhouse.Config{
		URL: secret.Text(s.Engine["ASSAY_CLICKHOUSE_URL"]), ReaderURL: secret.Text(s.Engine["ASSAY_CLICKHOUSE_READER_URL"]),
	}); err != nil {
		return s, err
	}
	if err := s.startTarget(ctx); err != nil {
		return s, err
	}
	return s, s.startApp(ctx)
}

// startApp starts server and worker.
func (s *system) startApp(ctx context.Context) (err error) {
	if s.server, err = s.Serve(ctx, "server", patience); err != nil {
		return err
	}
	s.worker, err = s.Start(ctx, "worker", "worker")
	return err
}

// stopApp ends server and worker, which may be dead already.
func (s *system) stopApp() {
	for _, p := range []*rig.Process{s.worker, s.server} {
		if p != nil {
			p.Kill()
		}
	}
}

// startTarget starts an application that takes a second for each answer.
func (s *system) startTarget(ctx context.Context) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.targetURL = "http://" + l.Addr().String()
	s.target = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rig.Sleep(r.Context(), time.Second) == nil {
			fmt.Fprint(w, `{"output":"late"}`)
		}
	})}
	go func() { _ = s.target.Serve(l) }() // it ends with the proof
	return nil
}

// Logs returns the ends of the logs as an error.
func (s *system) Logs() error {
	return errors.Join(s.Tail("the log of serve", "serve"), s.Tail("the log of worker", "worker"))
}

// Stop ends everything and removes what was written, unless it is to be kept.
func (s *system) Stop(keep bool) error {
	s.stopApp()
	if s.restore != nil {
		s.restore()
	}
	var errs []error
	if s.spans != nil {
		errs = append(errs, s.spans.Close())
	}
	if s.target != nil {
		_ = s.target.Close()
	}
	errs = append(errs, s.Down())
	if keep {
		return errors.Join(append(errs, fmt.Errorf("the state is kept in %s", s.State))...)
	}
	return errors.Join(append(errs, s.Remove())...)
}
