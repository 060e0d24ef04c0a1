package neighbours

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// attack is one way to harm a neighbour.
type attack struct {
	name  string
	width int // how many blows at once
	// prepare makes what the attack needs, before it is measured.
	prepare func(context.Context, *attacker) error
	// blow is repeated without pause. What the attacker sees is its own affair.
	blow func(context.Context, *attacker, int)
}

// attacker is an organization that attacks.
type attacker struct {
	s      *system
	org    rig.Organization
	client *http.Client

	// What attacks prepare.
	building                 sync.Once
	body                     []byte
	dataset, evaluation, run string
	traces                   []string

	blows, taken, refused, failed atomic.Int64
}

// newAttacker makes an attacker with an address of its own.
func newAttacker(s *system, org rig.Organization, address byte) *attacker {
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, address)}}
	return &attacker{s: s, org: org, client: &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{
		DialContext: from.DialContext, MaxIdleConnsPerHost: 64, DisableCompression: true,
	}}}
}

// strike repeats the attack's blows until ctx ends.
func (x *attacker) strike(ctx context.Context, a attack) *sync.WaitGroup {
	var all sync.WaitGroup
	for i := range a.width {
		all.Go(func() {
			for n := i; ctx.Err() == nil; n += a.width {
				x.blows.Add(1)
				a.blow(ctx, x, n)
			}
		})
	}
	return &all
}

// tally is what became of the blows.
type tally struct{ blows, taken, refused, failed int64 }

func (x *attacker) tally() tally {
	return tally{x.blows.Load(), x.taken.Load(), x.refused.Load(), x.failed.Load()}
}

// String shows the tally.
func (t tally) String() string {
	return fmt.Sprintf("blows %d taken %d refused %d failed %d", t.blows, t.taken, t.refused, t.failed)
}

// send sends a request and reads the answer to its end. After a refusal it waits
// a moment: an attacker that spins would only measure itself.
func (x *attacker) send(ctx context.Context, method, path string, body []byte, headers ...string) (status int, answer []byte) {
	req, err := http.NewRequestWithContext(ctx, method, x.s.URL+path, bytes.NewReader(body))
	if err != nil {
		x.failed.Add(1)
		return 0, nil
	}
	req.Header.Set("Authorization", "Bearer "+x.org.Key)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := x.client.Do(req)
	if err != nil {
		x.failed.Add(1)
		_ = rig.Sleep(ctx, 10*time.Millisecond)
		return 0, nil
	}
	defer func() { _ = res.Body.Close() }()
	answer, _ = io.ReadAll(res.Body)
	if res.StatusCode >= http.StatusBadRequest {
		x.refused.Add(1)
		_ = rig.Sleep(ctx, 10*time.Millisecond)
	} else {
		x.taken.Add(1)
	}
	return res.StatusCode, answer
}

// zipped compresses a body.
func zipped(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(body)
	_ = z.Close()
	return b.Bytes()
}

// identified is what was made.
type identified struct {
	ID string `json:"id"`
}

// newDataset makes a dataset with items, a thousand at a time at most.
func newDataset(ctx context.Context, s *system, org rig.Organization, name string, items []map[string]any) (id string, err error) {
	var made identified
	if err := must(ctx, s, org, http.MethodPost, "/api/datasets", map[string]any{"name": name}, &made); err != nil {
		return "", err
	}
	return made.ID, must(ctx, s, org, http.MethodPost, "/api/datasets/"+made.ID+"/items", map[string]any{"items": items}, nil)
}

func newEvaluation(ctx context.Context, s *system, org rig.Organization, dataset string, target map[string]any, metrics ...any) (id string, err error) {
	var made identified
	err = must(ctx, s, org, http.MethodPost, "/api/evaluations", map[string]any{
		"name": "evaluation " + randomHex(4), "datasetId": dataset, "metrics": metrics, "target": target,
		"metricParams": params(metrics),
	}, &made)
	return made.ID, err
}

// params are those of the costly metric, if it is one of them.
func params(metrics []any) map[string]any {
	if slices.Contains(metrics, any(costly)) {
		return map[string]any{costly: map[string]any{"method": "levenshtein"}}
	}
	return map[string]any{}
}

// must makes something that an attack or the quiet organization needs.
func must(ctx context.Context, s *system, org rig.Organization, method, path string, in, out any) error {
	status, answer, err := s.Call(ctx, org, method, path, randomHex(8), in)
	if err != nil {
		return err
	}
	if status >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %d %.500s", method, path, status, answer)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}
