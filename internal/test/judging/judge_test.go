package judging_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestAJudgeIsCreatedTriedAndListed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	us := testkit.Shared(t).Org(t)
	c, err := us.CreateJudgeConfig(ctx, map[string]any{"key": "helpful", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	require.Equal(t, "helpful", c.Key)
	require.Equal(t, "Helpfulness", c.Name)
	require.EqualValues(t, 1, c.ConfigVersion)
	require.Equal(t, "active", c.Status)

	good, err := us.EvaluateWithJudge(ctx, map[string]any{"configId": c.ID, "input": "How do I pay?", "output": "By card. [[score:1]]"})
	require.NoError(t, err)
	require.Equal(t, "completed", good.Status, good.Error)
	require.InDelta(t, 1.0, *good.Score, 1e-12)
	require.Equal(t, "pass", *good.Label)
	require.True(t, *good.Passed)
	bad, err := us.EvaluateWithJudge(ctx, map[string]any{"configId": c.ID, "input": "How do I pay?", "output": "Perhaps. [[score:0]]"})
	require.NoError(t, err)
	require.False(t, *bad.Passed)
	unsure, err := us.EvaluateWithJudge(ctx, map[string]any{"configId": c.ID, "input": "How do I pay?", "output": "[[abstain:yes]]"})
	require.NoError(t, err)
	require.Equal(t, "abstained", unsure.Status)
	require.Nil(t, unsure.Score)
	empty, err := us.EvaluateWithJudge(ctx, map[string]any{"configId": c.ID, "input": "How do I pay?", "output": "  "})
	require.NoError(t, err)
	require.Equal(t, "failed", empty.Status)
	require.Equal(t, "no_output", empty.Error.Code)
	require.Nil(t, empty.Model, "nothing was asked, and nothing is charged")

	all, err := us.ListJudgeResults(ctx, "configId="+c.ID)
	require.NoError(t, err)
	require.Equal(t, []testkit.JudgeResult{empty, unsure, bad, good}, all.Results)
	for query, want := range map[string][]testkit.JudgeResult{
		"passed=true": {good}, "passed=false": {bad}, "status=abstained": {unsure}, "minScore=0.5": {good}, "maxScore=0.5": {bad},
		"configId=4711": {}, "configVersion=2": {}, "limit=1&offset=1": {unsure}, "evaluationRunId=1": {},
	} {
		got, err := us.ListJudgeResults(ctx, query)
		require.NoError(t, err)
		require.Equal(t, want, got.Results, query)
	}
}

func TestAChangeThatCanChangeAVerdictMakesAVersion(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	us := testkit.Shared(t).Org(t)
	c, err := us.CreateJudgeConfig(ctx, map[string]any{"key": "tone", "provider": "simulated", "model": "judge", "promptTemplate": "Rate the tone of {{output}}.", "scale": map[string]any{"type": "likert"}})
	require.NoError(t, err)

	same, err := us.UpdateJudgeConfig(ctx, c.ID, map[string]any{"name": "Tone of voice", "model": "judge"})
	require.NoError(t, err)
	require.EqualValues(t, 1, same.ConfigVersion)
	require.Equal(t, c.Digest, same.Digest)
	next, err := us.UpdateJudgeConfig(ctx, c.ID, map[string]any{"repeats": 3})
	require.NoError(t, err)
	require.EqualValues(t, 2, next.ConfigVersion)

	r, err := us.EvaluateWithJudge(ctx, map[string]any{"configId": c.ID, "input": "Hello", "output": "Hi! [[score:0.5]]"})
	require.NoError(t, err)
	require.EqualValues(t, 2, r.ConfigVersion)
	require.InDelta(t, 3.0, *r.RawScore, 1e-12)
	require.EqualValues(t, 3, r.Opinions)
	require.InDelta(t, 1.0, *r.Agreement, 1e-12)

	retired, err := us.UpdateJudgeConfig(ctx, c.ID, map[string]any{"status": "retired"})
	require.NoError(t, err)
	require.Equal(t, "retired", retired.Status)
	_, err = us.EvaluateWithJudge(ctx, map[string]any{"configId": c.ID, "input": "Hello", "output": "Hi!"})
	require.ErrorIs(t, err, judge.ErrRetired)
	_, err = us.UpdateJudgeConfig(ctx, c.ID, map[string]any{"repeats": 5})
	require.ErrorIs(t, err, judge.ErrRetired)
	_, err = us.UpdateJudgeConfig(ctx, c.ID, map[string]any{"status": "draft"})
	require.ErrorIs(t, err, judge.ErrTransition)
}

func TestAJudgeThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	us := testkit.Shared(t).Org(t)
	_, err := us.CreateJudgeConfig(ctx, map[string]any{"key": "one", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	_, err = us.CreateJudgeConfig(ctx, map[string]any{"key": "one", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.ErrorIs(t, err, judge.ErrKeyTaken)
	for name, c := range map[string]struct {
		body map[string]any
		at   string
	}{
		"no template":         {map[string]any{}, "/promptTemplate"},
		"unknown placeholder": {map[string]any{"promptTemplate": "Rate {{answer}}."}, "/promptTemplate"},
		"unknown starter":     {map[string]any{"starter": "charm"}, "/starter"},
		"empty scale":         {map[string]any{"promptTemplate": "x", "scale": map[string]any{"type": "likert", "min": 5, "max": 5}}, "/scale/max"},
		"labels of a number":  {map[string]any{"promptTemplate": "x", "scale": map[string]any{"type": "numeric", "labels": []any{map[string]any{"name": "a", "score": 1}}}}, "/scale/labels"},
		"own schema":          {map[string]any{"promptTemplate": "x", "params": map[string]any{"response_schema": map[string]any{}}}, "/params/response_schema"},
		"anchor off scale":    {map[string]any{"promptTemplate": "x", "criteria": []any{map[string]any{"key": "a", "description": "A", "anchors": []any{map[string]any{"rating": "7", "description": "B"}}}}}, "/criteria/0/anchors/0/rating"},
		"example off limits":  {map[string]any{"promptTemplate": "x", "fewShot": []any{map[string]any{"datasetId": 4711, "datasetItemId": 1}}}, "/fewShot/0/datasetItemId"},
	} {
		body := map[string]any{"key": "two", "provider": "simulated", "model": "judge"}
		for k, v := range c.body {
			body[k] = v
		}
		res, err := us.Call(ctx, http.MethodPost, "/api/llm-judge/configs", body, nil)
		require.Error(t, err, name)
		require.Equal(t, 400, res.Status, name)
		require.Contains(t, string(res.Body), c.at, name)
	}
	_, err = us.CreateJudgeConfig(ctx, map[string]any{"key": "three", "starter": "helpfulness", "provider": "openai", "model": "gpt-4.1"})
	require.ErrorContains(t, err, "no active provider key of openai")
}

// TestExamplesOfAJudgeWithCriteria need a label that each criterion can have: whether the
// answer passes is none on a scale of numbers.
func TestExamplesOfAJudgeWithCriteria(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	us := testkit.Shared(t).Org(t)
	train := "train"
	set := us.Dataset(t, testkit.NewDataset{Purpose: new("calibration")})
	added, err := us.AddItems(ctx, set.ID, []testkit.Item{
		{Input: "How do I pay?", Output: "By card.", Labels: map[string]any{"verdict": "pass"}, Split: &train},
		{Input: "How do I pay?", Output: "Dunno.", Labels: map[string]any{"verdict": 2}, Split: &train},
	})
	require.NoError(t, err)
	shown := func(items ...int) []any {
		var out []any
		for _, i := range items {
			out = append(out, map[string]any{"datasetId": set.ID, "datasetItemId": added.Items[i].ID})
		}
		return out
	}
	body := map[string]any{
		"key": "tone", "provider": "simulated", "model": "judge", "promptTemplate": "Rate {{output}}.", "labelKey": "verdict",
		"criteria": []any{map[string]any{"key": "tone", "description": "Is it polite?"}}, "fewShot": shown(0),
	}
	_, err = us.CreateJudgeConfig(ctx, body)
	require.NoError(t, err, "criteria that pass or fail")
	body["key"], body["scale"] = "numbers", map[string]any{"type": "likert", "min": 1, "max": 5}
	_, err = us.CreateJudgeConfig(ctx, body)
	require.ErrorContains(t, err, "The judge cannot be shown these examples")
	body["fewShot"] = shown(1)
	c, err := us.CreateJudgeConfig(ctx, body)
	require.NoError(t, err)
	r, err := us.EvaluateWithJudge(ctx, map[string]any{"configId": c.ID, "input": "Hello", "output": "Hi! [[score:0.5]]"})
	require.NoError(t, err)
	require.Equal(t, "completed", r.Status, r.Error)
	_, err = us.UpdateJudgeConfig(ctx, c.ID, map[string]any{"scale": map[string]any{"type": "binary"}})
	require.ErrorContains(t, err, "The judge cannot be shown these examples", "an example keeps its label")
}

func TestARepeatedRequestIsPaidOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	us := testkit.Shared(t).Org(t)
	c, err := us.CreateJudgeConfig(ctx, map[string]any{"key": "helpful", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	body := map[string]any{"configId": c.ID, "input": "How do I pay?", "output": "By card."}
	first, err := us.EvaluateWithJudge(ctx, body, testkit.Idempotent("once"))
	require.NoError(t, err)
	again, err := us.EvaluateWithJudge(ctx, body, testkit.Idempotent("once"))
	require.NoError(t, err)
	require.Equal(t, first, again)
	all, err := us.ListJudgeResults(ctx, "")
	require.NoError(t, err)
	require.Len(t, all.Results, 1)
}

func TestASpendCapEndsAJudge(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	us := testkit.Shared(t).Org(t)
	_, err := us.Call(ctx, http.MethodPatch, "/api/organizations/current", map[string]any{"priceOverrides": map[string]any{"judge": map[string]any{"inputPerMillion": 1, "outputPerMillion": 1}}}, nil)
	require.NoError(t, err)
	c, err := us.CreateJudgeConfig(ctx, map[string]any{"key": "dear", "starter": "helpfulness", "provider": "simulated", "model": "judge", "spendCapUsd": 0.0005})
	require.NoError(t, err)
	body := map[string]any{"configId": c.ID, "input": "How do I pay?", "output": "By card. [[score:1]]"}
	first, err := us.EvaluateWithJudge(ctx, body)
	require.NoError(t, err)
	require.Equal(t, "completed", first.Status, first.Error)
	require.Positive(t, *first.CostUSD)
	last := first
	for range 5 {
		if last, err = us.EvaluateWithJudge(ctx, body); last.Status == "failed" {
			break
		}
	}
	require.NoError(t, err)
	require.Equal(t, "failed", last.Status)
	require.Equal(t, "spend_cap_reached", last.Error.Code)
	require.Contains(t, last.Error.Message, `the judge "dear"`)

	_, err = us.UpdateJudgeConfig(ctx, c.ID, map[string]any{"spendCapUsd": nil})
	require.NoError(t, err)
	again, err := us.EvaluateWithJudge(ctx, body)
	require.NoError(t, err)
	require.Equal(t, "completed", again.Status, again.Error)
	require.EqualValues(t, 1, again.ConfigVersion, "what a judge may cost does not change its verdicts")
}
