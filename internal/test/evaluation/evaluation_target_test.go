package evaluation_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestModelTarget(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	d := filled(t, c, []testkit.Item{
		{Input: "hello", ExpectedOutput: "hello"},
		{Input: map[string]any{"word": "bye"}, ExpectedOutput: "BYE"},
	})
	run := func(t *testing.T, target map[string]any) []testkit.Result {
		target["type"], target["provider"] = "model", "simulated"
		r := ran(t, c, c.Evaluation(t, d.ID, map[string]any{"target": target}).ID, nil)
		require.Equal(t, "completed", r.Status, "%+v", r.Error)
		require.EqualValues(t, 2, r.Calls)
		require.Positive(t, r.Usage.InputTokens)
		require.Positive(t, r.Usage.OutputTokens)
		return results(t, c, r)
	}

	t.Run("it is asked with the item's input", func(t *testing.T) {
		t.Parallel()
		got := run(t, map[string]any{"model": "echo"})
		require.Equal(t, "hello", got[0].Output)
		require.Equal(t, "passed", got[0].Status)
		require.JSONEq(t, `{"word":"bye"}`, got[1].Output.(string))
		require.EqualValues(t, 1, got[0].Calls)
		require.NotNil(t, got[0].DurationMs)
		require.Nil(t, got[0].CostUSD, "nobody knows what it costs")
		require.Regexp(t, "^[0-9a-f]{32}$", api.Value(got[0].OTELTraceID))
		require.NotEqual(t, got[0].OTELTraceID, got[1].OTELTraceID)
	})

	t.Run("what it costs is by the organization's own prices", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		_, err := c.UpdateOrganization(t.Context(), map[string]any{
			"priceOverrides": map[string]any{"echo": map[string]any{"input_per_million": 1000, "output_per_million": 0}},
		})
		require.NoError(t, err)
		d := filled(t, c, []testkit.Item{{Input: "hello", ExpectedOutput: "hello"}})
		e := c.Evaluation(t, d.ID, map[string]any{"target": map[string]any{"type": "model", "provider": "simulated", "model": "echo"}})

		r := ran(t, c, e.ID, nil)

		require.InDelta(t, float64(r.Usage.InputTokens)/1000, *results(t, c, r)[0].CostUSD, 1e-9)
	})

	t.Run("a prompt holds the item", func(t *testing.T) {
		t.Parallel()
		got := run(t, map[string]any{"model": "upper", "prompt": "{{input.word}}{{ input }}{{nothing}}{{"})
		require.Equal(t, `HELLO{{NOTHING}}{{`, got[0].Output)
		require.Equal(t, `BYE{"WORD":"BYE"}{{NOTHING}}{{`, got[1].Output)
	})
}

// asked is what an application was sent.
type asked struct {
	Input      any    `json:"input"`
	TestCaseID string `json:"test_case_id"`
	RunID      string `json:"run_id"`
	Epoch      int    `json:"epoch"`
}

func read(t testing.TB, r *http.Request) (a asked) {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		t.Errorf("an application is sent no JSON: %v", err)
	}
	return a
}

