package command_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/testkit"
)

// evaluations is a server with one evaluation, "Support answers" with the id 7.
// Its routes answer with the texts given, one after the other and the last one
// for ever.
type evaluations struct {
	mu     sync.Mutex
	routes map[string][]string
	asked  []string
}

func (s *evaluations) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	route := r.Method + " " + r.URL.Path
	answers := s.routes[route]
	if route == "POST "+run42+"/decisions" && answers == nil {
		answers = []string{s.decide(body)}
	}
	w.Header().Set("Content-Type", "application/json")
	if len(answers) == 0 {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"code":"NOT_FOUND","message":"There is no such run of this evaluation.","details":{"reason":"run_not_found"},"requestId":"1"}}`)
		return
	}
	if len(answers) > 1 {
		s.routes[route] = answers[1:]
	}
	status := http.StatusOK
	if r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/cancel") {
		status = http.StatusCreated
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answers[0])
}

// serve starts the server with more routes, and returns the environment of a
// command that asks it.
func (s *evaluations) serve(t *testing.T, routes map[string][]string) []string {
	t.Helper()
	s.routes = map[string][]string{
		"GET /api/evaluations/7": {`{"id":"7","name":"Support answers","status":"completed"}`},
		"GET /api/evaluations":   {`{"evaluations":[{"id":"7","name":"Support answers","status":"completed"}],"has_more":false}`},
	}
	for route, answers := range routes {
		s.routes[route] = answers
	}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return []string{userKey, "ASSAY_URL=" + srv.URL}
}

// estimate is one on the wire.
func estimate(value, lower, upper float64, n int) string {
	return fmt.Sprintf(`{"value":%g,"se":%g,"ci":{"lower":%g,"upper":%g,"level":0.95,"kind":"confidence","method":"wilson"},"n":%d,"status":"ok"}`, value, (upper-lower)/4, lower, upper, n)
}

// wireRun is a run on the wire; rest holds more fields.
func wireRun(id, status, rest string) string {
	return fmt.Sprintf(`{"id":%q,"evaluation_id":"7","status":%q,"phase":"done","started_at":"2026-01-31T12:00:0%s.000Z","completed_at":"2026-01-31T12:00:09.500Z",
		"items":100,"passed":90,"failed":10,"errored":1,"skipped":0,"dataset_version":3,"seed":5,"repetitions":1,"cost_usd":0.25,"baseline_run_id":null%s}`, id, status, id[len(id)-1:], rest)
}

const resolution = `"resolution":{"mde80":0.08,"items_for":[],"sentence":"This run can resolve differences of 8 points or more."}`

func statistics() string {
	return `,"statistics":{"overall":` + estimate(0.91, 0.87, 0.95, 99) + `,"pass_rate":` + estimate(0.9, 0.83, 0.945, 100) +
		`,"metrics":{"exact_match":` + estimate(0.7, 0.6, 0.78, 99) + `,"latency_ms":` + estimate(512, 490, 534, 99) + `},` + resolution + `}`
}

func progress(status string, done int) string {
	return fmt.Sprintf(`{"run_id":"42","status":%q,"phase":"executing","items_total":100,"items_done":%d,"passed":%d,"failed":1,"errored":0,"percent":%d,"cost_usd":0.1,
		"started_at":"2026-01-31T12:00:00.000Z","updated_at":"2026-01-31T12:00:05.000Z","eta_seconds":5,"estimate":%s,
		"recent":[{"at":"2026-01-31T12:00:03Z","level":"warning","message":"the target is slow\u001b[2J"},{"at":"2026-01-31T12:00:03Z","level":"info","message":"began"}]}`,
		status, done, done-1, done, estimate(0.9, 0.8, 0.95, done))
}

const (
	runs   = "/api/evaluations/7/runs"
	run42  = runs + "/42"
	header = "Run 42 of \"Support answers\". The interval stays valid as you watch.\n"
)

func TestRunCommand(t *testing.T) {
	t.Parallel()
	started := map[string][]string{
		"POST " + runs:               {wireRun("42", "running", "")},
		"GET " + run42 + "/progress": {progress("running", 50), progress("completed", 100)},
		"GET " + run42:               {wireRun("42", "completed", statistics())},
		"GET " + runs:                {`{"runs":[` + wireRun("42", "completed", "") + "," + wireRun("41", "completed", "") + `]}`},
	}

	t.Run("starts", func(t *testing.T) {
		t.Parallel()
		s := &evaluations{}
		env := s.serve(t, map[string][]string{"POST " + runs: {wireRun("42", "running", "")}})
		got := run(env, "run", "support ANSWERS", "--baseline=previous", "--sample=10", "--seed=0", "--repetitions=2", "--concurrency=3", "--budget=1.5", "--dataset-version=4")
		require.Zero(t, got.Code, got.Err)
		require.Contains(t, got.Out, "▸ running  Support answers · run 42\n")
		require.Contains(t, got.Out, "assay runs attach 7 42\n")
		require.Equal(t, "POST "+runs+` {"baseline":"previous","budgetUsd":1.5,"concurrency":3,"datasetVersion":4,"repetitions":2,"sampleSize":10,"seed":0}`, s.asked[len(s.asked)-1])

		got = run(env, "run", "7", "--json")
		require.Zero(t, got.Code, got.Err)
		require.JSONEq(t, wireRun("42", "running", ""), got.Out)
	})

	t.Run("resumes", func(t *testing.T) {
		t.Parallel()
		s := &evaluations{}
		env := s.serve(t, started)
		got := run(env, "run", "7", "--resume=latest", "--concurrency=3", "--budget=2")
		require.Zero(t, got.Code, got.Err)
		require.Equal(t, "POST "+runs+` {"budgetUsd":2,"concurrency":3,"resumeRunId":"42"}`, s.asked[len(s.asked)-1])
		for args, want := range map[string]string{
			"--resume=previous":        "--resume=previous names no run: use a run ID, or latest",
			"--resume=42 --sample=3":   "only --concurrency and --budget can be changed",
			"--resume=42 --baseline=4": "only --concurrency and --budget can be changed",
		} {
			got := run(env, append([]string{"run", "7"}, strings.Fields(args)...)...)
			require.Equal(t, 2, got.Code, args)
			require.Contains(t, got.Err, want)
		}
	})

	t.Run("says how to go on with a run that stopped", func(t *testing.T) {
		t.Parallel()
		stopped := wireRun("42", "failed", `,"config_digest":"sha256:1","error":{"code":"target_unreachable","message":"It is down."}`)
		got := run((&evaluations{}).serve(t, map[string][]string{"GET " + run42: {stopped}}), "runs", "show", "7", "42")
		require.Contains(t, got.Out, "assay run 7 --resume 42 --wait\n")
	})

	t.Run("waits, and says how it ended", func(t *testing.T) {
		t.Parallel()
		got := run((&evaluations{}).serve(t, started), "run", "7", "--wait")
		require.Zero(t, got.Code, got.Err)
		require.Equal(t, header+
			" 50%  50/100  49 passed, 1 failed  90.0% [80.0%, 95.0%] of the first 50  5s left  $0.1000\n"+
			"warning: the target is slow␛[2J\n"+
			"100%  100/100  99 passed, 1 failed  90.0% [80.0%, 95.0%]  completed after 5.00s  $0.1000\n", got.Err)
		for _, want := range []string{
			"✓ completed  Support answers · run 42\n", "100 items · 90 passed · 10 failed (1 without a score) · took 7.50s · cost $0.2500 · dataset version 3 · seed 5\n",
			"METRIC        MEAN  95% INTERVAL      N  STATUS\npass_rate    90.0%  [83.0%, 94.5%]  100  ok\n", "latency_ms   512.0  [490.0, 534.0]   99  ok\n",
			"This run can resolve differences of 8 points or more.\n", "the target is slow␛[2J\n", "assay compare 7 41 42\n",
		} {
			require.Contains(t, got.Out, want)
		}
		require.NotContains(t, got.Out, "\x1b")
	})

	t.Run("prints JSON on standard output and nothing else", func(t *testing.T) {
		t.Parallel()
		got := run((&evaluations{}).serve(t, map[string][]string{
			"POST " + runs:               {wireRun("42", "running", "")},
			"GET " + run42 + "/progress": {progress("completed", 100)},
			"GET " + run42:               {wireRun("42", "completed", statistics()+`,"note":"##[error]x"`)},
		}), "run", "7", "--wait", "--json")
		require.Zero(t, got.Code, got.Err)
		require.JSONEq(t, wireRun("42", "completed", statistics()+`,"note":"##[error]x"`), got.Out)
		require.NotContains(t, got.Out, "##[")
	})

	for status, rest := range map[string]string{"failed": `,"error":{"code":"budget_exceeded","message":"The run has cost $1.50."}`, "cancelled": ""} {
		t.Run("a run that "+status+" is 1", func(t *testing.T) {
			t.Parallel()
			got := run((&evaluations{}).serve(t, map[string][]string{
				"POST " + runs:               {wireRun("42", "running", "")},
				"GET " + run42 + "/progress": {progress(status, 100)},
				"GET " + run42:               {wireRun("42", status, rest)},
			}), "run", "7", "--wait")
			require.Equal(t, 1, got.Code)
			require.Contains(t, got.Out, status)
			if rest != "" {
				require.Contains(t, got.Out, "budget_exceeded: The run has cost $1.50.")
			}
			require.NotContains(t, got.Err, "assay:")
		})
	}

	t.Run("what nobody knows is 3", func(t *testing.T) {
		t.Parallel()
		env := (&evaluations{}).serve(t, map[string][]string{"POST " + runs: {wireRun("42", "running", "")}, "GET " + run42 + "/progress": {progress("running", 50)}})
		got := run(env, "run", "7", "--wait", "--timeout=100ms")
		require.Equal(t, 3, got.Code)
		require.Regexp(t, `assay: run 42 did not end within 100ms and is still in progress: .assay runs attach 7 42. follows it, .assay runs cancel 7 42. cancels it\n$`, got.Err)
		require.Equal(t, 2, run(env, "run", "nothing").Code)
		got = run(nil, "run", "7")
		require.Equal(t, 2, got.Code)
		require.Contains(t, got.Err, "there is no API key for ")
	})

	t.Run("a command line that is wrong is 2", func(t *testing.T) {
		t.Parallel()
		for _, args := range [][]string{
			{"run"}, {"run", "7", "--baseline=mine"}, {"run", "7", "--sample=-1"}, {"run", "7", "--seed=-1"}, {"run", "7", "--budget=-1"}, {"run", "7", "--budget=NaN"}, {"run", "7", "--timeout=-1s"},
		} {
			require.Equal(t, 2, run([]string{userKey}, args...).Code, args)
		}
	})
}

// recorded makes an evaluation whose items have outputs, of which every n-th is
// wrong; outputs may be changed afterwards.
func recorded(t *testing.T, c *testkit.Client, items int) testkit.Evaluation {
	t.Helper()
	d := c.Dataset(t, testkit.NewDataset{})
	all := make([]testkit.Item, items)
	for i := range all {
		answer := fmt.Sprintf("answer %d", i)
		all[i] = testkit.Item{Input: fmt.Sprintf("question %d", i), ExpectedOutput: answer, Output: answer}
		if i%10 == 0 {
			all[i].Output = "something else"
		}
	}
	_, err := c.AddItems(t.Context(), d.ID, all)
	require.NoError(t, err)
	return c.Evaluation(t, d.ID, map[string]any{"name": "Support answers", "metrics": []string{"exact_match", "similarity"}})
}

func TestARunIsStartedOnce(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c := k.Org(t)
	e := recorded(t, c, 10)
	env := []string{"SERVICE_API_KEY=" + c.Key.Reveal(), "ASSAY_URL=" + k.URL}
	first, err := c.StartRun(t.Context(), e.ID, nil)
	require.NoError(t, err)
	job := []string{"run", e.ID, "--json", "--baseline=latest", "--idempotency-key=job-7-attempt-1"}

	once := run(env, job...)
	again := run(env, job...)

	require.Zero(t, once.Code, once.Err)
	require.Zero(t, again.Code, again.Err)
	require.Equal(t, once.Out, again.Out, "the newest run is another by now, and the request the same")
	var r testkit.Run
	require.NoError(t, json.Unmarshal([]byte(again.Out), &r))
	require.Equal(t, first.RunID, api.Value(r.BaselineRunID))
	all, err := c.ListEvaluationRuns(t.Context(), e.ID, "")
	require.NoError(t, err)
	require.Len(t, all.Runs, 2)
}

func TestRunCompareAndGateOnARealServer(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	e := recorded(t, c, 200)
	env := []string{"SERVICE_API_KEY=" + c.Key.Reveal(), "ASSAY_URL=" + k.URL, "COLUMNS=80"}

	first := run(env, "run", "support answers", "--wait", "--seed=1", "--json")
	require.Zero(t, first.Code, first.Err)
	var r testkit.Run
	require.NoError(t, json.Unmarshal([]byte(first.Out), &r))
	require.Equal(t, "completed", r.Status)

	second := run(env, "run", e.ID, "--wait", "--baseline=latest", "--seed=2")
	require.Zero(t, second.Code, second.Err)
	require.Contains(t, second.Err, "100%  200/200  180 passed, 20 failed  90.0%")
	require.Contains(t, second.Out, "200 items · 180 passed · 20 failed")
	require.Regexp(t, `pass_rate +90\.0%  \[8\d\.\d%, 9\d\.\d%\]  200  ok`, second.Out)
	require.Contains(t, second.Out, "run "+r.RunID+" → run ", "a baseline is compared with")

	compared := run(env, "compare", e.ID, "previous", "latest", "--margin=0.05")
	require.Zero(t, compared.Code, compared.Err)
	require.Regexp(t, `overall +0\.9\d+ +0\.9\d+ +0\.0+ .*= (unchanged|no worse)`, compared.Out)
	require.Contains(t, compared.Out, "0 items better · 0 worse · 200 unchanged")

	pass := run(env, "gate", "Support answers", "--require", "pass_rate>=0.8", "--require", "exact_match>=80%", "--require", "overall:non_inferior", "--margin=0.05", "--baseline=previous")
	require.Zero(t, pass.Code, pass.Out+pass.Err)
	require.Contains(t, pass.Out, "✓ PASS: 3 requirements met.")
	fail := run(env, "gate", e.ID, "--require", "pass_rate>=0.99")
	require.Equal(t, 1, fail.Code, fail.Out)
	open := run(env, "gate", e.ID, "--run", "new", "--require", "pass_rate>=0.89")
	require.Equal(t, 3, open.Code, open.Out+open.Err)
	require.Regexp(t, `With\s+200\s+items,\s+four\s+of\s+five\s+runs\s+decide\s+it\s+if\s+the\s+true\s+value\s+is\s+at\s+least\s+\d\.\d%`, open.Out)

	all, err := c.ListEvaluationRuns(t.Context(), e.ID, "")
	require.NoError(t, err)
	require.Len(t, all.Runs, 3, "--run=new starts one")
}
