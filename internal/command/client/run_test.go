package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client"
)

// handler answers requests in the process, so that time can be a bubble's.
type handler func(*http.Request) (*http.Response, error)

// RoundTrip answers.
func (h handler) RoundTrip(r *http.Request) (*http.Response, error) { return h(r) }

func asking(t *testing.T, h handler) *client.Client {
	t.Helper()
	c, err := client.New("http://assay.test", apiKey, h)
	require.NoError(t, err)
	return c
}

// paged answers with one entry of a list, and with the cursor of the next one.
func paged(r *http.Request, list string, all []string) *http.Response {
	at, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	page, next := strings.Join(all, ","), "null"
	if at+1 < len(all) {
		next = strconv.Quote(strconv.Itoa(at + 1))
	}
	if at < len(all) {
		page = all[at]
	}
	return respond(r, 200, fmt.Sprintf(`{%q:[%s],"has_more":%t,"next_cursor":%s}`, list, page, next != "null", next))
}

func TestFindEvaluation(t *testing.T) {
	t.Parallel()
	all := []string{
		`{"id":"1","name":"Support","status":"completed"}`, `{"id":"2","name":"support answers","status":"pending"}`, `{"id":"3","name":"Search","status":"archived"}`,
		`{"id":"4","name":"Search","status":"pending"}`, `{"id":"5","name":"Twin","status":"pending"}`, `{"id":"6","name":"Twin","status":"failed"}`,
		`{"id":"7","name":"12","status":"failed"}`, `{"id":"8","name":"Old","status":"archived"}`, `{"id":"9","name":"SUPPORT","status":"pending"}`,
	}
	c := asking(t, func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/api/evaluations" {
			var found []string
			for _, e := range all {
				if strings.Contains(strings.ToLower(e), `"name":"`) && strings.Contains(strings.ToLower(e), strings.ToLower(r.URL.Query().Get("search"))) {
					found = append(found, e)
				}
			}
			return paged(r, "evaluations", found), nil
		}
		for _, e := range all {
			if strings.HasPrefix(e, `{"id":"`+strings.TrimPrefix(r.URL.Path, "/api/evaluations/")+`"`) {
				return respond(r, 200, e), nil
			}
		}
		return refuse(r, 404, "evaluation_not_found", "There is no such evaluation."), nil
	})
	for name, want := range map[string]string{"1": "1", " 3 ": "3", "Support": "1", "SUPPORT": "9", "Support Answers": "2", "Search": "4", "12": "7", "old": "8"} {
		e, err := c.FindEvaluation(t.Context(), name)
		require.NoError(t, err, name)
		require.Equal(t, want, e.ID, name)
	}
	for name, want := range map[string]string{
		"suppor":                 `evaluation "suppor" not found; did you mean "Support" (1), "support answers" (2), "SUPPORT" (9)?`,
		"sUpPoRt":                `2 evaluations are named "sUpPoRt": use an ID, such as 1`,
		"Twin":                   `2 evaluations are named "Twin": use an ID, such as 5`,
		"99":                     `evaluation "99" not found: use its ID or name`,
		"":                       `"" is not an evaluation: use its ID or name`,
		strings.Repeat("x", 201): `is not an evaluation: use its ID or name`,
		"\x1b[2J":                `evaluation " [2J" not found`,
	} {
		_, err := c.FindEvaluation(t.Context(), name)
		require.ErrorContains(t, err, want, name)
	}
}

func run(id, status, started string) string {
	return fmt.Sprintf(`{"id":%q,"evaluation_id":"7","status":%q,"started_at":%q,"baseline_run_id":null,"new":1}`, id, status, started)
}

func TestRunsAreNamed(t *testing.T) {
	t.Parallel()
	c := asking(t, func(r *http.Request) (*http.Response, error) {
		runs := []string{run("5", "failed", "2026-01-05T00:00:00Z"), run("4", "completed", "2026-01-04T00:00:00Z"), run("3", "cancelled", "2026-01-03T00:00:00Z"), run("2", "completed", "2026-01-02T00:00:00Z")}
		if r.URL.Query().Get("status") == "completed" {
			runs = []string{runs[1], runs[3]}
		}
		return paged(r, "runs", runs), nil
	})
	e := client.Evaluation{ID: "7", Name: "Support"}
	latest, err := c.LatestRun(t.Context(), e)
	require.NoError(t, err)
	require.Equal(t, "5", latest.ID, "a newest run that failed is not hidden")
	before, err := c.PreviousRun(t.Context(), e, latest)
	require.NoError(t, err)
	require.Equal(t, "4", before.ID)
	before, err = c.PreviousRun(t.Context(), e, before)
	require.NoError(t, err)
	require.Equal(t, "2", before.ID)
	_, err = c.PreviousRun(t.Context(), e, before)
	require.EqualError(t, err, `"Support" has no completed run before run 2`)
	_, err = asking(t, func(r *http.Request) (*http.Response, error) { return respond(r, 200, `{"runs":[]}`), nil }).LatestRun(t.Context(), e)
	require.EqualError(t, err, "\"Support\" has no runs yet: start one with `assay run 7`")
}

