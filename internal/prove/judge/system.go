package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/assayhq/assay/internal/client/api"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/prove/rig"
)

// engineNames are those that take part.
var engineNames = []string{"postgres", "clickhouse", "temporal"}

// tenant is an organization with its judges.
type tenant struct {
	rig.Organization
	inRuns, single string // ids of judges
}

// system is one set of engines with a server and a worker on it, and the provider
// that judges ask.
type system struct {
	*rig.System
	options
	orgs     []tenant
	scores   driver.Conn
	provider *provider
	spans    *http.Server // takes the application's own traces
	server   *rig.Process
	worker   *rig.Process
}

func start(ctx context.Context, o options) (s *system, err error) {
	s = &system{options: o}
	if s.System, err = rig.New(ctx, o.Binary); err != nil {
		return s, err
	}
	if err := s.Up(ctx, engineNames...); err != nil {
		return s, err
	}
	if s.provider, err = startProvider(ctx); err != nil {
		return s, err
	}
	if err := s.environment(); err != nil {
		return s, err
	}
	if s.scores, err = clickhouse.Connect(secret.Text(s.Engine["ASSAY_CLICKHOUSE_URL"])); err != nil {
		return s, err
	}
	orgs, err := s.Prepare(ctx)
	if err != nil {
		return s, err
	}
	if err := errors.Join(s.startServer(ctx), s.startWorker(ctx)); err != nil {
		return s, err
	}
	for _, org := range orgs {
		t, err := s.admit(ctx, org, "only-for-proofs")
		if err != nil {
			return s, err
		}
		s.orgs = append(s.orgs, t)
	}
	return s, nil
}

// environment adds what the application is told beside its engines.
func (s *system) environment() error {
	master, err := secret.NewMasterKey()
	if err != nil {
		return err
	}
	address, err := rig.FreeAddress()
	if err != nil {
		return err
	}
	s.spans = &http.Server{Addr: address, ReadHeaderTimeout: 10 * time.Second, Handler: s.keepSpans()}
	go func() { _ = s.spans.ListenAndServe() }() // it ends with the proof
	s.Env = append(s.Env,
		"ASSAY_REDIS_URL=", // it takes no part
		"ASSAY_TRACE_GRPC_ADDR=", "ASSAY_EGRESS_ALLOW=127.0.0.0/8", "ASSAY_SECRET_MASTER_KEY="+master.Reveal(),
		"ASSAY_TELEMETRY_TRACES_URL=http://"+address+"/v1/traces", "ASSAY_TELEMETRY_TRACE_RATIO=1", "ASSAY_TELEMETRY_LOG_LEVEL=debug",
		// Short chunks: a run has several of them.
		"ASSAY_EVALUATION_CHUNK_TIME=2s", "ASSAY_EVALUATION_HEARTBEAT="+s.heartbeat.String())
	return nil
}

// keepSpans writes the application's own spans where they are searched.
func (s *system) keepSpans() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = appendTo(filepath.Join(s.State, "spans.otlp"), body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
}

func appendTo(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// admit gives an organization a key to the provider and its judges.
func (s *system) admit(ctx context.Context, org rig.Organization, text string) (t tenant, err error) {
	t.Organization = org
	key, err := s.providerKey(ctx, org, "simulated", text)
	if err != nil {
		return t, err
	}
	if t.inRuns, err = s.judge(ctx, org, "runs", key, nil); err != nil {
		return t, err
	}
	t.single, err = s.judge(ctx, org, "single", key, nil)
	return t, err
}

func (s *system) providerKey(ctx context.Context, org rig.Organization, name, text string) (int64, error) {
	var made api.ProviderKey
	err := s.Post(ctx, org, "/api/developer/provider-keys", "provider "+name, map[string]any{
		"provider": "openai", "name": name, "baseUrl": s.provider.url, "secret": text,
	}, &made)
	return made.ID, err
}

// judge makes a judge that asks with a key.
func (s *system) judge(ctx context.Context, org rig.Organization, name string, key int64, more map[string]any) (id string, err error) {
	body := map[string]any{"key": name, "starter": "helpfulness", "provider": "openai", "model": "judge", "providerKeyId": key}
	for field, value := range more {
		body[field] = value
	}
	var made struct {
		ID string `json:"id"`
	}
	err = s.Post(ctx, org, "/api/llm-judge/configs", "judge "+name, body, &made)
	return made.ID, err
}

// startServer starts the API and waits until it listens.
func (s *system) startServer(ctx context.Context) (err error) {
	s.server, err = s.Serve(ctx, "server", rig.Patience)
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
	if s.scores != nil {
		errs = append(errs, s.scores.Close())
	}
	for _, server := range []*http.Server{s.spans, s.serverOf()} {
		if server != nil {
			_ = server.Close()
		}
	}
	errs = append(errs, s.Down())
	if keep {
		return errors.Join(append(errs, fmt.Errorf("the state is kept in %s", s.State))...)
	}
	return errors.Join(append(errs, s.Remove())...)
}

func (s *system) serverOf() *http.Server {
	if s.provider == nil {
		return nil
	}
	return s.provider.server
}
