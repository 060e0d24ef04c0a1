// Package edge_test measures what recognising and limiting a caller costs a
// request, on a handler that does nothing else.
package edge_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/devenv"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/ratelimit"
	"github.com/assayhq/assay/internal/platform/redis"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/testkit"
)

const (
	goal  = 0.95
	floor = 0.85
	// shortFloor is that of a short run, whose slices are noisy.
	shortFloor = 0.75
	// connections that send at once: enough to keep two cores busy.
	connections = 4
)

// The sides, in the order of the measures.
const (
	memory = iota // recognised, limited by this process, metered
	bare          // the same edge with a caller and a quota that are given
	silent        // the same without a quota, so without its five headers
	shared        // recognised, limited through Redis, metered
)

func TestBench(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "a bench measures it")
	client := k.Org(t)
	given, err := k.App.Tenancy.Authenticate(t.Context(), client.Key.Reveal())
	require.NoError(t, err)
	meter(t, k.App.Tenancy)

	request := bench.Get("/api/nothing", client.Key.Reveal())
	var loads []bench.Load
	recognise := func(context.Context, string) (principal.Caller, error) { return given, nil }
	for _, opts := range []httpapi.Options{
		memory: options(k.App.Tenancy),
		bare: {Authenticate: recognise, Limit: func(context.Context, principal.Caller) (httpapi.Quota, error) {
			return httpapi.Quota{Allowed: true, Limit: given.HourlyLimit, Remaining: 900_000, Reset: time.Hour, Window: time.Hour}, nil
		}},
		silent: {Authenticate: recognise},
		shared: options(withRedis(t, k)),
	} {
		opts.Config = k.App.Config.HTTP
		loads = append(loads, bench.Load{Conns: serve(t, opts), Requests: [][]byte{request}, Now: time.Now})
	}
	agree(t, loads, request)
	bench.Quiet(t)

	slice, fewest, most := 1000, bench.MinRounds, 30
	switch {
	case bench.Raced:
		slice, fewest, most = 100, 3, 3
	case bench.Whole():
		slice, fewest, most = 5000, 41, 41
	}
	// The judged measure is requests per second of processor time: nothing here
	// waits, so that is what the machine could do if it were ours alone.
	var sides []bench.Side
	clock := make([][]float64, len(loads))
	for i, l := range loads {
		_, err := l.Rate(slice) // warm
		require.NoError(t, err)
		sides = append(sides, func() (float64, error) {
			before := cpu(t)
			rate, err := l.Rate(slice)
			clock[i] = append(clock[i], rate)
			return float64(slice) / (cpu(t) - before).Seconds(), err
		})
	}
	rounds, err := bench.Run(fewest, most, func(r bench.Rounds) bool { return r.Ratio(memory, bare).Low >= floor }, sides...)
	require.NoError(t, err)

	got, wall := rounds.Ratio(memory, bare), bench.Columns(clock...)
	_, _ = fmt.Fprintf(os.Stdout, "requests per processor second, recognised, limited and metered ÷ given caller and quota: %v; goal %.2f, floor %.2f\n", got, goal, floor)
	_, _ = fmt.Fprintf(os.Stdout, "the same per second of the clock: %v\n", wall.Ratio(memory, bare))
	_, _ = fmt.Fprintf(os.Stdout, "the same ÷ an edge that sends no quota headers: %v\n", rounds.Ratio(memory, silent))
	_, _ = fmt.Fprintf(os.Stdout, "with the limit in Redis, by the clock: %v\n", wall.Ratio(shared, bare))
	_, _ = fmt.Fprintf(os.Stdout, "edge ratio %.2f\n", got.Median)
	if !bench.Raced {
		least := floor
		if !bench.Whole() {
			least = shortFloor
		}
		require.NoError(t, got.AtLeast(least))
	}
}

// options are those with which the application builds its edge.
func options(s *tenancy.Service) httpapi.Options {
	return httpapi.Options{
		Authenticate: s.Authenticate, ActFor: s.ActFor,
		Limit: func(ctx context.Context, c principal.Caller) (httpapi.Quota, error) {
			d, err := s.Spend(ctx, c)
			return httpapi.Quota{
				Allowed: d.Allowed, Limit: d.Limit, Remaining: d.Remaining, Reset: d.ResetAfter, Retry: d.RetryAfter, Window: time.Hour,
			}, err
		},
		Observe: func(o httpapi.Outcome) {
			s.Meter(tenancy.Request{
				Org: o.Caller.Org, KeyID: o.Caller.KeyID, Operation: o.Operation, Status: o.Status, Took: o.Took, At: o.At,
			})
		},
	}
}

// withRedis is a service that counts requests in Redis.
func withRedis(t testing.TB, k *testkit.Kit) *tenancy.Service {
	t.Helper()
	url, err := devenv.Get("ASSAY_REDIS_URL")
	require.NoError(t, err)
	client, err := redis.Open(redis.Config{URL: secret.Text(url)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	limiter, stop := ratelimit.Open(client, time.Hour, ratelimit.Options{})
	t.Cleanup(func() { _ = stop() })
	pg, err := postgres.Open(t.Context(), k.App.Config.Postgres)
	require.NoError(t, err)
	t.Cleanup(pg.Close)
	s := tenancy.New(tenancy.Parts{
		Stores: tenancy.Stores{Postgres: pg}, Config: k.App.Config.Key, Plans: k.App.Config.Plan, Limiter: limiter, Now: time.Now,
	})
	return s
}

// meter writes what is metered until the test ends, as a serving process does.
func meter(t testing.TB, s *tenancy.Service) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- s.RunMeter(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

type nothing struct{}

type answer struct {
	Body answerBody
}

type answerBody struct {
	OK bool `json:"ok"`
}

// serve starts a server with one operation and connects to it.
func serve(t testing.TB, opts httpapi.Options) []*bench.Conn {
	t.Helper()
	e := httpapi.New(opts)
	httpapi.Register(e, httpapi.Op{
		ID: "getNothing", Method: http.MethodGet, Path: "/api/nothing", Tag: "Bench", Scope: principal.EvalRead, Status: 200, Summary: "Nothing",
	}, func(context.Context, *nothing) (*answer, error) {
		return &answer{Body: answerBody{OK: true}}, nil
	})
	srv := httptest.NewServer(e)
	t.Cleanup(srv.Close)
	conns := make([]*bench.Conn, connections)
	for i := range conns {
		c, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		conns[i] = bench.NewConn(c)
	}
	return conns
}

// cpu is the time that the processors gave this process.
func cpu(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// agree proves that every side gives the same answer.
func agree(t testing.TB, loads []bench.Load, request []byte) {
	t.Helper()
	for _, l := range loads {
		status, body, err := l.Conns[0].Do(request)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status, "%s", body)
		require.Equal(t, `{"ok":true}`, strings.TrimSpace(string(body)))
	}
}
