package client_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client"
)

// TestTailShowsEveryTraceOnce follows hours of random traffic, with late and
// long traces, an application's clock that is off, a wrong clock here, slow
// answers and outages.
func TestTailShowsEveryTraceOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) { randomTraffic(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func randomTraffic(t *testing.T, r *rand.Rand) {
	upTo := func(d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }
	began := time.Now()
	s := &server{latency: upTo(3 * time.Second)}
	for n := range 80 {
		// From half an hour before the tail until half an hour after its begin.
		visible := began.Add(-30*time.Minute + upTo(time.Hour))
		start := visible.Add(-upTo(time.Second))
		switch r.IntN(4) {
		case 0: // exported late, or by a machine whose clock is behind
			start = visible.Add(-upTo(30 * time.Minute))
		case 1: // by a machine whose clock is ahead
			start = visible.Add(upTo(5 * time.Minute))
		}
		ended := visible
		if r.IntN(3) == 0 {
			ended = visible.Add(upTo(80 * time.Minute))
		}
		s.traces = append(s.traces, wireTrace{id: id(n), start: start, visible: visible, ended: ended})
	}
	type outage struct{ from, to time.Time }
	var outages []outage
	for range r.IntN(4) {
		from := began.Add(upTo(time.Hour))
		outages = append(outages, outage{from, from.Add(upTo(40 * time.Minute))})
	}
	s.intercept = func(req *http.Request) (*http.Response, error) {
		now := time.Now()
		for i, o := range outages {
			if now.After(o.from) && now.Before(o.to) {
				if i%2 == 0 {
					return nil, errRefused
				}
				return refuse(req, http.StatusServiceUnavailable, "not_ready", "The service is not ready.", "Retry-After", "1"), nil
			}
		}
		return nil, nil //nolint:nilnil // the server answers
	}
	skew := upTo(6*time.Hour) - 3*time.Hour

	got := tail(t, s, 2*time.Hour, func(run *client.Tail) {
		run.Now = func() time.Time { return time.Now().Add(skew) }
	})

	require.NoError(t, got.err)
	for _, tr := range s.traces {
		statuses := got.of(tr.id)
		about := fmt.Sprintf("%s: visible %s, starts %s and ends %s after that", tr.id[28:], tr.visible.Sub(began), tr.start.Sub(tr.visible), tr.ended.Sub(tr.visible))
		switch ran := tr.ended.After(tr.visible); {
		case !tr.visible.After(began) && !tr.ended.After(began):
			// A clock that is ahead makes an old trace look new, so it may be shown.
			if tr.start.Before(began.Add(-2 * time.Second)) {
				require.Empty(t, statuses, about)
			}
		case !tr.visible.After(began):
			if tr.start.Before(began.Add(-2*time.Second)) && tr.start.After(began.Add(-30*time.Minute)) {
				require.Equal(t, []string{"completed"}, statuses, about)
			}
		case !ran:
			require.Equal(t, []string{"completed"}, statuses, about)
		default:
			require.Contains(t, [][]string{{"running", "completed"}, {"completed"}}, statuses, about)
		}
	}
	if len(outages) > 0 {
		require.NotEmpty(t, got.said)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()

	t.Run("a running trace is shown at once and again when it ends", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			now := time.Now()
			s := &server{traces: []wireTrace{{id: id(1), start: now.Add(5 * time.Second), visible: now.Add(6 * time.Second), ended: now.Add(20 * time.Second)}}}
			got := tail(t, s, time.Minute, nil)
			require.NoError(t, got.err)
			require.Equal(t, []string{"running", "completed"}, got.of(id(1)))
			require.LessOrEqual(t, got.at[0].Sub(now), 7*time.Second)
			require.LessOrEqual(t, got.at[1].Sub(now), 21*time.Second)
			require.Empty(t, got.said)
		})
	})

	t.Run("telemetry that waits is mentioned once, and so is its end", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			now := time.Now()
			s := &server{deferred: now.Add(5 * time.Second), drained: now.Add(30 * time.Second)}
			got := tail(t, s, time.Minute, nil)
			require.NoError(t, got.err)
			require.Equal(t, []string{
				"Telemetry that arrived since " + s.deferred.UTC().Format(time.TimeOnly) + " UTC may be missing: it is stored safely, and shown when ClickHouse takes it.",
				"Telemetry is readable again.",
			}, got.said)
		})
	})

	t.Run("a trace that runs for hours is still shown when it ends", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			now := time.Now()
			s := &server{}
			for n := range 12 { // more than are looked up at once
				s.traces = append(s.traces, wireTrace{id: id(n), start: now.Add(time.Second), visible: now.Add(2 * time.Second), ended: now.Add(90 * time.Minute)})
			}
			got := tail(t, s, 91*time.Minute, nil)
			for n := range 12 {
				require.Equal(t, []string{"running", "completed"}, got.of(id(n)))
			}
			require.Less(t, len(s.requests), int(91*time.Minute/time.Second)*16/10, "lookups cost a little beside the looks")
		})
	})

	t.Run("a trace that goes on after its end is not shown again", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			now := time.Now()
			s := &server{traces: []wireTrace{{
				id: id(1), start: now.Add(time.Second), visible: now.Add(2 * time.Second), ended: now.Add(5 * time.Second),
				reopened: now.Add(10 * time.Second), closed: now.Add(20 * time.Second),
			}}}
			require.Equal(t, []string{"running", "completed"}, tail(t, s, time.Minute, nil).of(id(1)))
		})
	})

	t.Run("what was there before is not shown unless it is asked for", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			now := time.Now()
			s := &server{}
			for n := range 60 {
				at := now.Add(-10*time.Second - time.Duration(n)*time.Minute)
				s.traces = append(s.traces, wireTrace{id: id(n), start: at.Add(-time.Second), visible: at, ended: at})
			}
			require.Empty(t, tail(t, s, time.Minute, nil).shown)

			got := tail(t, s, time.Minute, func(run *client.Tail) { run.Since = 10*time.Minute + 30*time.Second })
			require.Len(t, got.shown, 10, "the first tail took a minute")
			require.True(t, slices.IsSortedFunc(got.shown, func(a, b client.Trace) int { return a.Moment().Compare(b.Moment()) }), "oldest first")

			require.Len(t, tail(t, s, time.Minute, func(run *client.Tail) { run.Since = 2 * time.Hour }).shown, 60)
		})
	})

	t.Run("what arrives between the begin of the tail and its first answer is shown", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			now := time.Now()
			s := &server{latency: 3 * time.Second, traces: []wireTrace{{id: id(1), start: now.Add(-20 * time.Second), visible: now.Add(time.Second), ended: now.Add(time.Second)}}}
			require.Equal(t, []string{"completed"}, tail(t, s, time.Minute, nil).of(id(1)))
		})
	})

	t.Run("a burst of many pages is shown whole", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			now := time.Now()
			s := &server{}
			for n := range 4321 {
				at := now.Add(10*time.Second + time.Duration(n/2)*time.Microsecond) // pairs start together
				s.traces = append(s.traces, wireTrace{id: id(n), start: at, visible: at.Add(time.Second), ended: at.Add(time.Second)})
			}
			// One that is late, below all of them: only a sweep finds it.
			s.traces = append(s.traces, wireTrace{id: id(9999), start: now.Add(-20 * time.Minute), visible: now.Add(30 * time.Second), ended: now.Add(30 * time.Second)})
			got := tail(t, s, 2*time.Minute, nil)
			require.Len(t, got.shown, 4322)
			ids := map[string]bool{}
			for _, tr := range got.shown {
				ids[tr.ID] = true
			}
			require.Len(t, ids, 4322)
			require.Empty(t, got.said)
		})
	})

	t.Run("more than a sweep takes is said, and never shown as new later", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			now := time.Now()
			s := &server{}
			for n := range 30_500 {
				at := now.Add(-10*time.Second - time.Duration(n)*50*time.Millisecond)
				s.traces = append(s.traces, wireTrace{id: id(n), start: at.Add(-time.Second), visible: at, ended: at})
			}
			s.traces = append(s.traces, wireTrace{id: id(99_999), start: now.Add(20 * time.Second), visible: now.Add(20 * time.Second), ended: now.Add(20 * time.Second)})
			got := tail(t, s, 40*time.Second, nil)
			require.Equal(t, []string{"completed"}, got.of(id(99_999)))
			require.Len(t, got.shown, 1)
			require.Len(t, got.said, 1)
			require.Contains(t, got.said[0], "more traces than tail can read")
		})
	})

	t.Run("nothing is lost while this machine sleeps or the server is away for hours", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			now := time.Now()
			s := &server{}
			for n := range 100 {
				at := now.Add(10*time.Minute + time.Duration(n)*time.Minute)
				s.traces = append(s.traces, wireTrace{id: id(n), start: at.Add(-25 * time.Minute), visible: at, ended: at})
			}
			s.intercept = func(*http.Request) (*http.Response, error) {
				if at := time.Since(now); at > 5*time.Minute && at < 2*time.Hour {
					return nil, errRefused
				}
				return nil, nil //nolint:nilnil // the server answers
			}
			got := tail(t, s, 130*time.Minute, nil)
			require.Len(t, got.shown, 100)
			require.Equal(t, []string{
				"no response from http://assay.test: connect: connection refused; retrying. Press Ctrl-C to stop.",
				"http://assay.test is reachable again.",
			}, got.said)
		})
	})

	t.Run("the filter goes to the server", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			s := &server{}
			tail(t, s, 3*time.Second, func(run *client.Tail) {
				run.Filter = client.Query{Status: "failed", Search: "a b&c", UserID: "u/1", Environment: "production", AgentName: "support", HasError: true}
			})
			for _, q := range s.queries {
				for _, want := range []string{"status=failed", "search=a+b%26c", "userId=u%2F1", "environment=production", "agentName=support", "hasError=true", "startAfter="} {
					require.Contains(t, q, want)
				}
			}
		})
	})

	t.Run("a clock that is set while the tail runs loses nothing", func(t *testing.T) {
		t.Parallel()
		for _, step := range []time.Duration{-2 * time.Hour, 20 * time.Minute, 2 * time.Hour} {
			bubble(t, func(t *testing.T) {
				now := time.Now()
				s := &server{}
				for n := range 110 { // more than a look reads, so that only sweeps find what is late
					at := now.Add(-time.Duration(n) * time.Second)
					s.traces = append(s.traces, wireTrace{id: id(1000 + n), start: at.Add(-time.Second), visible: at.Add(-time.Second), ended: at.Add(-time.Second)})
				}
				for n := range 30 {
					at := now.Add(time.Duration(n) * 10 * time.Second)
					s.traces = append(s.traces, wireTrace{id: id(n), start: at.Add(-29 * time.Minute), visible: at.Add(time.Second), ended: at.Add(time.Second)})
				}
				got := tail(t, s, 6*time.Minute, func(run *client.Tail) {
					run.Now = func() time.Time {
						if at := time.Now(); at.Sub(now) > 150*time.Second {
							return at.Add(step)
						}
						return time.Now()
					}
				})
				require.Len(t, got.shown, 30)
			})
		}
	})
}

