package neighbours

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// The quiet organization's habits.
const (
	senders      = 2
	spansAtATime = 5
	sendPause    = 50 * time.Millisecond
	readPause    = 50 * time.Millisecond
	runPause     = time.Second
	quietItems   = 5
)

// ids are the parts of a path that name one thing.
var ids = regexp.MustCompile(`/[0-9a-f]{32}|/[0-9]+`)

// quiet is an organization that goes about its business.
type quiet struct {
	s                   *system
	org                 rig.Organization
	dataset, evaluation string
	client              *http.Client

	mu     sync.Mutex
	last   string // trace that was acknowledged last
	acked  int    // spans
	period *period
}

// period is what the quiet organization has seen in some time.
type period struct {
	requests []asked
	runs     []time.Duration
	errors   []string
}

// asked is a request that was answered.
type asked struct {
	what string
	took time.Duration
}

// newQuiet makes the organization with a dataset and an evaluation.
func newQuiet(ctx context.Context, s *system) (*quiet, error) {
	org, err := s.Bootstrap(ctx, "Quiet")
	if err != nil {
		return nil, err
	}
	q := &quiet{s: s, org: org, period: &period{}, client: &http.Client{
		Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16},
	}}
	items := make([]map[string]any, quietItems)
	for i := range items {
		items[i] = map[string]any{"input": fmt.Sprintf("question %d", i), "expectedOutput": "yes", "output": "yes"}
	}
	if q.dataset, err = newDataset(ctx, s, org, "quiet", items); err != nil {
		return nil, err
	}
	q.evaluation, err = newEvaluation(ctx, s, org, q.dataset, map[string]any{"type": "recorded"}, "exact_match")
	return q, err
}

// live goes about its business until ctx ends.
func (q *quiet) live(ctx context.Context) *sync.WaitGroup {
	var all sync.WaitGroup
	for range senders {
		all.Go(func() { repeat(ctx, sendPause, q.send) })
	}
	all.Go(func() { repeat(ctx, readPause, q.read) })
	all.Go(func() { repeat(ctx, runPause, q.run) })
	return &all
}

func repeat(ctx context.Context, pause time.Duration, do func(context.Context)) {
	for ctx.Err() == nil {
		do(ctx)
		_ = rig.Sleep(ctx, pause)
	}
}

// turn begins a new period and returns the one before.
func (q *quiet) turn() *period {
	q.mu.Lock()
	defer q.mu.Unlock()
	before := q.period
	q.period = &period{}
	return before
}

// send sends the spans of one trace.
func (q *quiet) send(ctx context.Context) {
	trace := randomHex(16)
	body := spansAsJSON(trace, spansAtATime, time.Now(), "a quiet answer")
	if _, ok := q.ask(ctx, http.MethodPost, "/v1/traces", body); ok {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.last = trace
		q.acked += spansAtATime
	}
}

// read reads what was acknowledged last, and lists.
func (q *quiet) read(ctx context.Context) {
	q.mu.Lock()
	last := q.last
	q.mu.Unlock()
	if last != "" {
		if answer, ok := q.ask(ctx, http.MethodGet, "/api/traces/"+last+"/spans?limit=100", nil); ok {
			if n := strings.Count(answer, `"a quiet answer"`); n < spansAtATime {
				q.complain("trace %s was acknowledged with %d spans and has %d", last, spansAtATime, n)
			}
		}
	}
	q.ask(ctx, http.MethodGet, "/api/traces?limit=20", nil)
	q.ask(ctx, http.MethodGet, "/api/datasets/"+q.dataset+"/items?limit=20", nil)
}

// run runs the evaluation and waits until it has ended.
func (q *quiet) run(ctx context.Context) {
	began := time.Now()
	answer, ok := q.ask(ctx, http.MethodPost, "/api/evaluations/"+q.evaluation+"/runs", []byte(`{}`))
	if !ok {
		return
	}
	var run struct {
		identified
		Status string `json:"status"`
		Error  any    `json:"error"`
	}
	if err := json.Unmarshal([]byte(answer), &run); err != nil {
		q.complain("run: %v", err)
		return
	}
	for run.Status == "running" {
		if rig.Sleep(ctx, 100*time.Millisecond) != nil {
			return
		}
		answer, ok := q.ask(ctx, http.MethodGet, "/api/evaluations/"+q.evaluation+"/runs/"+run.ID, nil)
		if !ok {
			return
		}
		if err := json.Unmarshal([]byte(answer), &run); err != nil {
			q.complain("run: %v", err)
			return
		}
	}
	if run.Status != "completed" {
		q.complain("run %s is %s: %v", run.ID, run.Status, run.Error)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.period.runs = append(q.period.runs, time.Since(began))
}

// ask sends one request, measures it and notes anything but success. A request
// that the end of the proof cuts off counts for nothing.
func (q *quiet) ask(ctx context.Context, method, path string, body []byte) (answer string, ok bool) {
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, method, q.s.URL+path, bytes.NewReader(body))
	if err != nil {
		q.complain("%s %s: %v", method, path, err)
		return "", false
	}
	req.Header.Set("Authorization", "Bearer "+q.org.Key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := q.client.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			q.complain("%s %s after %s: %v", method, path, time.Since(began), err)
		}
		return "", false
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	took := time.Since(began)
	switch {
	case ctx.Err() != nil:
		return "", false
	case err != nil || res.StatusCode >= http.StatusBadRequest:
		q.complain("%s %s after %s: %d %v %.300s", method, path, took, res.StatusCode, err, text)
		return "", false
	case res.Header.Get("X-Ingest") == "deferred":
		q.complain("%s %s is deferred", method, path)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	what, _, _ := strings.Cut(path, "?")
	q.period.requests = append(q.period.requests, asked{method + " " + ids.ReplaceAllString(what, "/{id}"), took})
	return string(text), true
}

func (q *quiet) complain(format string, args ...any) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.period.errors = append(q.period.errors, fmt.Sprintf(format, args...))
}

// spansAsJSON is an OTLP request with spans of one trace.
func spansAsJSON(trace string, n int, at time.Time, output string) []byte {
	var b bytes.Buffer
	b.WriteString(`{"resourceSpans":[{"scopeSpans":[{"spans":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"traceId":%q,"spanId":%q,"name":"step","startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[{"key":"output.value","value":{"stringValue":%q}}]}`,
			trace, randomHex(8), at.UnixNano()+int64(i), at.UnixNano()+int64(i)+1000, output)
	}
	b.WriteString(`]}]}]}`)
	return b.Bytes()
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
