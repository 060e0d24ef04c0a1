package judge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/testkit"
)

const providerSecret = "only-for-benches"

// world is an application with a judge, and a provider that answers at once.
type world struct {
	us         *testkit.Client
	evaluation testkit.Evaluation
	items      int

	to        llm.Endpoint
	client    *llm.Client
	first     atomic.Int64 // when the provider was first asked, in microseconds
	calls     atomic.Int64
	recording atomic.Bool
	mu        sync.Mutex
	bodies    [][]byte // of requests, while they are recorded
	questions []llm.Request
}

func newWorld(t testing.TB, items int) *world {
	t.Helper()
	cfg := testkit.Config(t)
	cfg.Egress.Allow = []string{"127.0.0.0/8"}
	var err error
	cfg.Secret.MasterKey, err = secret.NewMasterKey()
	require.NoError(t, err)
	kit := testkit.NewWith(t, cfg)
	kit.Work(t)
	w := &world{us: kit.Org(t), items: items}
	// A prompt that is counted takes memory, and none matters here.
	provider, err := simulated.New(simulated.Options{Remember: -1})
	require.NoError(t, err)
	server := httptest.NewServer(w.watch(provider))
	t.Cleanup(server.Close)
	w.to = llm.Endpoint{Provider: "openai", BaseURL: server.URL + "/v1", Secret: providerSecret}
	connections := &http.Transport{MaxIdleConnsPerHost: concurrency}
	t.Cleanup(connections.CloseIdleConnections)
	w.client = llm.New(&http.Client{Transport: connections})

	ctx := t.Context()
	key, err := w.us.CreateProviderKey(ctx, map[string]any{"provider": "openai", "name": "simulated", "baseUrl": w.to.BaseURL, "secret": providerSecret})
	require.NoError(t, err)
	_, err = w.us.CreateJudgeConfig(ctx, map[string]any{"key": "quality", "starter": "helpfulness", "provider": "openai", "model": "judge", "providerKeyId": key.ID})
	require.NoError(t, err)
	w.evaluation = w.us.Evaluation(t, w.fill(t).ID, map[string]any{"metrics": []string{"judge:quality"}, "target": map[string]any{"type": "recorded"}})
	return w
}

// fill makes a dataset of recorded answers.
func (w *world) fill(t testing.TB) testkit.Dataset {
	t.Helper()
	d := w.us.Dataset(t, testkit.NewDataset{})
	for from := 0; from < w.items; from += 1000 {
		items := make([]testkit.Item, min(1000, w.items-from))
		for i := range items {
			items[i] = testkit.Item{Input: fmt.Sprintf("How do I pay invoice %d?", from+i), Output: fmt.Sprintf("Open Billing, choose invoice %d and pay by card. [[score:%d]]", from+i, i%2)}
		}
		_, err := w.us.AddItems(t.Context(), d.ID, items)
		require.NoError(t, err)
	}
	return d
}

// watch notes when the provider was first asked and, while that is wanted, what.
func (w *world) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.first.CompareAndSwap(0, time.Now().UnixMicro())
		w.calls.Add(1)
		if w.recording.Load() {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			w.mu.Lock()
			w.bodies = append(w.bodies, body)
			w.mu.Unlock()
		}
		next.ServeHTTP(rw, r)
	})
}

// run judges every item and returns how many a second, from the first call until all
// verdicts are stored.
func (w *world) run(t testing.TB) float64 {
	t.Helper()
	w.first.Store(0)
	w.calls.Store(0)
	ctx := t.Context()
	started, err := w.us.StartRun(ctx, w.evaluation.ID, map[string]any{"concurrency": concurrency})
	require.NoError(t, err)
	var stored time.Time
	for stored.IsZero() {
		// Who looks too often is a part of what is measured.
		time.Sleep(50 * time.Millisecond)
		p, err := w.us.GetEvaluationRunProgress(ctx, w.evaluation.ID, started.RunID)
		require.NoError(t, err)
		require.Contains(t, []string{"running", "completed"}, p.Status)
		if p.ItemsTotal > 0 && p.ItemsDone == p.ItemsTotal {
			stored = time.Now()
		}
	}
	done := w.us.Ended(t, started)
	require.Equal(t, "completed", done.Status)
	require.Zero(t, done.Errored)
	require.EqualValues(t, w.items, w.calls.Load(), "each item is paid once")
	return float64(w.items) / stored.Sub(time.UnixMicro(w.first.Load())).Seconds()
}

// learn records what a run asks, which warms up, too.
func (w *world) learn(t testing.TB) {
	t.Helper()
	w.recording.Store(true)
	w.run(t)
	w.recording.Store(false)
	require.Len(t, w.bodies, w.items)
	for _, body := range w.bodies {
		var asked struct {
			Model    string `json:"model"`
			Messages []struct {
				Role    llm.Role `json:"role"`
				Content string   `json:"content"`
			} `json:"messages"`
			Format struct {
				Schema struct {
					Schema jsontext.Value `json:"schema"`
				} `json:"json_schema"`
			} `json:"response_format"`
		}
		require.NoError(t, json.Unmarshal(body, &asked))
		q := llm.Request{Model: asked.Model, Params: llm.Params{ResponseSchema: asked.Format.Schema.Schema}, IdempotencyKey: strconv.Itoa(len(w.questions))}
		require.NotEmpty(t, q.Params.ResponseSchema)
		for _, m := range asked.Messages {
			if m.Role == "system" || m.Role == "developer" {
				q.System = m.Content
				continue
			}
			q.Messages = append(q.Messages, llm.Message{Role: m.Role, Content: m.Content})
		}
		w.questions = append(w.questions, q)
	}
	w.bodies = nil
}

// bare asks the same questions and returns how many a second.
func (w *world) bare() (float64, error) {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(context.Background())
	began := time.Now()
	for range concurrency {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(w.questions) {
					return nil
				}
				reply, err := w.client.Complete(ctx, w.to, w.questions[i])
				if err != nil {
					return err
				}
				var verdict struct {
					Rating string `json:"rating"`
				}
				if err := json.Unmarshal([]byte(reply.Text), &verdict); err != nil {
					return err
				}
				if verdict.Rating == "" {
					return errors.New("the answer has no rating")
				}
			}
		})
	}
	err := g.Wait()
	return float64(len(w.questions)) / time.Since(began).Seconds(), err
}