func TestHTTPTarget(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	d := filled(t, c, cases(1))
	evaluated := func(t *testing.T, target map[string]any) (testkit.Run, testkit.Result) {
		t.Helper()
		r := ran(t, c, c.Evaluation(t, d.ID, map[string]any{"target": target}).ID, nil)
		all := results(t, c, r)
		if len(all) == 0 {
			return r, testkit.Result{}
		}
		return r, all[0]
	}

	t.Run("it is asked once, as part of a trace, and its answer is scored", func(t *testing.T) {
		t.Parallel()
		var mu sync.Mutex
		var seen []http.Header
		var bodies []asked
		r, got := evaluated(t, application(t, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			seen, bodies = append(seen, r.Header), append(bodies, read(t, r))
			_, _ = fmt.Fprint(w, `{"output":"answer 0","tool_calls":[{"name":"look","arguments":{"at":"it"}}],"usage":{"input_tokens":7,"output_tokens":9,"cost_usd":0.29}}`)
		}))

		require.Equal(t, "completed", r.Status, "%+v", r.Error)
		require.Equal(t, "passed", got.Status)
		require.Len(t, seen, 1)
		require.Equal(t, asked{"question 0", got.TestCaseID, r.RunID, 0}, bodies[0])
		parent := strings.Split(seen[0].Get("Traceparent"), "-")
		require.Len(t, parent, 4)
		require.Equal(t, api.Value(got.OTELTraceID), parent[1])
		require.Equal(t, "01", parent[3])
		require.Equal(t, "assay-"+r.RunID+"-"+got.TestCaseID+"-0", seen[0].Get("Idempotency-Key"))
		require.Empty(t, seen[0].Get("Authorization"))
		require.InDelta(t, 0.29, r.CostUSD, 0)
		require.InDelta(t, 0.29, *got.CostUSD, 0)
		require.EqualValues(t, 1, r.Calls)
		require.Equal(t, testkit.TokenUsage{InputTokens: 7, OutputTokens: 9, TotalTokens: 16}, r.Usage)
	})

	t.Run("trouble is tried again, and what went wrong is kept", func(t *testing.T) {
		t.Parallel()
		var n atomic.Int32
		r, got := evaluated(t, application(t, func(w http.ResponseWriter, _ *http.Request) {
			switch n.Add(1) {
			case 1:
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
			case 2:
				w.WriteHeader(http.StatusInternalServerError)
			case 3:
				w.WriteHeader(http.StatusServiceUnavailable)
			default:
				_, _ = fmt.Fprint(w, `{"output":"answer 0"}`)
			}
		}))

		require.Equal(t, "completed", r.Status)
		require.Equal(t, "passed", got.Status)
		require.EqualValues(t, 4, got.Calls)
		var codes []string
		for _, a := range got.Attempts {
			codes = append(codes, a.Code)
		}
		require.Equal(t, []string{"target_unreachable", "target_unreachable", "target_unreachable"}, codes)
		require.Contains(t, got.Attempts[0].Message, "429")
		require.GreaterOrEqual(t, r.CompletedAt.Sub(r.StartedAt).Seconds(), 1.0, "what it asks to wait is waited")
		p, err := c.GetEvaluationRunProgress(t.Context(), r.EvaluationID, r.RunID)
		require.NoError(t, err)
		require.NotEmpty(t, p.Recent)
		require.Equal(t, "warning", p.Recent[0].Level)
	})

	t.Run("what never works is an error of the item, not of the run", func(t *testing.T) {
		t.Parallel()
		for name, one := range map[string]struct {
			answer   http.HandlerFunc
			timeout  int
			code     string
			attempts int
			message  string
		}{
			"errors":      {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, code: "target_unreachable", attempts: 5},
			"a refusal":   {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnprocessableEntity) }, code: "refused"},
			"no output":   {answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `{"text":"x"}`) }, code: "malformed", message: `but not with a JSON object that has "output". It answered: {"text":"x"}`},
			"too late":    {answer: func(_ http.ResponseWriter, r *http.Request) { hang(t, r) }, timeout: 100, code: "timeout", attempts: 5},
			"far too big": {answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 5<<20)) }, code: "too_large"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				target := application(t, one.answer)
				if one.timeout > 0 {
					target["timeoutMs"] = one.timeout
				}

				r, got := evaluated(t, target)

				require.Equal(t, "completed", r.Status)
				require.Equal(t, []int64{1, 0, 1, 1}, []int64{r.Items, r.Passed, r.Failed, r.Errored})
				require.Equal(t, "errored", got.Status)
				require.Equal(t, one.code, api.Value(got.Error.Code))
				require.Contains(t, got.Error.Message, one.message)
				require.Len(t, got.Attempts, one.attempts)
				require.EqualValues(t, one.attempts+1, got.Calls)
				require.Equal(t, map[string]*float64{"exact_match": nil}, got.Scores)
				require.Nil(t, r.Overall, "an item without a score is none of zero")
			})
		}
	})

	t.Run("what it costs is read in every common form, and is unknown otherwise", func(t *testing.T) {
		t.Parallel()
		for answer, want := range map[string]*float64{
			`{"output":"x","cost_usd":0.25}`:          usd(0.25),
			`{"output":"x","costUsd":0.25}`:           usd(0.25),
			`{"output":"x","usage":{"costUsd":0.25}}`: usd(0.25),
			`{"output":"x","model":"gpt-4o-mini","usage":{"prompt_tokens":1000000,"completion_tokens":0}}`:  usd(0.15),
			`{"output":"x","model":"gpt-4o-mini","usage":{"inputTokens":1000000,"outputTokens":0}}`:         usd(0.15),
			`{"output":"x","model":"somebody/unknown","usage":{"input_tokens":1000000,"output_tokens":10}}`: nil,
			`{"output":"x"}`: nil,
			`{"output":"x","model":{"name":"m"},"usage":"much","cost_usd":"0.1"}`: nil,
		} {
			_, got := evaluated(t, application(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, answer) }))
			require.Equal(t, want, got.CostUSD, answer)
		}
	})

	t.Run("a target that is down stops the run before it asks for everything", func(t *testing.T) {
		t.Parallel()
		var n atomic.Int32
		target := application(t, func(w http.ResponseWriter, _ *http.Request) {
			n.Add(1)
			w.WriteHeader(http.StatusBadGateway)
		})
		e := c.Evaluation(t, filled(t, c, cases(200)).ID, map[string]any{"target": target})

		r := ran(t, c, e.ID, map[string]any{"concurrency": 20})

		require.Equal(t, "failed", r.Status)
		require.Equal(t, "target_unreachable", r.Error.Code)
		require.Contains(t, r.Error.Message, "It did not answer 10 items in a row")
		require.Less(t, n.Load(), int32(600), "half of what all items would take")
	})

	t.Run("a target that lets nobody in stops the run", func(t *testing.T) {
		t.Parallel()
		var n atomic.Int32
		target := application(t, func(w http.ResponseWriter, _ *http.Request) {
			n.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
		})
		many := filled(t, c, cases(200))
		e := c.Evaluation(t, many.ID, map[string]any{"target": target})

		r := ran(t, c, e.ID, map[string]any{"concurrency": 4})

		require.Equal(t, "failed", r.Status)
		require.Equal(t, "target_unreachable", r.Error.Code)
		require.Contains(t, r.Error.Message, "401")
		require.Zero(t, r.Items)
		require.Less(t, n.Load(), int32(20))
		require.NoError(t, c.DeleteDataset(t.Context(), many.ID))
	})

	t.Run("the secret of a key goes to the key's own address alone", func(t *testing.T) {
		t.Parallel()
		// Provider keys need a master key, which this deployment has not.
		r, _ := evaluated(t, map[string]any{"type": "http", "url": "http://127.0.0.1:1/", "secretRef": "4711000"})
		require.Equal(t, "failed", r.Status)
		require.Equal(t, "provider_key_missing", r.Error.Code)
	})
}

func TestAKeyThatIsOffIsSentToNobody(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Working(t)
	c := k.Org(t)
	var sent []string
	target := application(t, func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization")) // there is one item, so one call at a time
		_, _ = fmt.Fprint(w, `{"output":"answer 0"}`)
	})
	key, err := c.CreateProviderKey(ctx, map[string]any{"provider": "custom", "name": "ours", "baseUrl": target["url"], "secret": "sesame"})
	require.NoError(t, err)
	target["secretRef"] = strconv.FormatInt(key.ID, 10)
	e := c.Evaluation(t, filled(t, c, cases(1)).ID, map[string]any{"target": target})

	require.Equal(t, "completed", ran(t, c, e.ID, nil).Status)
	_, err = c.UpdateProviderKey(ctx, key.ID, map[string]any{"status": "disabled"})
	require.NoError(t, err)
	off := ran(t, c, e.ID, nil)

	require.Equal(t, "failed", off.Status)
	require.Equal(t, "provider_key_missing", off.Error.Code)
	require.Equal(t, []string{"Bearer sesame"}, sent)
}

func usd(v float64) *float64 { return &v }
