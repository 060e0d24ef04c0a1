package evaluation_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/test/testkit"
)

// scoringCall is a call that a service that scores received.
type scoringCall struct {
	Metric string `json:"metric"`
	Items  []struct {
		TestCaseID     string `json:"test_case_id"`
		Input          string `json:"input"`
		Output         string `json:"output"`
		ExpectedOutput string `json:"expected_output"`
	} `json:"items"`
}

// scoring is a service that answers each call with what answer returns.
func scoring(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, call scoringCall)) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call scoringCall
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
			t.Errorf("the call cannot be read: %v", err)
		}
		answer(w, r, call)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// agreeing scores 1 where the output is the expected one.
func agreeing(w http.ResponseWriter, call scoringCall) {
	scores := make([]string, len(call.Items))
	for i, item := range call.Items {
		scores[i] = "0"
		if item.Output == item.ExpectedOutput {
			scores[i] = `{"value":1,"explanation":"They agree."}`
		}
	}
	_, _ = fmt.Fprintf(w, `{"scores":[%s]}`, strings.Join(scores, ","))
}

func TestEndpointMetrics(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	recorded := map[string]any{"target": map[string]any{"type": "recorded"}}
	endpoint := func(url string) map[string]any {
		return map[string]any{"source": "code", "endpoint": map[string]any{"url": url, "batchSize": 8}}
	}

	t.Run("a service scores answers, several in a call, while the run executes", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		var mu sync.Mutex
		var sizes []int
		keys := map[string]bool{}
		url := scoring(t, func(w http.ResponseWriter, r *http.Request, call scoringCall) {
			mu.Lock()
			sizes = append(sizes, len(call.Items))
			keys[r.Header.Get("Idempotency-Key")] = true
			mu.Unlock()
			if call.Metric != "my_judge" {
				t.Errorf("asked for %q", call.Metric)
			}
			agreeing(w, call)
		})
		e, _ := judged(t, c, 60, recorded, endpoint(url))

		done := ran(t, c, e.ID, map[string]any{"concurrency": 32})

		require.Equal(t, "completed", done.Status)
		require.InDelta(t, *done.Statistics.Metrics["exact_match"].Value, *done.Statistics.Metrics["my_judge"].Value, 1e-12, "it scores the same, elsewhere")
		require.NotNil(t, done.Statistics.Metrics["my_judge"].CI)
		require.Less(t, len(sizes), 60, "answers share calls: %v", sizes)
		require.Len(t, keys, len(sizes), "each call has a key of its own")
		for _, n := range sizes {
			require.LessOrEqual(t, n, 8)
		}
	})

	t.Run("a failure that passes is not seen, one that stays is the system's", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		var mu sync.Mutex
		tries := map[string]int{}
		url := scoring(t, func(w http.ResponseWriter, r *http.Request, call scoringCall) {
			mu.Lock()
			tries[r.Header.Get("Idempotency-Key")]++
			first := tries[r.Header.Get("Idempotency-Key")] == 1
			mu.Unlock()
			switch call.Items[0].Input {
			case "question 0":
				http.Error(w, "what is that?", http.StatusBadRequest)
			case "question 1":
				_, _ = w.Write([]byte(`{"scores":[7]}`))
			case "question 2":
				_, _ = w.Write([]byte(`{"verdict":"fine"}`))
			case "question 3":
				_, _ = w.Write([]byte(`{"scores":[null]}`))
			default:
				if first {
					w.WriteHeader(http.StatusInternalServerError)
					return
				}
				agreeing(w, call)
			}
		})
		e, _ := judged(t, c, 6, recorded, map[string]any{"endpoint": map[string]any{"url": url, "batchSize": 1}})

		done := ran(t, c, e.ID, nil)

		require.Equal(t, "completed", done.Status)
		why := map[string]string{}
		for _, one := range results(t, c, done) {
			for _, x := range one.Explanations {
				if x.Metric == "my_judge" {
					why[one.Input.(string)] = api.Value(x.Reason) + ": " + api.Value(x.Text)
				}
			}
		}
		require.Equal(t, map[string]string{
			"question 0": "service_failed: The service that scores my_judge answered with status 400.",
			"question 1": "service_failed: The service gave the score 7, which must be at most 1, the highest score of the metric.",
			"question 2": `service_failed: The service that scores my_judge answered with status 200, but not with a JSON object whose "scores" has 1 entries, each a number, null, or an object with "value" and "explanation". It answered: {"verdict":"fine"}`,
			"question 3": "not_sent: The service gave no score.",
			"question 4": ": They agree.",
			"question 5": ": They agree.",
		}, why)
	})

	t.Run("a service that does not accept the call stops the run", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		url := scoring(t, func(w http.ResponseWriter, _ *http.Request, _ scoringCall) { w.WriteHeader(http.StatusUnauthorized) })
		e, _ := judged(t, c, 5, recorded, endpoint(url))

		done := ran(t, c, e.ID, nil)

		require.Equal(t, "failed", done.Status)
		require.Equal(t, "scorer_unreachable", done.Error.Code)
		require.Equal(t, "The service that scores my_judge does not accept the call: status 401.", done.Error.Message)
	})

	t.Run("what cannot work is refused when it is declared", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		d := c.Dataset(t, testkit.NewDataset{})
		_, err := c.Call(t.Context(), http.MethodPost, "/api/evaluations", map[string]any{
			"name": "x", "datasetId": d.ID, "metrics": []string{"exact_match"},
			"externalMetrics": []any{map[string]any{"name": "my_judge", "endpoint": map[string]any{"url": "http://169.254.169.254/scores"}}},
		}, nil)
		require.Equal(t, []string{"/externalMetrics/0/endpoint/url"}, paths(t, refused(t, err, fault.Validation, "invalid_request")))
	})

	t.Run("scores that a service makes are not taken from anybody else", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		hold := make(chan struct{})
		url := scoring(t, func(w http.ResponseWriter, _ *http.Request, call scoringCall) {
			if call.Items[0].Input != "question 0" {
				<-hold
			}
			agreeing(w, call)
		})
		e, ids := judged(t, c, 2, recorded, map[string]any{"endpoint": map[string]any{"url": url, "batchSize": 1}})
		r := executing(t, c, started(t, c, e.ID, nil))
		require.Eventually(t, func() bool { return len(results(t, c, r)) == 1 }, 10*time.Minute, 20*time.Millisecond)
		require.ErrorIs(t, addScores(t, c, r, ids[0], map[string]any{"my_judge": 1}), evaluation.ErrNoExternal)
		close(hold)
		require.Equal(t, "completed", c.Ended(t, r).Status, "nobody has to say that scores are final")
	})

	t.Run("one answer that the service does not take costs the others nothing", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		url := scoring(t, func(w http.ResponseWriter, _ *http.Request, call scoringCall) {
			for _, item := range call.Items {
				if item.Input == "question 3" {
					w.WriteHeader(http.StatusRequestEntityTooLarge)
					return
				}
			}
			agreeing(w, call)
		})
		e, _ := judged(t, c, 20, recorded, endpoint(url))

		done := ran(t, c, e.ID, map[string]any{"concurrency": 20})

		require.EqualValues(t, 19, done.Statistics.Metrics["my_judge"].N)
	})

	t.Run("an answer that was paid for is kept when its service stops the run", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		target := application(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"output":"x","cost_usd":1}`)) })
		url := scoring(t, func(w http.ResponseWriter, _ *http.Request, _ scoringCall) { w.WriteHeader(http.StatusForbidden) })
		e, _ := judged(t, c, 3, map[string]any{"target": target}, endpoint(url))

		done := ran(t, c, e.ID, map[string]any{"concurrency": 1})

		require.Equal(t, "failed", done.Status)
		kept := results(t, c, done)
		require.Len(t, kept, 1, "the first answer shows that no other can be scored")
		require.InDelta(t, 1, *kept[0].CostUSD, 1e-12)
	})
}

// TestASecretGoesToItsScorerOnly has a service repeat the secret that it is sent.
func TestASecretGoesToItsScorerOnly(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	const planted = "sk-scores-0123456789"
	url := scoring(t, func(w http.ResponseWriter, r *http.Request, _ scoringCall) {
		if r.Header.Get("Authorization") != "Bearer "+planted {
			t.Errorf("authorization is %q", r.Header.Get("Authorization"))
		}
		_, _ = fmt.Fprintf(w, `{"scores":[{"value":1,"explanation":"You sent %s."}]}`, planted)
	})
	key, err := c.CreateProviderKey(t.Context(), map[string]any{"provider": "custom", "name": "ours", "baseUrl": url, "secret": planted})
	require.NoError(t, err)
	e, _ := judged(t, c, 1, map[string]any{"target": map[string]any{"type": "recorded"}}, map[string]any{"endpoint": map[string]any{"url": url, "secretRef": strconv.FormatInt(key.ID, 10)}})

	done := ran(t, c, e.ID, nil)

	require.Equal(t, "completed", done.Status)
	text, err := json.Marshal(results(t, c, done))
	require.NoError(t, err)
	require.NotContains(t, string(text), planted)
	require.Contains(t, string(text), "You sent [secret].")
}