func TestTailEndsWhenWaitingDoesNotHelp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(*http.Request) *http.Response
		want   string
	}{
		"a key that is unknown": {
			func(r *http.Request) *http.Response { return refuse(r, 401, "key_unknown", "There is no such key.") },
			"the key in SERVICE_API_KEY was rejected: There is no such key.",
		},
		"a key without the scope": {
			func(r *http.Request) *http.Response { return refuse(r, 401, "insufficient_scope", "No.") },
			"the key in SERVICE_API_KEY lacks the scope traces:read: use a key that has it",
		},
		"a suspended organization": {
			func(r *http.Request) *http.Response {
				return refuse(r, 403, "organization_suspended", "The organization is suspended.")
			},
			"The organization is suspended.",
		},
		"a filter that is not valid": {
			func(r *http.Request) *http.Response {
				return refuse(r, 400, "invalid_request", "The request is not valid.")
			},
			"The request is not valid.",
		},
		"an address that is no Assay's": {
			func(r *http.Request) *http.Response { return respond(r, 200, "<html>") },
			"check the URL",
		},
		"a page that is not there": {
			func(r *http.Request) *http.Response { return respond(r, 404, "not found") },
			"http://assay.test/api/traces returned 404 Not Found, which is not an Assay response: check the URL",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				s := &server{intercept: func(r *http.Request) (*http.Response, error) { return c.answer(r), nil }}
				got := tail(t, s, time.Hour, nil)
				require.ErrorContains(t, got.err, c.want)
				require.Len(t, s.requests, 1)
			})
		})
	}

	t.Run("a writer that is gone", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			gone := errors.New("broken pipe")
			now := time.Now()
			s := &server{traces: []wireTrace{{id: id(1), start: now, visible: now.Add(3 * time.Second), ended: now.Add(3 * time.Second)}}}
			got := tail(t, s, time.Hour, func(run *client.Tail) { run.Show = func(client.Trace) error { return gone } })
			require.Equal(t, gone, got.err)
		})
	})
}

