package judge

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// options are what a shortened proof changes.
type options struct {
	rig.Options
	runs, width, caps int
	heartbeat         time.Duration
}

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
}

func start(ctx context.Context, o options) (s *system, err error) {
	s = &system{options: o}
	if s.System, err = rig.New(ctx, o.Binary, o.Seed); err != nil {
		return s, err
	}
	if err := s.Up(ctx, "postgres", "clickhouse", "temporal"); err != nil {
		return s, err
	}
	if err := s.environment(); err != nil {
		return s, err
	}
	orgs, err := s.Prepare(ctx)
	if err != nil {
		return s, err
	}
	if err := errors.Join(s.StartServer(ctx), s.StartWorker(ctx)); err != nil {
		return s, err
	}
	return s, s.settleIn(ctx, orgs)
}

// environment adds what the application is told beside its engines.
func (s *system) environment() error {
	address, err := rig.FreeAddress()
	if err != nil {
		return err
	}
	spans := &http.Server{Addr: address, ReadHeaderTimeout: 10 * time.Second, Handler: s.keepSpans()}
	go func() { _ = spans.ListenAndServe() }() // it ends with the proof
	s.OnStop(spans.Close)
	s.Heartbeat = s.heartbeat
	// Redis takes no part. Short chunks: a run has several of them.
	return s.Keyed("ASSAY_REDIS_URL=", "ASSAY_TRACE_GRPC_ADDR=", "ASSAY_EVALUATION_CHUNK_TIME=2s", "ASSAY_EVALUATION_HEARTBEAT="+s.heartbeat.String(),
		"ASSAY_TELEMETRY_TRACES_URL=http://"+address+"/v1/traces", "ASSAY_TELEMETRY_TRACE_RATIO=1", "ASSAY_TELEMETRY_LOG_LEVEL=debug")
}

// settleIn starts the provider, connects the check to ClickHouse and admits organizations.
func (s *system) settleIn(ctx context.Context, orgs []rig.Organization) (err error) {
	if s.provider, err = startProvider(ctx); err != nil {
		return err
	}
	s.OnStop(s.provider.server.Close)
	if s.scores, err = clickhouse.Connect(secret.Text(s.Engine["ASSAY_CLICKHOUSE_URL"])); err != nil {
		return err
	}
	s.OnStop(s.scores.Close)
	for _, org := range orgs {
		t, err := s.admit(ctx, org, "only-for-proofs")
		if err != nil {
			return err
		}
		s.orgs = append(s.orgs, t)
	}
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
