package evaluation_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// event is one of a stream.
type event struct {
	name string
	testkit.Progress
}

// stream opens the events of a run. The channel is closed when the stream ends.
func stream(ctx context.Context, t *testing.T, k *testkit.Kit, c *testkit.Client, r testkit.Run) <-chan event {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.URL+"/api/evaluations/"+r.EvaluationID+"/runs/"+r.RunID+"/events", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+c.Key.Reveal())
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	events := make(chan event, 100)
	go func() {
		defer close(events)
		defer func() { _ = res.Body.Close() }()
		var one event
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				one = event{name: name}
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(data), &one.Progress) == nil {
				events <- one
			}
		}
	}()
	return events
}

func TestARunCanBeWatched(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t) // a stream ends with its request
	c := k.Org(t)
	e, items := clientEvaluation(t, c, 10, nil)
	r, err := c.StartRun(t.Context(), e.ID, nil)
	require.NoError(t, err)
	events := stream(t.Context(), t, k, c, r)
	first := <-events
	require.Equal(t, "progress", first.name)
	require.Equal(t, "running", first.Status)
	require.Zero(t, first.ItemsDone)

	send := func(from, to int, final bool) {
		t.Helper()
		var all []map[string]any
		for _, item := range items[from:to] {
			all = append(all, map[string]any{"testCaseId": item.ID, "output": item.ExpectedOutput})
		}
		require.Eventually(t, func() bool { return c.PutResults(t.Context(), e.ID, r.RunID, all, final) == nil }, 10*time.Minute, 50*time.Millisecond)
	}
	send(0, 4, false)
	for one := range events {
		if one.ItemsDone == 4 {
			break
		}
	}
	send(4, 10, true)
	var last event
	for one := range events {
		last = one
	}
	require.Equal(t, "done", last.name, "and then the stream ends")
	require.Equal(t, "completed", last.Status)
	require.EqualValues(t, 10, last.ItemsDone)

	var names []string
	for one := range stream(t.Context(), t, k, c, r) {
		names = append(names, one.name)
	}
	require.Equal(t, []string{"progress", "done"}, names, "of a run that has ended")

	stranger := k.Org(t)
	res, err := stranger.Send(t.Context(), http.MethodGet, "/api/evaluations/"+e.ID+"/runs/"+r.RunID+"/events", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, res.Status)
}