func TestStartRun(t *testing.T) {
	t.Parallel()

	t.Run("says what is wanted, and no more", func(t *testing.T) {
		t.Parallel()
		var bodies []string
		c := asking(t, func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			bodies = append(bodies, r.Method+" "+r.URL.Path+" "+r.Header.Get("Idempotency-Key")+" "+string(body))
			return respond(r, 201, run("42", "running", "2026-01-02T00:00:00Z")), err
		})
		seed, size := int64(0), int64(10)
		r, err := c.StartRun(t.Context(), "7", client.Start{Seed: &seed, SampleSize: &size, BaselineRunID: "41"}, "k")
		require.NoError(t, err)
		require.Equal(t, "42", r.ID)
		_, err = c.StartRun(t.Context(), "7", client.Start{}, "l")
		require.NoError(t, err)
		require.Equal(t, []string{`POST /api/evaluations/7/runs k {"baselineRunId":"41","sampleSize":10,"seed":0}`, `POST /api/evaluations/7/runs l {}`}, bodies)
	})

	t.Run("is tried again with the same key, for a minute", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			var keys, said []string
			c := asking(t, func(r *http.Request) (*http.Response, error) {
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				switch len(keys) {
				case 1:
					return nil, errRefused
				case 2:
					return refuse(r, 503, "not_ready", "The service is not ready."), nil
				case 3:
					return refuse(r, 409, "idempotency_in_progress", "It is under way.", "Retry-After", "1"), nil
				}
				return respond(r, 201, run("42", "running", "2026-01-02T00:00:00Z")), nil
			})
			r, err := c.StartPatiently(t.Context(), "7", client.Start{}, "k", func(s string) { said = append(said, s) })
			require.NoError(t, err)
			require.Equal(t, "42", r.ID)
			require.Equal(t, []string{"k", "k", "k", "k"}, keys)
			require.Equal(t, []string{"no response from http://assay.test: connect: connection refused; retrying."}, said)

			began := time.Now()
			_, err = asking(t, func(*http.Request) (*http.Response, error) { return nil, errRefused }).StartPatiently(t.Context(), "7", client.Start{}, "k", func(string) {})
			require.ErrorIs(t, err, errRefused)
			require.InDelta(t, time.Minute, time.Since(began), float64(time.Second))
		})
	})

	t.Run("is not tried again when it is refused", func(t *testing.T) {
		t.Parallel()
		n := 0
		_, err := asking(t, func(r *http.Request) (*http.Response, error) {
			n++
			return refuse(r, 409, "evaluation_archived", "The evaluation is archived."), nil
		}).StartPatiently(t.Context(), "7", client.Start{}, "k", func(string) {})
		require.EqualError(t, err, "The evaluation is archived.")
		require.Equal(t, 1, n)
	})
}

// waited is what waiting for a run that ends after some time showed.
type waited struct {
	shown []client.Progress
	said  []string
	asked int
	took  time.Duration
	run   client.Run
	err   error
}

// wait waits in a bubble's time for a run that ends as it is said. The server's
// answers may be replaced.
func wait(t *testing.T, ends time.Duration, change func(*client.Wait), instead handler) waited {
	t.Helper()
	var got waited
	began := time.Now()
	c := asking(t, func(r *http.Request) (*http.Response, error) {
		got.asked++
		if instead != nil {
			if res, err := instead(r); res != nil || err != nil {
				return res, err
			}
		}
		status := "running"
		if time.Since(began) >= ends {
			status = "completed"
		}
		if strings.HasSuffix(r.URL.Path, "/progress") {
			return respond(r, 200, fmt.Sprintf(`{"run_id":"42","status":%q,"phase":"executing","items_total":10,"items_done":%d}`, status, got.asked)), nil
		}
		return respond(r, 200, run("42", status, "2026-01-02T00:00:00Z")), nil
	})
	w := client.Wait{
		Client: c, Evaluation: "7", Run: "42", Now: time.Now,
		Show: func(p client.Progress) { got.shown = append(got.shown, p) },
		Say:  func(s string) { got.said = append(got.said, s) },
	}
	if change != nil {
		change(&w)
	}
	got.run, got.err = w.Until(t.Context())
	got.took = time.Since(began)
	return got
}

