package client_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client"
)

const apiKey = "asy_test_0123456789ab_0123456789abcdef0123456789abcdef_0a1b2c"

// wireTrace is a trace with the times at which a reader can first see it, and
// see that it has ended.
type wireTrace struct {
	id             string
	start          time.Time
	visible, ended time.Time
	// Between these, if they are set, it runs again.
	reopened, closed time.Time
}

// server answers GET /api/traces as the real one does, out of a list. Its
// clock is time.Now, whatever the clock of the client says.
type server struct {
	traces []wireTrace // in any order, until the first request
	sorted bool
	// intercept may answer instead.
	intercept func(*http.Request) (*http.Response, error)
	// latency passes before an answer.
	latency time.Duration
	// Between these, if they are set, telemetry waits.
	deferred, drained time.Time

	requests []time.Time
	queries  []string
	header   http.Header
}

// RoundTrip answers.
func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests = append(s.requests, time.Now())
	s.queries = append(s.queries, r.URL.RawQuery)
	if s.latency > 0 {
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(s.latency):
		}
	}
	if s.intercept != nil {
		if res, err := s.intercept(r); res != nil || err != nil {
			return res, err
		}
	}
	if got := r.Header.Get("Authorization"); got != "Bearer "+apiKey {
		return nil, fmt.Errorf("authorization is %q", got)
	}
	return s.list(r)
}

func (s *server) list(r *http.Request) (*http.Response, error) {
	q, now := r.URL.Query(), time.Now()
	after, err := time.Parse(time.RFC3339, q.Get("startAfter"))
	if err != nil {
		return nil, err
	}
	before := now.Add(1000 * time.Hour)
	if text := q.Get("startBefore"); text != "" {
		if before, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, err
		}
	}
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit > 1000 {
		return nil, fmt.Errorf("limit is %q", q.Get("limit"))
	}
	if !s.sorted {
		slices.SortFunc(s.traces, func(a, b wireTrace) int { return cmp.Or(b.start.Compare(a.start), cmp.Compare(b.id, a.id)) })
		s.sorted = true
	}
	var found []wireTrace
	below := q.Get("cursor") == ""
	for _, t := range s.traces {
		if len(found) > limit || !t.start.After(after) {
			break
		}
		if below && !t.visible.After(now) && t.start.Before(before) {
			found = append(found, t)
		}
		below = below || t.id == q.Get("cursor")
	}
	next := ""
	if len(found) > limit {
		found = found[:limit]
		next = found[limit-1].id
	}
	var body strings.Builder
	fmt.Fprintf(&body, `{"limit":%d,"offset":0,"has_more":%t,"next_cursor":%q,"some_new_field":{"x":1},"traces":[`, limit, next != "", next)
	for i, t := range found {
		if i > 0 {
			body.WriteByte(',')
		}
		body.WriteString(t.wire(now))
	}
	body.WriteString("]")
	if !now.Before(s.deferred) && now.Before(s.drained) {
		fmt.Fprintf(&body, `,"deferred_since":%q`, s.deferred.UTC().Format(time.RFC3339Nano))
	}
	body.WriteString("}")
	res := respond(r, http.StatusOK, body.String())
	for name, values := range s.header {
		res.Header[name] = values
	}
	return res, nil
}

func (t wireTrace) wire(now time.Time) string {
	rest := `"status":"running"`
	if !t.ended.After(now) && (now.Before(t.reopened) || !now.Before(t.closed)) {
		rest = `"status":"completed","end_time":"` + t.ended.Format(time.RFC3339Nano) + `"`
	}
	return `{"id":"` + t.id + `","start_time":"` + t.start.Format(time.RFC3339Nano) + `","created_at":"` + t.visible.Format(time.RFC3339Nano) + `",` + rest + `}`
}

func respond(r *http.Request, status int, body any) *http.Response {
	text, ok := body.(string)
	if !ok {
		b, err := json.Marshal(body)
		if err != nil {
			panic(err)
		}
		text = string(b)
	}
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Request: r, Body: io.NopCloser(strings.NewReader(text)), ContentLength: -1,
		Header: http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}, "Content-Type": {"application/json"}},
	}
}

// refuse answers with an error of the interface.
func refuse(r *http.Request, status int, reason, message string, header ...string) *http.Response {
	res := respond(r, status, map[string]any{"error": map[string]any{
		"code": "X", "message": message, "details": map[string]any{"reason": reason, "requiredScope": "traces:read"}, "requestId": "3f1c",
	}})
	for i := 0; i < len(header); i += 2 {
		res.Header.Set(header[i], header[i+1])
	}
	return res
}

var errRefused = errors.New("connect: connection refused")

// tailed is what a tail showed and said.
type tailed struct {
	shown []client.Trace
	at    []time.Time // when each was shown, on the server's clock
	said  []string
	err   error
}

// of returns the statuses in which a trace was shown.
func (g *tailed) of(id string) []string {
	var statuses []string
	for _, t := range g.shown {
		if t.ID == id {
			statuses = append(statuses, t.Status)
		}
	}
	return statuses
}

// tail follows the server for as long as given, in the time of a bubble.
func tail(t *testing.T, s *server, long time.Duration, change func(*client.Tail)) *tailed {
	t.Helper()
	c, err := client.New("http://assay.test", apiKey, s)
	require.NoError(t, err)
	got := &tailed{}
	run := client.Tail{
		Client: c, Now: time.Now,
		Show: func(tr client.Trace) error {
			got.shown, got.at = append(got.shown, tr), append(got.at, time.Now())
			return nil
		},
		Say: func(text string) { got.said = append(got.said, text) },
	}
	if change != nil {
		change(&run)
	}
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	got.err = run.Run(ctx)
	return got
}

// bubble runs a test in time of its own.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func id(n int) string { return fmt.Sprintf("%032x", n) }
