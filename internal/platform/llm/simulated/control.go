package simulated

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// control adds the paths that no real provider has: they tell the simulated one
// what to do and ask it what it saw. They need no key; whoever can reach the
// server may use them.
func (p *Provider) control() {
	p.mux.HandleFunc("GET /simulated/faults", func(w http.ResponseWriter, _ *http.Request) { show(w, p.state.Load().faults) })
	p.mux.HandleFunc("PUT /simulated/faults", func(w http.ResponseWriter, r *http.Request) {
		set(w, r, ParseFaults, p.SetFaults)
	})
	p.mux.HandleFunc("DELETE /simulated/faults", func(w http.ResponseWriter, _ *http.Request) {
		_ = p.SetFaults(Faults{}) // none are valid
		show(w, Faults{})
	})
	p.mux.HandleFunc("GET /simulated/script", func(w http.ResponseWriter, _ *http.Request) { show(w, p.state.Load().script) })
	p.mux.HandleFunc("PUT /simulated/script", func(w http.ResponseWriter, r *http.Request) {
		set(w, r, ParseScript, p.SetScript)
	})
	p.mux.HandleFunc("GET /simulated/calls", p.getCalls)
	p.mux.HandleFunc("DELETE /simulated/calls", func(w http.ResponseWriter, _ *http.Request) {
		p.Forget()
		show(w, p.Calls())
	})
}

// getCalls shows the counters and, asked for ?list=prompts, idempotency_keys or
// traces, those with at least ?least calls, by default 2.
func (p *Provider) getCalls(w http.ResponseWriter, r *http.Request) {
	lists := map[string]*ledger{"prompts": p.calls.prompts, "idempotency_keys": p.calls.keys, "traces": p.calls.traces}
	q := r.URL.Query()
	out := struct {
		Calls
		List []Tally `json:"list,omitzero"`
	}{Calls: p.Calls()}
	if name := q.Get("list"); name != "" {
		l, ok := lists[name]
		if !ok {
			complain(w, fmt.Errorf("list is %q: use prompts, idempotency_keys or traces", name))
			return
		}
		least := uint64(2)
		if text := q.Get("least"); text != "" {
			var err error
			if least, err = strconv.ParseUint(text, 10, 32); err != nil {
				complain(w, fmt.Errorf("least is %q: give a number", text))
				return
			}
		}
		out.List = l.list(uint32(least), 1000)
	}
	show(w, out)
}

// ParseFaults reads faults from JSON, in which times are written as "50ms". A
// name that is not known is an error.
func ParseFaults(text []byte) (Faults, error) { return parse[Faults](text) }

// ParseScript reads a script from JSON.
func ParseScript(text []byte) (Script, error) { return parse[Script](text) }

func parse[T any](text []byte) (T, error) {
	var v T
	err := json.Unmarshal(text, &v, json.RejectUnknownMembers(true), json.WithUnmarshalers(readTimes))
	return v, err
}

var (
	readTimes = json.UnmarshalFromFunc(func(d *jsontext.Decoder, t *time.Duration) error {
		var text string
		if err := json.UnmarshalDecode(d, &text); err != nil {
			return err
		}
		v, err := time.ParseDuration(text)
		*t = v
		return err
	})
	writeTimes = json.MarshalToFunc(func(e *jsontext.Encoder, t time.Duration) error {
		return e.WriteToken(jsontext.String(t.String()))
	})
)

func set[T any](w http.ResponseWriter, r *http.Request, read func([]byte) (T, error), apply func(T) error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		complain(w, err)
		return
	}
	v, err := read(body)
	if err == nil {
		err = apply(v)
	}
	if err != nil {
		complain(w, err)
		return
	}
	show(w, v)
}

func show(w http.ResponseWriter, v any) {
	out, err := json.Marshal(v, json.Deterministic(true), json.WithMarshalers(writeTimes))
	if err != nil {
		panic(err) // a type of ours cannot be written
	}
	send(w, http.StatusOK, jsonType, append(out, '\n'))
}

func complain(w http.ResponseWriter, err error) {
	send(w, http.StatusBadRequest, jsonType, append(mustJSON(map[string]string{"error": err.Error()}), '\n'))
}