func TestWait(t *testing.T) {
	t.Parallel()

	t.Run("until the run has ended", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			got := wait(t, 10*time.Second, nil, nil)
			require.NoError(t, got.err)
			require.Equal(t, "completed", got.run.Status)
			require.NotEmpty(t, got.run.Raw)
			require.Len(t, got.shown, 11)
			require.Empty(t, got.said)
		})
	})

	t.Run("asks less often in a long run", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			got := wait(t, time.Hour, nil, nil)
			require.NoError(t, got.err)
			require.InDelta(t, 300+660, got.asked, 10)
		})
	})

	t.Run("through a restart of the server, and whoever answers for it", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			began := time.Now()
			got := wait(t, 10*time.Minute, nil, func(r *http.Request) (*http.Response, error) {
				switch since := time.Since(began); {
				case since < 20*time.Second:
				case since < 60*time.Second:
					return nil, errRefused
				case since < 90*time.Second:
					return respond(r, 404, "default backend"), nil
				case since < 120*time.Second:
					return respond(r, 502, "<html>"), nil
				}
				return nil, nil
			})
			require.NoError(t, got.err)
			require.Equal(t, "completed", got.run.Status)
			require.Len(t, got.said, 2)
			require.Equal(t, "http://assay.test is reachable again.", got.said[1])
		})
	})

	t.Run("no longer than it may", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			limit := func(w *client.Wait) { w.Timeout = 90 * time.Second }
			got := wait(t, time.Hour, limit, nil)
			require.ErrorIs(t, got.err, client.ErrTimeout)
			require.Equal(t, 90*time.Second, got.took)
			got = wait(t, time.Hour, limit, func(*http.Request) (*http.Response, error) { return nil, errRefused })
			require.ErrorIs(t, got.err, client.ErrTimeout, "also while the server is away")
			require.Equal(t, 90*time.Second, got.took)
		})
	})

	t.Run("spares a key that is nearly spent", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			left := 60
			got := wait(t, 30*time.Minute, nil, func(r *http.Request) (*http.Response, error) {
				if left--; left < 0 {
					return nil, errors.New("more requests than the key has")
				}
				res := respond(r, 200, `{"run_id":"42","status":"running"}`)
				if time.Now().Minute() >= 30 {
					res = nil
				}
				if res != nil {
					res.Header.Set("RateLimit-Policy", `"hour";q=100;w=3600`)
					res.Header.Set("RateLimit", fmt.Sprintf(`"hour";r=%d;t=60`, left))
				}
				return res, nil
			})
			require.NoError(t, got.err)
			require.Contains(t, got.said[0], "of 100 requests per hour left: polling every")
		})
	})

	t.Run("waits as long as a limit says", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			n := 0
			got := wait(t, time.Minute, nil, func(r *http.Request) (*http.Response, error) {
				if n++; n == 1 {
					return refuse(r, 429, "rate_limit_exceeded", "Too many.", "Retry-After", "120"), nil
				}
				return nil, nil
			})
			require.NoError(t, got.err)
			require.Equal(t, 3, got.asked)
			require.Equal(t, []string{"The rate limit of this key is reached: retrying in 2m0s."}, got.said)
		})
	})

	t.Run("ends when it is refused, or interrupted", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			got := wait(t, time.Minute, nil, func(r *http.Request) (*http.Response, error) {
				return refuse(r, 401, "key_revoked", "The key was revoked."), nil
			})
			require.EqualError(t, got.err, "the key in SERVICE_API_KEY was rejected: The key was revoked.")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := client.Wait{Client: asking(t, func(*http.Request) (*http.Response, error) { return nil, context.Canceled }), Now: time.Now, Show: func(client.Progress) {}, Say: func(string) {}}.Until(ctx)
			require.ErrorIs(t, err, context.Canceled)
		})
	})
}

func TestCompare(t *testing.T) {
	t.Parallel()
	var asked string
	c := asking(t, func(r *http.Request) (*http.Response, error) {
		asked = r.URL.String()
		return respond(r, 200, `{"baseline_run_id":"41","candidate_run_id":"42","comparable":true,"pass_rate":{"name":"pass_rate"},"overall":{"name":"overall"},
			"metrics":[{"name":"exact_match","delta":0.5,"statistics":{"verdict":{"non_inferiority":"shown"},"new":1}}],"new":{}}`), nil
	})
	got, err := c.Compare(t.Context(), "7", "41", "42", 0.02)
	require.NoError(t, err)
	require.Equal(t, "http://assay.test/api/evaluations/7/runs/compare?baselineRunId=41&candidateRunId=42&margin=0.02", asked)
	all := got.Figures()
	require.Len(t, all, 3)
	require.Equal(t, "exact_match", all[2].Name)
	require.Equal(t, "shown", *all[2].Statistics.Verdict.NonInferiority)
	_, err = c.Compare(t.Context(), "7", "41", "42", 0)
	require.NoError(t, err)
	require.NotContains(t, asked, "margin")
}
