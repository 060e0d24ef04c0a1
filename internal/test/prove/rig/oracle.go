package rig

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

// Ask is one call of a unit, as the target saw it.
type Ask struct {
	Begin, End time.Time
	// Spoilt: the target gave no answer that could be used, so that asking
	// again is right.
	Spoilt bool
}

// Oracle is what targets were asked, by the name of what they were asked about.
type Oracle struct {
	// Answered is called with every answer, if it is set.
	Answered func(name string, status int, body []byte)

	// Excuses tells whether a crash can have taken an answer; any can if it is not set.
	Excuses func(name string, c Crash) bool

	// Follow ends the names of calls that follow others of the same name without it:
	// an answer is recorded with those that follow it.
	Follow string

	waits time.Duration
	name  func(*http.Request) string
	total atomic.Int64
	mu    sync.Mutex
	units map[string][]*Ask
}

// NewOracle makes an oracle. Waits is how long callers wait for an answer, and name
// is what a call is about; a call without a name is not noted.
func NewOracle(waits time.Duration, name func(*http.Request) string) *Oracle {
	return &Oracle{waits: waits, name: name, units: map[string][]*Ask{}}
}

// storedWithin is how long after an answer its result is stored, on a busy
// machine: the product says a second.
const storedWithin = 3 * time.Second

// Watch notes the calls of a target.
func (o *Oracle) Watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := o.name(r)
		if key == "" {
			next.ServeHTTP(w, r)
			return
		}
		a := &Ask{Begin: time.Now()}
		o.total.Add(1)
		o.mu.Lock()
		o.units[key] = append(o.units[key], a)
		o.mu.Unlock()
		rec := &recorder{ResponseWriter: w}
		defer func() {
			cut := recover()
			late := time.Since(a.Begin) > o.waits*9/10
			bad := rec.status >= 400 || rec.status != 0 && !jsontext.Value(bytes.TrimSpace(rec.body.Bytes())).IsValid()
			o.mu.Lock()
			a.End, a.Spoilt = time.Now(), cut != nil || late || bad
			o.mu.Unlock()
			if o.Answered != nil {
				o.Answered(key, rec.status, rec.body.Bytes())
			}
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

// Forget begins anew.
func (o *Oracle) Forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.units)
}

// Total is how many calls there were.
func (o *Oracle) Total() int64 { return o.total.Load() }

// Asked counts the calls of each name.
func (o *Oracle) Asked() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make(map[string]int, len(o.units))
	for key, asks := range o.units {
		all[key] = len(asks)
	}
	return all
}

// Of counts the calls whose names have a prefix, and those of them that are under way.
func (o *Oracle) Of(prefix string) (calls, open int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, asks := range o.units {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		for _, a := range asks {
			calls++
			if a.End.IsZero() {
				open++
			}
		}
	}
	return calls, open
}

// Repeated counts the answers that were asked for again, and lists those calls
// that no crash excuses: for an answer that was stored, or a second time for the
// same crash.
func (o *Oracle) Repeated(crashes []Crash) (again int, list []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, asks := range o.units {
		var answered []Ask
		for _, a := range asks {
			if a.End.IsZero() {
				a.End = time.Now()
			}
			if !a.Spoilt {
				answered = append(answered, *a)
			}
		}
		slices.SortFunc(answered, func(a, b Ask) int { return a.Begin.Compare(b.Begin) })
		used := map[int]bool{}
		for i := 1; i < len(answered); i++ {
			before, after := answered[i-1], answered[i]
			before.End = o.lastOf(key, before, after)
			again++
			excuse := -1
			for j, c := range crashes {
				if excuse < 0 && !used[j] && c.excuses(before, after) && (o.Excuses == nil || o.Excuses(key, c)) {
					excuse = j
				}
			}
			if excuse < 0 {
				list = append(list, fmt.Sprintf("%s was asked at %s and again at %s", key, before.Begin.Format(Clock), after.Begin.Format(Clock)))
				continue
			}
			used[excuse] = true
		}
	}
	slices.Sort(list)
	return again, list
}

// lastOf is the end of an answer with the calls that followed it, before it was asked
// for again. It is called under mu.
func (o *Oracle) lastOf(key string, answer, again Ask) time.Time {
	last := answer.End
	if o.Follow == "" {
		return last
	}
	for _, a := range o.units[key+o.Follow] {
		if a.Begin.After(answer.Begin) && a.Begin.Before(again.Begin) && a.End.After(last) {
			last = a.End
		}
	}
	return last
}

// excuses tells whether an answer may have been lost to a crash, and was asked
// for again after it.
func (c Crash) excuses(before, again Ask) bool {
	return !c.Began.After(before.End.Add(storedWithin)) && !c.End.Before(before.Begin) && !c.Began.After(again.End)
}

// Clock is how moments are shown.
const Clock = "15:04:05.000"

// Late lists the calls with a prefix that came long after their end.
func (o *Oracle) Late(prefix string, end time.Time, crashes []Crash) (list []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, asks := range o.units {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		for _, a := range asks {
			meanwhile := slices.ContainsFunc(crashes, func(c Crash) bool { return !c.Began.After(a.Begin) && !c.End.Before(end) })
			if a.Begin.After(end) && !meanwhile {
				list = append(list, fmt.Sprintf("%s was asked at %s, and was cancelled long before %s", key, a.Begin.Format(Clock), end.Format(Clock)))
			}
		}
	}
	return list
}
