// Package testkit boots the whole application on real engines for one test and
// drives it through a client, as a user would.
package testkit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/platform/devenv"
	"github.com/assayhq/assay/internal/platform/postgres/postgrestest"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/trace"
)

// Pepper is the key pepper of every test.
const Pepper = "a pepper for tests, of 32 or more characters"

// Kit is an application of a test's own: its database, its ClickHouse
// database, its task queues, its clock.
type Kit struct {
	App   *app.App
	Clock *Clock
	URL   string
}

// New boots the application. Everything it made is gone after the test, except
// the databases of a test that fails.
func New(t testing.TB) *Kit {
	t.Helper()
	cfg := Config(t)
	clock := &Clock{}
	a, err := app.New(context.WithoutCancel(t.Context()), cfg, "test", clock.Now)
	require.NoError(t, err)
	t.Cleanup(func() { _ = a.Close() })
	srv := httptest.NewServer(a.Edge)
	t.Cleanup(srv.Close)
	return &Kit{App: a, Clock: clock, URL: srv.URL}
}

// Config is the configuration of an application with databases of its own.
func Config(t testing.TB) app.Config {
	t.Helper()
	address, err := devenv.Get("ASSAY_TEMPORAL_ADDRESS")
	require.NoError(t, err)
	namespace, err := devenv.Get("ASSAY_TEMPORAL_NAMESPACE")
	require.NoError(t, err)
	cfg := app.Config{
		HTTP:     httpapi.Config{Addr: "127.0.0.1:0", RequestTimeout: 30 * time.Second, ShutdownTimeout: 10 * time.Second},
		Temporal: temporal.Config{Address: address, Namespace: namespace, QueuePrefix: "test-" + random()},
		Key:      tenancy.Config{Pepper: Pepper, PepperVersion: 1},
		Plan:     tenancy.PlanConfig{Default: string(tenancy.PlanSelfHosted), SelfHostedHour: 1_000_000, EnterpriseHour: 100_000, SpansHour: 1_000_000, BytesHour: 1_000_000_000},
	}
	cfg.Blob.URL = "file://" + t.TempDir()
	cfg.Trace = trace.Config{RetentionDays: 90, InflightBytes: 256 << 20, InsertTimeout: 6 * time.Second}
	cfg.Evaluation = evaluation.Config{Slots: 32, Concurrency: 16, ChunkTime: 15 * time.Second, ClientTimeout: 24 * time.Hour}
	// The two databases are made side by side.
	var g errgroup.Group
	g.Go(func() error { cfg.ClickHouse = clickhousetest.New(t); return nil })
	cfg.Postgres = postgrestest.New(t)
	require.NoError(t, g.Wait())
	return cfg
}

// Work runs the application's worker role until the test ends.
func (k *Kit) Work(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := k.WorkUntil(ctx)
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("worker: %v", err)
		}
	})
}

// WorkUntil runs the application's worker role until ctx ends, and then says
// how it ended.
func (k *Kit) WorkUntil(ctx context.Context) <-chan error {
	done := make(chan error, 1)
	go func() { done <- k.App.Run(ctx, app.RoleWorker) }()
	return done
}

// Org makes an organization and returns a client whose key has every scope.
func (k *Kit) Org(t testing.TB) *Client {
	t.Helper()
	made, err := k.App.Tenancy.Bootstrap(t.Context(), "Test", tenancy.FirstMember{Email: "owner@example.com"}, tenancy.NewKey{
		Name: "everything", Mode: tenancy.ModeTest, Scopes: principal.Scopes,
	})
	require.NoError(t, err)
	return &Client{Org: made.Org, Owner: made.Owner, Key: made.Key, base: k.URL}
}

// Key makes another key of an organization and returns a client that uses it.
func (k *Kit) Key(t testing.TB, of *Client, scopes ...principal.Scope) *Client {
	t.Helper()
	_, key, err := k.App.Tenancy.CreateKey(t.Context(), of.Org, tenancy.NewKey{
		Name: "some " + random(), Mode: tenancy.ModeTest, Scopes: scopes,
	})
	require.NoError(t, err)
	return &Client{Org: of.Org, Key: key, base: k.URL}
}

// Clock is real time that a test can move forward.
type Clock struct{ ahead atomic.Int64 }

// Now is the time that the application sees.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Advance moves the application's time forward.
func (c *Clock) Advance(d time.Duration) { c.ahead.Add(int64(d)) }

func random() string {
	b := make([]byte, 6)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
