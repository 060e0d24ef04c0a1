package review_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/test/testkit"
)

// said is what the scores of a trace say, by metric, when nothing is left to be
// stored.
func said(t *testing.T, k *testkit.Kit, c *testkit.Client, trace string) map[string][]string {
	t.Helper()
	conn := k.Owner(t, c.Org)
	require.Eventually(t, func() bool {
		var n int
		err := conn.QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE org_id = $1 AND topic = 'annotation.scored'", c.Org).Scan(&n)
		return err == nil && n == 0
	}, 10*time.Minute, 50*time.Millisecond)
	all, err := k.App.Score.List(t.Context(), c.Org, score.Filter{Kinds: []score.Kind{score.KindTrace}, IDs: []string{trace}}, 100)
	require.NoError(t, err)
	out := map[string][]string{}
	for _, one := range all {
		text := one.Label
		if one.Value != nil {
			text = fmt.Sprint(*one.Value)
		}
		out[one.Metric] = append(out[one.Metric], text)
	}
	for _, texts := range out {
		slices.Sort(texts)
	}
	return out
}

func TestAnnotationsBecomeScores(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its worker starts later")
	c, ctx := k.Org(t), t.Context()
	k.Work(t)
	_, ada := c.Person(t, principal.Annotator)
	trace := c.AnsweredTrace(t, "Why?", "So.")

	draft, err := ada.CreateAnnotation(ctx, map[string]any{"traceId": trace, "label": "draft", "status": "draft"})
	require.NoError(t, err)
	a, err := ada.CreateAnnotation(ctx, map[string]any{"traceId": trace, "rating": 4, "label": "good", "labels": map[string]any{"helpful": "pass", "length": 3}, "feedback": "Fine."})
	require.NoError(t, err)
	require.Equal(t, map[string][]string{
		"annotation.rating": {"0.75"}, "annotation.label": {"good"}, "annotation.label.helpful": {"pass"}, "annotation.label.length": {"3"},
	}, said(t, k, c, trace))

	// A revision replaces, and what it leaves out is withdrawn.
	_, err = ada.UpdateAnnotation(ctx, a.ID, map[string]any{"rating": 2, "label": nil, "labels": map[string]any{"helpful": "fail"}})
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"annotation.rating": {"0.25"}, "annotation.label.helpful": {"fail"}}, said(t, k, c, trace))

	// Another annotation of the same person stands beside it, and goes alone.
	_, err = ada.UpdateAnnotation(ctx, draft.ID, map[string]any{"status": "submitted"})
	require.NoError(t, err)
	require.Equal(t, []string{"draft"}, said(t, k, c, trace)["annotation.label"])
	require.NoError(t, ada.DeleteAnnotation(ctx, a.ID))
	require.Equal(t, map[string][]string{"annotation.label": {"draft"}}, said(t, k, c, trace))
	_, err = ada.UpdateAnnotation(ctx, draft.ID, map[string]any{"status": "discarded"})
	require.NoError(t, err)
	require.Empty(t, said(t, k, c, trace))
}

// TestANewLabelChangesAlignment labels what a judge rated, and asks nobody again.
func TestANewLabelChangesAlignment(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its worker starts later")
	c, ctx := k.Org(t), t.Context()
	k.Work(t)
	_, ada := c.Person(t, principal.Annotator)
	j, err := c.CreateJudgeConfig(ctx, map[string]any{"key": "helpful", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	trace := c.AnsweredTrace(t, "Why?", "So. [[score:1]]")
	_, err = c.EvaluateWithJudge(ctx, map[string]any{"configId": j.ID, "traceId": trace, "input": "Why?", "output": "So. [[score:1]]"})
	require.NoError(t, err)
	confusion := func() (passed, rejected int) {
		said(t, k, c, trace)
		all, err := c.GetJudgeAlignment(ctx, "configId="+j.ID)
		require.NoError(t, err)
		if len(all.Alignments) == 0 || all.Alignments[0].N == 0 {
			return 0, 0
		}
		return int(all.Alignments[0].Confusion.Tp), int(all.Alignments[0].Confusion.Fp)
	}
	check := func(passed, rejected int, why string) {
		t.Helper()
		p, r := confusion()
		require.Equal(t, []int{passed, rejected}, []int{p, r}, why)
	}
	check(0, 0, "nobody has said anything")
	a, err := ada.CreateAnnotation(ctx, map[string]any{"traceId": trace, "labels": map[string]any{"helpful": "fail"}})
	require.NoError(t, err)
	check(0, 1, "the judge let pass what a person rejects")
	_, err = ada.UpdateAnnotation(ctx, a.ID, map[string]any{"labels": map[string]any{"helpful": "pass"}})
	require.NoError(t, err)
	check(1, 0, "the person has changed their mind")
	require.NoError(t, ada.DeleteAnnotation(ctx, a.ID))
	check(0, 0, "the label was taken back")
}

// TestScoresOfBlindTasksComeWithCompletion looks for an answer of a blind task where
// scores are shown.
func TestScoresOfBlindTasksComeWithCompletion(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its worker starts later")
	c, ctx := k.Org(t), t.Context()
	k.Work(t)
	who := people(t, c, 2)
	trace := c.AnsweredTrace(t, "Why?", "So.")
	task := c.AnnotationTask(t, 0, map[string]any{"type": "classification", "annotatorsPerItem": 2})
	added, err := c.AddAnnotationItems(ctx, task.ID, map[string]any{"items": []map[string]any{{"content": "Why?", "traceId": trace}}})
	require.NoError(t, err)
	item := added.Items[0].ID

	_, err = who[0].Answer(ctx, task.ID, item, map[string]any{"label": secret, "labels": map[string]any{"why": secret}, "feedback": secret})
	require.NoError(t, err)
	require.Empty(t, said(t, k, c, trace))
	opened, err := c.CreateAdjudicationItem(ctx, map[string]any{"subject": map[string]any{"traceId": trace}})
	require.NoError(t, err)
	require.Empty(t, opened.Candidates, "what an adjudication shows comes from scores")
	require.NotContains(t, outbox(t, k, c), secret)

	_, err = who[1].Answer(ctx, task.ID, item, map[string]any{"label": "other"})
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"annotation.label": {"other", secret}, "annotation.label.why": {secret}}, said(t, k, c, trace))
	require.NotContains(t, outbox(t, k, c), secret)
}
