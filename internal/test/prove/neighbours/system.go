package neighbours

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
	"github.com/assayhq/assay/internal/test/prove/rig"
)

const (
	// budgetBytes is what a process takes on at one time. It is the least that
	// can be set, so that attacks fill it at once, and budgetWeight is what a byte
	// of it takes in memory at most.
	budgetBytes, budgetWeight = 64 << 20, 6
)

// system is one set of engines with a server and a worker on it.
type system struct {
	*rig.System
	spans     *clickhouse.DB
	targetURL string // of an application that answers slowly
}

func start(ctx context.Context, o options) (s *system, err error) {
	s = &system{}
	if s.System, err = rig.New(ctx, o.Binary, o.Seed); err != nil {
		return s, err
	}
	if err := s.Up(ctx, "postgres", "clickhouse", "temporal"); err != nil {
		return s, err
	}
	restore := rig.ByThreads()
	s.OnStop(func() error { restore(); return nil })
	// The rest is sized for a machine of two processors that runs all engines too.
	if err := s.Keyed("ASSAY_REDIS_URL=", "ASSAY_TRACE_GRPC_ADDR=", "ASSAY_ADMISSION_BYTES="+strconv.Itoa(budgetBytes),
		"ASSAY_EVALUATION_CHUNK_TIME=2s", "ASSAY_EVALUATION_RUNS=20", "ASSAY_EVALUATION_SLOTS=4", "ASSAY_POSTGRES_MAX_CONNS=6",
		"ASSAY_CLICKHOUSE_READER_URL="+s.Engine["ASSAY_CLICKHOUSE_READER_URL"]+"?max_open_conns=6"); err != nil {
		return s, err
	}
	if out, err := s.Assay(ctx, "migrate").CombinedOutput(); err != nil {
		return s, fmt.Errorf("migrate: %w\n%s", err, out)
	}
	if s.spans, err = clickhouse.Open(clickhouse.Config{
		URL: secret.Text(s.Engine["ASSAY_CLICKHOUSE_URL"]), ReaderURL: secret.Text(s.Engine["ASSAY_CLICKHOUSE_READER_URL"]),
	}); err != nil {
		return s, err
	}
	s.OnStop(s.spans.Close)
	if err := s.startTarget(ctx); err != nil {
		return s, err
	}
	return s, errors.Join(s.StartServer(ctx), s.StartWorker(ctx))
}

// startTarget starts an application that takes a second for each answer.
func (s *system) startTarget(ctx context.Context) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.targetURL = "http://" + l.Addr().String()
	target := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rig.Sleep(r.Context(), time.Second) == nil {
			fmt.Fprint(w, `{"output":"late"}`)
		}
	})}
	go func() { _ = target.Serve(l) }() // it ends with the proof
	s.OnStop(target.Close)
	return nil
}
