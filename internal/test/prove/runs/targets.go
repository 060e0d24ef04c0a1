package runs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// price is what the paying application says an answer costs, in US dollars.
const price = 0.01

// callerWaits is how long runs wait for an answer, if they meet targets that hang.
const callerWaits = 3 * time.Second

// prefix begins the keys of a run's units.
func prefix(run string) string { return "assay-" + run + "-" }

// targets are what runs ask: a provider of models and an application. Both
// misbehave at the same time.
type targets struct {
	oracle   *rig.Oracle
	provider *simulated.Provider
	models   string // the provider's URL
	app      string // the application's
	rule     atomic.Pointer[simulated.Rule]
	waits    time.Duration // of runs for an answer
	servers  []*http.Server
}

// quick is how long an answer takes when all is well.
var quick = simulated.Latency{Fixed: 5 * time.Millisecond, Median: 8 * time.Millisecond, Sigma: 0.5, Max: 30 * time.Millisecond}

func startTargets(ctx context.Context, waits time.Duration) (t *targets, err error) {
	t = &targets{waits: waits, oracle: rig.NewOracle(waits, func(r *http.Request) string { return r.Header.Get("Idempotency-Key") })}
	// Runs need no server.
	t.oracle.Excuses = func(_ string, c rig.Crash) bool { return !strings.HasPrefix(c.What, rig.OfServer) }
	if t.provider, err = simulated.New(simulated.Options{Faults: simulated.Faults{Latency: quick}}); err != nil {
		return t, err
	}
	if t.models, err = t.serve(ctx, t.provider); err != nil {
		return t, err
	}
	t.app, err = t.serve(ctx, http.HandlerFunc(t.answer))
	return t, err
}

func (t *targets) serve(ctx context.Context, h http.Handler) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	srv := &http.Server{Handler: t.oracle.Watch(h), ReadHeaderTimeout: 10 * time.Second}
	t.servers = append(t.servers, srv)
	go func() { _ = srv.Serve(l) }() // it ends with the proof
	return "http://" + l.Addr().String(), nil
}

func (t *targets) stop() error {
	var errs []error
	for _, s := range t.servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// spoil makes both misbehave.
func (t *targets) spoil(r simulated.Rule) error {
	t.rule.Store(&r)
	return t.provider.SetFaults(simulated.Faults{Latency: quick, Rules: []simulated.Rule{r}})
}

// calm ends that.
func (t *targets) calm(l simulated.Latency) error {
	t.rule.Store(nil)
	return t.provider.SetFaults(simulated.Faults{Latency: l})
}

// answer is the application: it says what it was told.
func (t *targets) answer(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Input jsontext.Value `json:"input"`
	}
	if err := json.UnmarshalRead(r.Body, &asked); err != nil {
		http.Error(w, "this is no question", http.StatusBadRequest)
		return
	}
	if r.URL.Path == "/hang" {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	select {
	case <-r.Context().Done():
		return
	case <-time.After(time.Duration(5+rand.IntN(25)) * time.Millisecond):
	}
	rule := t.rule.Load()
	if rule == nil || rand.Float64() >= rule.Share {
		cost := ""
		if r.URL.Path == "/paid" {
			cost = fmt.Sprintf(`,"usage":{"cost_usd":%g}`, price)
		}
		fmt.Fprintf(w, `{"output":%s%s}`, asked.Input, cost)
		return
	}
	switch rule.Fault {
	case simulated.FaultRateLimit:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "slow down", http.StatusTooManyRequests)
	case simulated.FaultError, simulated.FaultOverloaded:
		http.Error(w, "no", http.StatusServiceUnavailable)
	case simulated.FaultHang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case simulated.FaultTruncated:
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, `{"output":`)
		panic(http.ErrAbortHandler)
	default:
		fmt.Fprint(w, `{"output":`)
	}
}
