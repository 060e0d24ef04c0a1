package main

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// ask is one call of a unit, as the target saw it.
type ask struct {
	begin, end time.Time
	// spoilt: the target gave no answer that could be used, so that asking
	// again is right.
	spoilt bool
}

// oracle is what targets were asked, by the key that names run, item and epoch.
type oracle struct {
	total atomic.Int64
	mu    sync.Mutex
	units map[string][]*ask
}

func newOracle() *oracle { return &oracle{units: map[string][]*ask{}} }

// storedWithin is how long after an answer its result is stored, on a busy
// machine: the product says a second.
const storedWithin = 3 * time.Second

// callerWaits is how long runs wait for an answer.
const callerWaits = 3 * time.Second

// watch notes the calls of a target.
func (o *oracle) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if key == "" {
			next.ServeHTTP(w, r)
			return
		}
		a := &ask{begin: time.Now()}
		o.total.Add(1)
		o.mu.Lock()
		o.units[key] = append(o.units[key], a)
		o.mu.Unlock()
		rec := &recorder{ResponseWriter: w}
		defer func() {
			cut := recover()
			late := time.Since(a.begin) > callerWaits*9/10
			bad := rec.status >= 400 || rec.status != 0 && !jsontext.Value(bytes.TrimSpace(rec.body.Bytes())).IsValid()
			o.mu.Lock()
			a.end, a.spoilt = time.Now(), cut != nil || late || bad
			o.mu.Unlock()
			if cut != nil {
				panic(cut) // the connection ends, as the target wants
			}
		}()
		next.ServeHTTP(rec, r)
	})
}

// recorder keeps what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader notes the status.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Write notes the bytes.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	r.body.Write(b)
	return r.ResponseWriter.Write(b)
}

// Flush sends what is written.
func (r *recorder) Flush() {
	if f, ok := r.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// forget begins anew.
func (o *oracle) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.units)
}

// prefix begins the keys of a run's units.
func prefix(run string) string { return "assay-" + run + "-" }

// of counts the calls of a run, and those of them that are under way.
func (o *oracle) of(run string) (calls, open int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, asks := range o.units {
		if !strings.HasPrefix(key, prefix(run)) {
			continue
		}
		for _, a := range asks {
			calls++
			if a.end.IsZero() {
				open++
			}
		}
	}
	return calls, open
}

// repeated counts the answers that were asked for again, and lists those calls
// that no crash excuses: for an answer that was stored, or a second time for the
// same crash.
func (o *oracle) repeated(crashes []crash) (again int, list []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, asks := range o.units {
		var answered []ask
		for _, a := range asks {
			if a.end.IsZero() {
				a.end = time.Now()
			}
			if !a.spoilt {
				answered = append(answered, *a)
			}
		}
		slices.SortFunc(answered, func(a, b ask) int { return a.begin.Compare(b.begin) })
		used := map[int]bool{}
		for i := 1; i < len(answered); i++ {
			before, after := answered[i-1], answered[i]
			again++
			excuse := -1
			for j, c := range crashes {
				if excuse < 0 && !used[j] && c.excuses(before, after) {
					excuse = j
				}
			}
			if excuse < 0 {
				list = append(list, fmt.Sprintf("%s was asked at %s and again at %s", key, before.begin.Format(clock), after.begin.Format(clock)))
				continue
			}
			used[excuse] = true
		}
	}
	slices.Sort(list)
	return again, list
}

// excuses tells whether an answer may have been lost to a crash, and was asked
// for again after it.
func (c crash) excuses(before, again ask) bool {
	return !c.began.After(before.end.Add(storedWithin)) && !c.end.Before(before.begin) && !c.began.After(again.end)
}

const clock = "15:04:05.000"

// late lists the calls of a cancelled run that came long after its end.
func (o *oracle) late(run string, end time.Time, crashes []crash) (list []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, asks := range o.units {
		if !strings.HasPrefix(key, prefix(run)) {
			continue
		}
		for _, a := range asks {
			meanwhile := slices.ContainsFunc(crashes, func(c crash) bool { return !c.began.After(a.begin) && !c.end.Before(end) })
			if a.begin.After(end) && !meanwhile {
				list = append(list, fmt.Sprintf("%s was asked at %s, and its run was cancelled long before %s", key, a.begin.Format(clock), end.Format(clock)))
			}
		}
	}
	return list
}
