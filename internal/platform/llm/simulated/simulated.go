// Package simulated is a model provider without a model.
//
// It speaks the wire protocols of OpenAI's chat completions, responses and
// embeddings, of Anthropic's messages and of Google's generateContent, in one piece
// or in events, down to the headers that they demand and the shapes of their errors,
// and answers by a script: the same prompt gets the same answer, in
// every process and in any order. It misbehaves as it is told to: slowly, with
// storms of 429, with answers that are none. And it counts what it was asked,
// so that a proof can say that nothing was asked twice.
//
// Nothing in it is random. What a share of the calls suffers is decided by the
// seed, the prompt and how often the prompt was sent before, so that a run that
// is repeated meets the same weather.
package simulated

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Options say how a Provider behaves from its start.
type Options struct {
	Seed   uint64
	Script Script
	Faults Faults
	Keys   []string // the keys that are accepted; none accepts every key

	// Remember is how many different prompts, idempotency keys and traces are
	// counted one by one. Zero means DefaultRemember; below zero means none,
	// and then every call is the first of its prompt.
	Remember int
}

// DefaultRemember holds a run of the largest size. Full, it takes about 310 MB.
const DefaultRemember = 1_000_000

// Provider is a simulated provider. It is an http.Handler, safe for concurrent
// use.
type Provider struct {
	seed  uint64
	keys  []string
	state atomic.Pointer[state]
	calls *book
	mux   *http.ServeMux
}

// state is what can be changed while calls come in.
type state struct {
	script Script
	faults Faults
	since  time.Time // when the faults were set; windows count from here
}

// New prepares a provider. It fails if the script or the faults cannot be
// followed.
func New(o Options) (*Provider, error) {
	if err := o.Script.Validate(); err != nil {
		return nil, err
	}
	if err := o.Faults.Validate(); err != nil {
		return nil, err
	}
	p := &Provider{seed: o.Seed, keys: o.Keys, calls: newBook(o.Remember), mux: http.NewServeMux()}
	p.state.Store(&state{o.Script, o.Faults, time.Now()})
	p.mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { p.complete(w, r, chat{}) })
	p.mux.HandleFunc("POST /v1/responses", func(w http.ResponseWriter, r *http.Request) { p.complete(w, r, responses{}) })
	p.mux.HandleFunc("POST /v1/embeddings", func(w http.ResponseWriter, r *http.Request) { p.complete(w, r, embeddings{}) })
	p.mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, r *http.Request) { p.complete(w, r, messages{}) })
	p.mux.HandleFunc("POST /v1/models/{call}", p.generated)
	p.mux.HandleFunc("POST /v1beta/models/{call}", p.generated) // what Google's own clients call
	p.mux.HandleFunc("GET /v1/models", p.models)
	p.control()
	return p, nil
}

// ServeHTTP answers one call. What is at no path that a provider has is 404, as
// from a provider.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mux.ServeHTTP(w, r)
}

// SetFaults replaces the faults. Calls that have begun keep theirs.
func (p *Provider) SetFaults(f Faults) error {
	if err := f.Validate(); err != nil {
		return err
	}
	p.change(func(s *state) { s.faults, s.since = f, time.Now() })
	return nil
}

// SetScript replaces the script.
func (p *Provider) SetScript(s Script) error {
	if err := s.Validate(); err != nil {
		return err
	}
	p.change(func(st *state) { st.script = s })
	return nil
}

func (p *Provider) change(edit func(*state)) {
	for {
		before := p.state.Load()
		after := *before
		edit(&after)
		if p.state.CompareAndSwap(before, &after) {
			return
		}
	}
}

// Calls says what was asked so far.
func (p *Provider) Calls() Calls { return p.calls.count() }

// Forget begins to count anew. Calls in flight stay counted as such.
func (p *Provider) Forget() { p.calls.forget() }

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// complete answers a prompt.
func (p *Provider) complete(w http.ResponseWriter, r *http.Request, d dialect) {
	defer p.calls.enter()()
	buf, _ := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(buf)
	buf.Reset()
	_, err := buf.ReadFrom(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		p.calls.end(nil, r.Header, 0, "", false)
		return // the caller has gone
	}
	key, bad := d.key(r.Header)
	if bad == nil && len(p.keys) > 0 && !slices.Contains(p.keys, key) {
		bad = unknownKey()
	}
	var ask *prompt
	if bad == nil && buf.Len() > maxBody {
		bad = &failure{status: http.StatusRequestEntityTooLarge, code: "request_too_large", message: "The request is larger than 32 MB."}
	}
	if bad == nil {
		ask, bad = d.read(buf.Bytes())
	}
	if bad == nil && ask.model == "missing" {
		bad = &failure{status: http.StatusNotFound, code: "model_not_found", message: "There is no model of the name " + ask.model + "."}
	}
	if bad != nil {
		p.calls.end(ask, r.Header, bad.status, "", false)
		p.refuse(w, d, bad, id(p.seed, 0, p.calls.total.Load()))
		return
	}
	p.act(w, r, d, ask, key)
}

// act suffers a fault or answers.
func (p *Provider) act(w http.ResponseWriter, r *http.Request, d dialect, ask *prompt, key string) {
	st := p.state.Load()
	attempt := p.calls.attempt(ask)
	name := id(p.seed, ask.hash, uint64(attempt))
	rule, hit := st.fault(p.seed, ask, attempt)
	do := misbehaviours[rule.Fault]
	if hit && do.instead != nil {
		bad := do.instead(d, rule, key)
		if bad != nil {
			p.calls.end(ask, r.Header, bad.status, rule.Fault, false)
			p.refuse(w, d, bad, name)
			return
		}
		p.calls.end(ask, r.Header, 0, rule.Fault, false)
		if rule.Fault == FaultHang {
			<-r.Context().Done()
		}
		panic(http.ErrAbortHandler)
	}
	// From here on a real provider works, and charges for it.
	p.calls.end(ask, r.Header, http.StatusOK, rule.Fault, true)
	if !wait(r.Context(), st.faults.Latency.of(p.seed, ask, attempt)) {
		return
	}
	a := st.script.answer(p.seed, ask, name)
	if rule.Fault == FaultRefusal {
		a = refusal(ask)
	}
	body, media := d.answer, jsonType
	if ask.stream {
		body, media = d.stream, streamType
	}
	w.Header()[d.requestID()] = []string{"req_" + name}
	w.Header()["Content-Type"] = []string{media}
	if hit && do.spoil != nil {
		do.spoil(w, r, rule, body(name, ask, a))
		return
	}
	send(w, http.StatusOK, media, body(name, ask, a))
}

func (p *Provider) refuse(w http.ResponseWriter, d dialect, f *failure, name string) {
	w.Header()[d.requestID()] = []string{"req_" + name}
	if f.retryAfter > 0 {
		// Providers give whole seconds; less is said in a header of OpenAI's.
		w.Header().Set("Retry-After", strconv.FormatInt(int64((f.retryAfter+time.Second-1)/time.Second), 10))
		if f.retryAfter%time.Second != 0 {
			w.Header().Set("Retry-After-Ms", strconv.FormatInt(f.retryAfter.Milliseconds(), 10))
		}
	}
	send(w, f.status, jsonType, d.failure(f, "req_"+name))
}
