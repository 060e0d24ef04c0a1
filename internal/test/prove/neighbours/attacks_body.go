package neighbours

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// largest is what one request may weigh, decompressed.
const largest = 32 << 20

// attacks are all of them.
var attacks = append(append(bodies, queries...), work...)

// bodies are attacks by what is sent.
var bodies = []attack{
	{name: "large imports", width: 8, prepare: emptyDataset, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/api/datasets/"+x.dataset+"/items?dryRun=true", x.once(largeItems))
	}},
	{name: "gzip bombs", width: 16, prepare: emptyDataset, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/api/datasets/"+x.dataset+"/items", x.once(func() []byte { return zipped(bytes.Repeat([]byte(" "), largest)) }), "Content-Encoding", "gzip")
	}},
	{name: "bombs of empty items", width: 8, prepare: emptyDataset, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/api/datasets/"+x.dataset+"/items", x.once(func() []byte {
			return zipped([]byte(`{"items":[` + strings.Repeat("{},", largest/3-10) + `{}]}`))
		}), "Content-Encoding", "gzip")
	}},
	{name: "telemetry bombs", width: 16, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/v1/traces", x.once(func() []byte { return zipped(make([]byte, largest)) }), "Content-Encoding", "gzip", "Content-Type", "application/x-protobuf")
	}},
	{name: "telemetry of empty spans", width: 8, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/v1/traces", x.once(func() []byte {
			return zipped([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Repeat("{},", 8<<20/3) + `{}]}]}]}`))
		}), "Content-Encoding", "gzip")
	}},
	{name: "wide objects", width: 8, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/api/traces", x.once(func() []byte {
			var b bytes.Buffer
			b.WriteString(`{"name":"wide","metadata":{`)
			for i := range 9000 {
				fmt.Fprintf(&b, `"name%d":{"a":1},`, i)
			}
			b.WriteString(`"last":1}`)
			for i := range 9000 {
				fmt.Fprintf(&b, `,"unknown%d":1`, i)
			}
			b.WriteString("}")
			return b.Bytes()
		}))
	}},
	{name: "deep nesting", width: 8, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/api/traces", x.once(func() []byte {
			return []byte(`{"name":"deep","input":` + strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000) + `}`)
		}))
	}},
	{name: "announced and never sent", width: 200, prepare: emptyDataset, blow: neverSent},
	{name: "spans of many days", width: 2, blow: func(ctx context.Context, x *attacker, _ int) {
		var b bytes.Buffer
		b.WriteString(`{"resourceSpans":[{"scopeSpans":[{"spans":[`)
		for day := range 400 {
			at := time.Now().AddDate(0, 0, -day).UnixNano()
			fmt.Fprintf(&b, `{"traceId":%q,"spanId":%q,"name":"old","startTimeUnixNano":"%d","endTimeUnixNano":"%d"},`, randomHex(16), randomHex(8), at, at)
		}
		b.Truncate(b.Len() - 1)
		b.WriteString(`]}]}]}`)
		x.send(ctx, http.MethodPost, "/v1/traces", b.Bytes())
	}},
	{name: "costly redaction", width: 4, prepare: redaction, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/v1/traces", spansAsJSON(randomHex(16), 10, time.Now(), strings.Repeat("c", 64<<10)))
	}},
	{name: "feedback of a megabyte", width: 8, prepare: someTraces(1), blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/api/traces/"+x.traces[0]+"/feedback", x.once(func() []byte {
			return []byte(`{"rating":1,"comment":"` + strings.Repeat("c", 900<<10) + `"}`)
		}))
	}},
}

// once makes the attacker's body, before its first use.
func (x *attacker) once(build func() []byte) []byte {
	x.building.Do(func() { x.body = build() })
	return x.body
}

func emptyDataset(ctx context.Context, x *attacker) (err error) {
	x.dataset, err = newDataset(ctx, x.s, x.org, "target", []map[string]any{{"input": "x"}})
	return err
}

// largeItems is an import of the largest size.
func largeItems() []byte {
	var b bytes.Buffer
	b.WriteString(`{"items":[`)
	text := strings.Repeat("a long question ", 3<<10)
	for i := 0; b.Len() < largest-2*len(text); i++ {
		fmt.Fprintf(&b, `{"input":{"number":%d,"text":%q}},`, i, text)
	}
	b.Truncate(b.Len() - 1)
	b.WriteString(`]}`)
	return b.Bytes()
}

// neverSent announces a large body and sends a byte a second.
func neverSent(ctx context.Context, x *attacker, _ int) {
	r, w := io.Pipe()
	go func() {
		for {
			if _, err := w.Write([]byte(" ")); err != nil || rig.Sleep(ctx, time.Second) != nil {
				_ = w.CloseWithError(io.ErrUnexpectedEOF)
				return
			}
		}
	}()
	defer func() { _ = r.Close() }()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.s.URL+"/api/datasets/"+x.dataset+"/items", r)
	if err != nil {
		return
	}
	req.ContentLength = largest
	req.Header.Set("Authorization", "Bearer "+x.org.Key)
	req.Header.Set("Content-Type", "application/json")
	res, err := x.client.Do(req)
	if err != nil {
		x.failed.Add(1)
		_ = rig.Sleep(ctx, 10*time.Millisecond)
		return
	}
	_ = res.Body.Close()
	x.refused.Add(1)
	_ = rig.Sleep(ctx, 10*time.Millisecond)
}

// redaction sets as many costly rules as are taken.
func redaction(ctx context.Context, x *attacker) error {
	for n := 75; n > 0; n /= 2 {
		rules := make([]map[string]any, n)
		for i := range rules {
			rules[i] = map[string]any{"name": fmt.Sprintf("rule %d", i), "pattern": fmt.Sprintf("[^ab]{0,%d}[yz]", n*13)}
		}
		if must(ctx, x.s, x.org, http.MethodPatch, "/api/organizations/current", map[string]any{"redactionRules": rules}, nil) == nil {
			return nil
		}
	}
	return nil // nothing costly is taken at all
}

// someTraces sends traces of several spans.
func someTraces(n int) func(context.Context, *attacker) error {
	return func(ctx context.Context, x *attacker) error {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(20)
		x.traces = make([]string, n)
		for i := range x.traces {
			x.traces[i] = randomHex(16)
			g.Go(func() error {
				status, answer := x.send(ctx, http.MethodPost, "/v1/traces", spansAsJSON(x.traces[i], 50, time.Now(), strings.Repeat("some words of an answer ", 20)))
				if status != http.StatusOK {
					return fmt.Errorf("%d %.300s", status, answer)
				}
				return nil
			})
		}
		return g.Wait()
	}
}