func TestTailWaitsAsItIsTold(t *testing.T) {
	t.Parallel()

	t.Run("429", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			now := time.Now()
			s := &server{}
			s.intercept = func(r *http.Request) (*http.Response, error) {
				if at := time.Since(now); at > 10*time.Second && at < 300*time.Second {
					return refuse(r, http.StatusTooManyRequests, "rate_limit_exceeded", "Too many.", "Retry-After", "290"), nil
				}
				return nil, nil //nolint:nilnil // the server answers
			}
			got := tail(t, s, 5*time.Minute+10*time.Second, nil)
			require.NoError(t, got.err)
			require.Equal(t, []string{"The rate limit of this key is reached: retrying in 4m50s."}, got.said)
			refused := slices.IndexFunc(s.requests, func(at time.Time) bool { return at.Sub(now) > 10*time.Second })
			require.Equal(t, 290*time.Second, s.requests[refused+1].Sub(s.requests[refused]))
		})
	})

	t.Run("503, a cut answer and an answer that is no JSON are tried again, ever more slowly", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			now := time.Now()
			s := &server{}
			s.intercept = func(r *http.Request) (*http.Response, error) {
				switch at := time.Since(now); {
				case at < 5*time.Second || at > 10*time.Minute:
					return nil, nil //nolint:nilnil // the server answers
				case at < 7*time.Second:
					return respond(r, 200, `{"traces":[{"id`), nil
				case at < time.Minute:
					return respond(r, 502, `<html>`), nil
				}
				return refuse(r, 503, "not_ready", "The service is not ready.", "Retry-After", "45"), nil
			}
			got := tail(t, s, 11*time.Minute, nil)
			require.NoError(t, got.err)
			require.Len(t, got.said, 2)
			require.Contains(t, got.said[0], "not an Assay response")
			require.Contains(t, got.said[1], "is reachable again")
			var gaps []string
			for i := range s.requests[1:] {
				if d := s.requests[i+1].Sub(s.requests[i]); d > time.Second && (len(gaps) == 0 || gaps[len(gaps)-1] != d.String()) {
					gaps = append(gaps, d.String())
				}
			}
			require.Equal(t, "2s 4s 8s 16s 30s 45s", strings.Join(gaps, " "))
		})
	})

	t.Run("a server that does not answer", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			s := &server{latency: time.Hour}
			got := tail(t, s, 5*time.Minute, nil)
			require.NoError(t, got.err)
			require.Equal(t, []string{"no response from http://assay.test within 30s; retrying. Press Ctrl-C to stop."}, got.said)
		})
	})

	// A key with few requests is spread so that the tail never spends it whole.
	for _, limit := range []int{100, 1000} {
		t.Run(fmt.Sprint("a key with ", limit, " requests an hour"), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				now := time.Now()
				s := &server{header: http.Header{}}
				for n := range 170 {
					at := now.Add(time.Duration(n) * time.Minute)
					s.traces = append(s.traces, wireTrace{id: id(n), start: at, visible: at.Add(time.Second), ended: at.Add(time.Second)})
				}
				least := limit
				s.intercept = func(r *http.Request) (*http.Response, error) {
					used := 0
					for _, at := range s.requests {
						if time.Since(at) < time.Hour {
							used++
						}
					}
					if used > limit {
						return refuse(r, http.StatusTooManyRequests, "rate_limit_exceeded", "Too many.", "Retry-After", "60"), nil
					}
					least = min(least, limit-used)
					s.header["Ratelimit-Policy"] = []string{fmt.Sprintf(`"hour";q=%d;w=3600`, limit)}
					s.header["Ratelimit"] = []string{fmt.Sprintf(`"hour";r=%d;t=1`, limit-used)}
					return nil, nil //nolint:nilnil // the server answers
				}
				got := tail(t, s, 3*time.Hour, nil)
				require.NoError(t, got.err)
				require.Len(t, got.shown, 170)
				require.Greater(t, least, limit/10, "something is left for others")
				require.NotEmpty(t, got.said)
				require.LessOrEqual(t, len(got.said), 40)
				for _, text := range got.said {
					require.Contains(t, text, "requests per hour left: polling every ")
				}
			})
		})
	}
}

func TestTailEndsWithItsContext(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		s := &server{latency: 10 * time.Second}
		began := time.Now()
		got := tail(t, s, 15*time.Second, nil) // in the middle of a request
		require.NoError(t, got.err)
		require.Empty(t, got.said)
		require.Equal(t, 15*time.Second, time.Since(began))
	})
}
