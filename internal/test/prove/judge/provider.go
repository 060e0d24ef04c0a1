package judge

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// provider is the simulated provider as judges see it, with what it was asked.
type provider struct {
	*simulated.Provider
	oracle *rig.Oracle
	url    string
	server *http.Server

	mu    sync.Mutex
	spent map[string]float64 // tokens that were charged, by the beginning of names
	most  float64            // tokens of the dearest call
	hung  chan struct{}      // closed when calls that hang are to end
}

// quick is how long an answer takes when all is well.
var quick = simulated.Latency{Fixed: 5 * time.Millisecond, Median: 8 * time.Millisecond, Sigma: 0.5, Max: 30 * time.Millisecond}

// callerWaits is how long judges wait for an answer.
const callerWaits = 30 * time.Second

func startProvider(ctx context.Context) (p *provider, err error) {
	p = &provider{spent: map[string]float64{}, hung: make(chan struct{})}
	p.oracle = rig.NewOracle(callerWaits, nameOf)
	p.oracle.Answered, p.oracle.Excuses, p.oracle.Follow = p.charge, excuses, repair
	if p.Provider, err = simulated.New(simulated.Options{}); err != nil {
		return p, err
	}
	if err := p.peace(); err != nil {
		return p, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return p, err
	}
	p.url = "http://" + l.Addr().String() + "/v1"
	p.server = &http.Server{Handler: p.oracle.Watch(p.hangUp(echo(p.Provider))), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.server.Serve(l) }() // it ends with the proof
	return p, nil
}

// spoil makes the provider misbehave for everybody.
func (p *provider) spoil(r simulated.Rule) error {
	return p.SetFaults(simulated.Faults{Latency: quick, Rules: append([]simulated.Rule{r}, rules()...)})
}

// peace ends that, and calls that hang.
func (p *provider) peace() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.hung)
	p.hung = make(chan struct{})
	return p.SetFaults(simulated.Faults{Latency: quick, Rules: rules()})
}

// slow makes every answer take a while.
func (p *provider) slow(d time.Duration) error {
	return p.SetFaults(simulated.Faults{Latency: simulated.Latency{Fixed: d}, Rules: rules()})
}

func rules() []simulated.Rule {
	all := append(firsts[:len(firsts):len(firsts)], simulated.Rule{Fault: simulated.FaultReflect, Contains: "echo-400"})
	for _, c := range causes {
		if c.rule.Fault != "" {
			all = append(all, c.rule)
		}
	}
	return all
}

// hangUp ends calls that hang when the fault does: a provider that comes back has
// forgotten them. One that hangs always is left alone.
func (p *provider) hangUp(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(nameOf(r), alwaysHangs) {
			next.ServeHTTP(w, r)
			return
		}
		p.mu.Lock()
		hung := p.hung
		p.mu.Unlock()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		go func() {
			select {
			case <-hung:
				// One that is being answered has the time for it.
				if rig.Sleep(ctx, time.Second) == nil {
					cancel()
				}
			case <-ctx.Done():
			}
		}()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

var caseName = regexp.MustCompile(`case-[a-z]+[0-9]*-[0-9]+`)

// nameOf is the case that a call is about; a repair has a name of its own.
func nameOf(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return ""
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	name := string(caseName.Find(body))
	if name != "" && bytes.Contains(body, []byte("previous_answer")) {
		name += repair
	}
	return name
}

const repair = "/repair"

// charge notes what a call took.
func (p *provider) charge(name string, status int, body []byte) {
	var answer struct {
		Usage struct {
			Prompt     float64 `json:"prompt_tokens"`
			Completion float64 `json:"completion_tokens"`
		} `json:"usage"`
	}
	if status != http.StatusOK || json.Unmarshal(body, &answer) != nil {
		return
	}
	took := answer.Usage.Prompt + answer.Usage.Completion
	whose, _, _ := strings.Cut(name, "-")
	if _, rest, ok := strings.Cut(name, "-"); ok {
		number, _, _ := strings.Cut(rest, "-")
		whose += "-" + number
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent[whose] += took
	p.most = max(p.most, took)
}

// charged is how many tokens cases of a name took, and the dearest call.
func (p *provider) charged(whose string) (sum, most float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spent[whose], p.most
}

// echo repeats the caller's key in what it answers, where a case asks for it, as
// careless providers do.
func echo(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.Header().Set("Content-Type", "application/json")
		switch {
		case bytes.Contains(body, []byte("echo-401")):
			w.Header().Set("X-Request-Id", key)
			w.WriteHeader(http.StatusUnauthorized)
			_ = json.MarshalWrite(w, map[string]any{"error": map[string]any{"message": "Incorrect API key provided: " + key + ". Find yours in the console.", "type": "invalid_request_error", "code": key}})
		case bytes.Contains(body, []byte("echo-500")):
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "<html>Authorization: Bearer "+key+" was not understood</html>")
		case bytes.Contains(body, []byte("echo-200")):
			kept := &answer{header: http.Header{}}
			next.ServeHTTP(kept, r)
			quoted, _ := json.Marshal(" You sent " + key + ".")
			said := bytes.ReplaceAll(kept.body.Bytes(), []byte("The prompt says so."), append([]byte("The prompt says so."), bytes.ReplaceAll(quoted[1:len(quoted)-1], []byte(`\`), []byte(`\\`))...))
			w.WriteHeader(kept.status)
			_, _ = w.Write(said)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// answer is one that is kept.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header is that of the answer.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader keeps the status.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write keeps the bytes.
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// excuses tells whether a crash can have taken the answer about a case. Runs need no
// server, and single requests no worker.
func excuses(name string, c rig.Crash) bool {
	if strings.HasPrefix(name, ofSingles) {
		return strings.HasPrefix(c.What, rig.OfServer) || c.What == rig.OfEngine+"postgres"
	}
	return !strings.HasPrefix(c.What, rig.OfServer)
}
