package neighbours

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// queries are attacks by what is asked.
var queries = []attack{
	{name: "expensive searches", width: 8, prepare: someTraces(100), blow: func(ctx context.Context, x *attacker, n int) {
		x.send(ctx, http.MethodGet, fmt.Sprintf("/api/traces?limit=100&includeTotal=true&search=%s&startAfter=2000-01-01T00:00:00Z", []string{"answer", "nothing%20like%20it", "e"}[n%3]), nil)
	}},
	{name: "expensive figures", width: 8, prepare: someTraces(100), blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodGet, "/api/traces/metrics?groupBy=model&interval=hour&startAfter="+time.Now().AddDate(0, 0, -30).UTC().Format(time.RFC3339), nil)
	}},
	{name: "exports", width: 8, prepare: someTraces(200), blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodGet, "/api/traces/export?limit=1000", nil)
	}},
	{name: "pages of large items", width: 8, prepare: heavyItems, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodGet, "/api/datasets/"+x.dataset+"/items?limit=1000", nil)
	}},
	{name: "slow readers", width: 200, prepare: heavyItems, blow: slowReader},
	{name: "requests without pause", width: 32, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodGet, "/api/me", nil)
	}},
	{name: "unknown keys", width: 32, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodGet, "/api/me", nil, "Authorization", "Bearer asy_live_"+randomHex(6)+"_"+randomHex(16)+"_"+randomHex(3))
	}},
	{name: "wrong secrets", width: 32, blow: func(ctx context.Context, x *attacker, _ int) {
		parts := strings.Split(x.org.Key, "_")
		parts[3] = randomHex(16)
		x.send(ctx, http.MethodGet, "/api/me", nil, "Authorization", "Bearer "+strings.Join(parts, "_"))
	}},
	{name: "keys minted in a loop", width: 8, blow: func(ctx context.Context, x *attacker, n int) {
		x.send(ctx, http.MethodPost, "/api/developer/api-keys", fmt.Appendf(nil, `{"name":"key %d","scopes":["eval:read"]}`, n))
	}},
	{name: "streams of events", width: 1000, prepare: waitingRun, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodGet, "/api/evaluations/"+x.evaluation+"/runs/"+x.run+"/events", nil, "Accept", "text/event-stream")
	}},
	{name: "deletions in a loop", width: 8, prepare: someTraces(300), blow: func(ctx context.Context, x *attacker, n int) {
		if n < len(x.traces) {
			x.send(ctx, http.MethodDelete, "/api/traces/"+x.traces[n], nil)
			return
		}
		trace := randomHex(16)
		x.send(ctx, http.MethodPost, "/v1/traces", spansAsJSON(trace, 5, time.Now(), "short"))
		x.send(ctx, http.MethodDelete, "/api/traces/"+trace, nil)
	}},
	{name: "datasets made and deleted", width: 8, blow: func(ctx context.Context, x *attacker, n int) {
		id, err := newDataset(ctx, x.s, x.org, fmt.Sprintf("short-lived %d", n), []map[string]any{{"input": "x"}})
		if err == nil {
			x.send(ctx, http.MethodDelete, "/api/datasets/"+id, nil)
		}
	}},
}

// heavyItems makes a dataset of 100 MB.
func heavyItems(ctx context.Context, x *attacker) error {
	if err := emptyDataset(ctx, x); err != nil {
		return err
	}
	text := strings.Repeat("a long question ", 64<<10) // 1 MB
	for n := range 20 {                                // a request holds memory of the least budget that can be set
		items := make([]map[string]any, 5)
		for i := range items {
			items[i] = map[string]any{"input": fmt.Sprint(n, i, text)}
		}
		if err := must(ctx, x.s, x.org, http.MethodPost, "/api/datasets/"+x.dataset+"/items", map[string]any{"items": items}, nil); err != nil {
			return err
		}
	}
	return nil
}

// slowReader asks for a large page and reads a byte a second.
func slowReader(ctx context.Context, x *attacker, _ int) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.s.URL+"/api/datasets/"+x.dataset+"/items?limit=100", nil)
	if err != nil {
		return
	}
	req.Header.Set("Authorization", "Bearer "+x.org.Key)
	res, err := x.client.Do(req)
	if err != nil {
		x.failed.Add(1)
		_ = rig.Sleep(ctx, 10*time.Millisecond)
		return
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= http.StatusBadRequest {
		x.refused.Add(1)
		_ = rig.Sleep(ctx, 100*time.Millisecond)
		return
	}
	x.taken.Add(1)
	var one [1]byte
	for {
		if _, err := io.ReadFull(res.Body, one[:]); err != nil || rig.Sleep(ctx, time.Second) != nil {
			return
		}
	}
}
