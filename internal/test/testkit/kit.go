// Package testkit boots the whole application on real engines for one test and
// drives it through a client, as a user would.
package testkit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/config"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy"
)

// Kit is an application with databases, task queues and a clock of its own.
type Kit struct {
	App   *app.App
	Clock *Clock
	URL   string

	entering sync.Mutex
	owners   map[principal.OrgID]secret.Text // keys of owners who have come in
}

// NewWith boots the application with a configuration of the test's own, which
// the application must accept. Everything it made is gone after the test, except
// the databases of a test that fails.
func NewWith(t testing.TB, cfg app.Config) *Kit {
	t.Helper()
	return NewAt(t, cfg, &Clock{})
}

// NewAt boots the application with a clock of the test's own: one more replica,
// if another application has the same configuration.
func NewAt(t testing.TB, cfg app.Config, clock *Clock) *Kit {
	t.Helper()
	require.NoError(t, config.Validate(&cfg))
	booted(t)
	a, err := app.New(context.WithoutCancel(t.Context()), cfg, "test", clock.Now)
	require.NoError(t, err)
	t.Cleanup(func() { _ = a.Close() })
	srv := httptest.NewServer(a.Edge)
	t.Cleanup(srv.Close)
	return &Kit{App: a, Clock: clock, URL: srv.URL, owners: map[principal.OrgID]secret.Text{}}
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
	return newClient(Client{Org: made.Org, Owner: made.Owner, Key: made.Key, base: k.URL, kit: k})
}

// Key makes another key of an organization and returns a client that uses it.
func (k *Kit) Key(t testing.TB, of *Client, scopes ...principal.Scope) *Client {
	t.Helper()
	_, key, err := k.App.Tenancy.CreateKey(t.Context(), of.Org, tenancy.NewKey{
		Name: "some " + random(), Mode: tenancy.ModeTest, Scopes: scopes,
	})
	require.NoError(t, err)
	return newClient(Client{Org: of.Org, Key: key, base: k.URL, kit: k})
}

// Clock is real time that a test can move forward.
type Clock struct {
	ahead, step atomic.Int64
	shared      atomic.Bool // with other tests, so nobody moves it
}

// Now is the time that the application sees.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Add(c.step.Load()))) }

// Step has every reading of the clock move it forward, so that two readings where one is
// meant are never the same by luck.
func (c *Clock) Step(d time.Duration) {
	c.own()
	c.step.Store(int64(d))
}

// reset is real time again.
func (c *Clock) reset() {
	c.ahead.Store(0)
	c.step.Store(0)
}

// Advance moves the application's time forward.
func (c *Clock) Advance(d time.Duration) {
	c.own()
	c.ahead.Add(int64(d))
}

func (c *Clock) own() {
	if c.shared.Load() {
		panic("other tests have the same clock: use testkit.Moving, or testkit.Own if there is a worker")
	}
}

func random() string {
	b := make([]byte, 6)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
