package ingest_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/platform/config"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/bench/traffic"
	"github.com/assayhq/assay/internal/test/testkit"
)

// The gateway is a process of its own, as it is in production: this program
// again, told by a variable to serve. So the time that it takes from the
// processors can be told from that of the sender.
const (
	beGateway = "BENCH_GATEWAY"
	// profileTo names the file that the gateway writes its profile to.
	profileTo = "BENCH_GATEWAY_PROFILE"
)

func TestMain(m *testing.M) {
	if os.Getenv(beGateway) != "" {
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, "gateway:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serve runs what the role serve runs of the telemetry's path, until it is told
// to end, and prints its address.
func serve() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	var cfg app.Config
	if _, err := config.Load(&cfg, nil, os.Environ()); err != nil {
		return err
	}
	a, err := app.New(ctx, cfg, "bench", time.Now)
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if path := os.Getenv(profileTo); path != "" {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer func() { pprof.StopCPUProfile(); _ = f.Close() }()
	}
	_, _ = fmt.Fprintln(os.Stdout, l.Addr())
	var g errgroup.Group
	g.Go(func() error { return a.Edge.Run(ctx, l) })
	g.Go(func() error { return a.Trace.RunDrain(ctx) })
	g.Go(func() error { return a.Tenancy.RunMeter(ctx) })
	return g.Wait()
}

// gateway is the process that takes OTLP, with the requests to send to it.
type gateway struct {
	pid      int
	load     bench.Load
	spans    int
	requests int
}

// startGateway starts a gateway on an application's databases. With
// ASSAY_BENCH_PROFILE set, it leaves a profile in that folder.
func startGateway(t testing.TB, cfg app.Config, key secret.Text, s shape, requests []traffic.Request) *gateway {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	child := exec.CommandContext(context.WithoutCancel(t.Context()), self)
	child.Stderr = os.Stderr
	child.Env = []string{
		beGateway + "=1",
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
		"ASSAY_POSTGRES_URL=" + cfg.Postgres.URL.Reveal(),
		"ASSAY_CLICKHOUSE_URL=" + cfg.ClickHouse.URL.Reveal(),
		"ASSAY_CLICKHOUSE_READER_URL=" + cfg.ClickHouse.ReaderURL.Reveal(),
		"ASSAY_TEMPORAL_ADDRESS=" + cfg.Temporal.Address, "ASSAY_TEMPORAL_NAMESPACE=" + cfg.Temporal.Namespace,
		"ASSAY_KEY_PEPPER=" + testkit.Pepper,
		"ASSAY_BLOB_URL=" + cfg.Blob.URL,
		"ASSAY_TRACE_INSERT_TIMEOUT=25s", // a busy machine is slow, not away
		"ASSAY_PLAN_SPANS_HOUR=" + strconv.Itoa(cfg.Plan.SpansHour), "ASSAY_PLAN_BYTES_HOUR=" + strconv.Itoa(cfg.Plan.BytesHour),
	}
	if folder := os.Getenv("ASSAY_BENCH_PROFILE"); folder != "" {
		child.Env = append(child.Env, profileTo+"="+filepath.Join(folder, "gateway-"+s.name+".pprof"))
	}
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	t.Cleanup(func() {
		_ = child.Process.Signal(syscall.SIGTERM)
		_ = child.Wait()
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err, "the gateway did not start")

	g := &gateway{pid: child.Process.Pid, requests: len(requests), load: bench.Load{Now: time.Now}}
	for range s.connections {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimSpace(addr))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		g.load.Conns = append(g.load.Conns, bench.NewConn(c))
	}
	for _, r := range requests {
		head := "POST /v1/traces HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + key.Reveal() +
			"\r\nContent-Type: application/x-protobuf\r\nContent-Length: " + strconv.Itoa(len(r.Body)) + "\r\n\r\n"
		g.load.Requests = append(g.load.Requests, append([]byte(head), r.Body...))
		g.spans += r.Spans
	}
	return g
}

// send sends every request once and returns when the last is acknowledged.
func (g *gateway) send(context.Context) error {
	_, err := g.load.Rate(g.requests)
	return err
}
