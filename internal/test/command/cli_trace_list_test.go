package command_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestTracesBecomeItemsOfADataset(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c := k.Org(t)
	do := func(want int, args ...string) result {
		t.Helper()
		got := run([]string{"COLUMNS=80", "ASSAY_URL=" + k.URL, "ASSAY_API_KEY=" + c.Key.Reveal()}, args...)
		require.Equal(t, want, got.Code, got.Err)
		return got
	}
	require.Contains(t, do(0, "traces", "list").Out, "There is no trace yet.")
	do(0, "dataset", "create", "Questions")
	asked, err := c.CreateTrace(t.Context(), map[string]any{"name": "ask", "status": "completed", "input": "Where?", "output": "There."})
	require.NoError(t, err)
	silent, err := c.CreateTrace(t.Context(), map[string]any{"name": "say nothing", "status": "completed"})
	require.NoError(t, err)

	list := do(0, "traces", "list").Out
	require.Regexp(t, `(?m)^`+asked.ID+` +completed .* ask$`, list)
	require.Regexp(t, `(?m)^`+silent.ID+` +completed .* say nothing$`, list)
	require.NotContains(t, do(0, "traces", "list", "--search=where", "--since=1h", "--status=completed").Out, silent.ID)
	require.Equal(t, "No trace matches.\n", do(0, "traces", "list", "--status=failed").Out)
	var found struct{ Traces []struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(do(0, "traces", "list", "--limit=1", "--search=where", "--json").Out), &found))
	require.Equal(t, asked.ID, found.Traces[0].ID)
	require.Contains(t, do(2, "traces", "list", "--since=-1m").Err, "--since must not be negative")
	require.Contains(t, do(2, "traces", "list", "--limit=0").Err, "--limit is 0")

	require.Equal(t, "1 item added to Questions\ntrace "+silent.ID+" is skipped: it has no input\n", do(0, "traces", "to-dataset", "questions", asked.ID, silent.ID).Out)
	require.Regexp(t, "^0 items added to Questions\ntrace "+asked.ID+` is skipped: item \d+ has the same content\n$`, do(0, "traces", "to-dataset", "Questions", asked.ID).Out)
	require.Equal(t, "1 item added to Questions\n", do(0, "traces", "to-dataset", "Questions", asked.ID, "--without-output").Out)
	require.Equal(t, "0 items added to Questions\n", strings.Join(strings.SplitAfter(do(0, "traces", "to-dataset", "Questions", "--search=where", "--status=completed").Out, "\n")[:1], ""))
	require.Contains(t, do(2, "traces", "to-dataset", "Questions", "--status=failed", "--without-output").Err, "no trace of this period matches")
	for args, want := range map[string]string{
		asked.ID + " --errors":      "either by ID or by flags",
		asked.ID + " --since=1h":    "either by ID or by flags",
		"":                          "no trace is named",
		"--errors":                  "add --without-output",
		"--search=where --limit=-1": "--limit is -1",
	} {
		require.Contains(t, do(2, append([]string{"traces", "to-dataset", "Questions"}, strings.Fields(args)...)...).Err, want)
	}
	spans, err := c.AddSpans(t.Context(), asked.ID, []map[string]any{{"name": "model", "startTime": time.Now().UTC().Format(time.RFC3339Nano), "durationMs": 5, "input": "Prompt", "output": "Text"}})
	require.NoError(t, err)
	require.Equal(t, "1 item added to Questions\n", do(0, "traces", "to-dataset", "Questions", asked.ID+"/"+spans.Spans[0].ID).Out)
	items := do(0, "dataset", "export", "Questions", "--format=csv").Out
	require.Contains(t, items, "Where?,There.")
	require.Contains(t, do(2, "traces", "to-dataset", "Answers", asked.ID).Err, "Answers")
}

func TestAnEvaluationHasMetricsOfItsOwn(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c := k.Org(t)
	do := func(args ...string) string {
		t.Helper()
		got := run([]string{"COLUMNS=80", "ASSAY_URL=" + k.URL, "ASSAY_API_KEY=" + c.Key.Reveal()}, args...)
		require.Zero(t, got.Code, got.Err)
		return got.Out
	}
	do("dataset", "create", "Questions")
	require.Contains(t, do("evaluation", "create", "Answers", "--dataset=Questions", "--metric=exact_match", "--external-metric=calm"), "metrics  exact_match, calm\n")
	require.Contains(t, do("evaluation", "create", "Scored", "--dataset=Questions", "--metric=exact_match", "--external-metric=tone=https://scores.example.com/tone", "--json"), `"url": "https://scores.example.com/tone"`)
}
