package review_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/review/annotator"
	"github.com/assayhq/assay/internal/test/testkit"
)

// ran is a completed run over answers with judges, and the ids of its test cases.
func (s scene) ran(t testing.TB, metrics []string, outputs ...string) (run string, cases []string) {
	t.Helper()
	questions := s.Dataset(t, testkit.NewDataset{})
	items := make([]testkit.Item, len(outputs))
	for i, output := range outputs {
		items[i] = testkit.Item{Input: "Question about " + output, Output: output}
	}
	added, err := s.AddItems(t.Context(), questions.ID, items)
	require.NoError(t, err)
	for _, i := range added.Items {
		cases = append(cases, i.ID)
	}
	e := s.Evaluation(t, questions.ID, map[string]any{"metrics": metrics})
	r, err := s.StartRun(t.Context(), e.ID, map[string]any{})
	require.NoError(t, err)
	r = s.Ended(t, r)
	require.Equal(t, "completed", r.Status)
	return r.RunID, cases
}

//nolint:paralleltest // the steps share judges
func TestItemsAreOpenedForRuns(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.kit.Work(t)
	s.judge(t, "plain") // its score, and its confidence, are what the answer asks for
	_, err := s.CreateJudgeConfig(t.Context(), map[string]any{"key": "contrary", "starter": "helpfulness", "provider": "simulated", "model": "judge@0"})
	require.NoError(t, err)

	t.Run("answers that its judges disagree about", func(t *testing.T) {
		run, cases := s.ran(t, []string{"judge:plain", "judge:contrary"}, "Fine [[score:1]]")
		i := s.queued(t, "source=judge_disagreement&evaluationRunId="+run)
		require.Equal(t, &cases[0], i.Subject.TestCaseID)
		require.Equal(t, "system", i.CreatedBy.Type)
		require.Len(t, i.Candidates, 2)
		require.Contains(t, i.Context["reasons"], "verdicts_differ")
	})

	t.Run("answers that a judge is not sure of", func(t *testing.T) {
		run, cases := s.ran(t, []string{"judge:plain"}, "Certain [[score:0.9]]", "Doubtful [[score:0.4]]")
		i := s.queued(t, "source=low_confidence&evaluationRunId="+run)
		require.Equal(t, &cases[1], i.Subject.TestCaseID)
		require.Equal(t, "normal", i.Priority)
		require.Equal(t, []any{"low_confidence"}, i.Context["reasons"])
		none, err := s.ListAdjudicationItems(t.Context(), "source=judge_disagreement&evaluationRunId="+run)
		require.NoError(t, err)
		require.Empty(t, none.Items, "one judge does not disagree")
	})

	t.Run("an answer that a judge is not sure of on request", func(t *testing.T) {
		trace := s.AnsweredTrace(t, "Who?", "Me.")
		_, err := s.EvaluateWithJudge(t.Context(), map[string]any{"configId": s.judge(t, "asked").ID, "input": "Who?", "output": "Me [[score:0.4]]", "traceId": trace})
		require.NoError(t, err)
		i := s.queued(t, "source=low_confidence&traceId="+trace)
		require.Equal(t, []any{"low_confidence"}, i.Context["reasons"])
	})
}

// labels is a task that asks for good or bad.
func (s scene) labels(t testing.TB, items int, more map[string]any) testkit.AnnotationTask {
	t.Helper()
	body := map[string]any{
		"type":        "classification",
		"labelSchema": map[string]any{"fields": []any{map[string]any{"key": "verdict", "type": "choice", "options": []string{"good", "bad"}}}},
	}
	for name, v := range more {
		body[name] = v
	}
	return s.AnnotationTask(t, items, body)
}

func TestAgreedItemsAreAudited(t *testing.T) {
	t.Parallel()
	s, ctx := set(t), t.Context()
	s.kit.Work(t)
	task := s.labels(t, 1000, nil) // of which about 20 are drawn
	items, err := s.ListAnnotationItems(ctx, task.ID, "limit=1000")
	require.NoError(t, err)
	_, ada := s.Person(t, principal.Annotator)
	var drawn, others []int64
	for _, i := range items.Items {
		switch is := annotator.Drawn(s.Org, task.ID, i.ID); {
		case is && len(drawn) < 2:
			drawn = append(drawn, i.ID)
		case !is && len(others) < 3:
			others = append(others, i.ID)
		}
	}
	require.Len(t, drawn, 2)
	for _, id := range append(others, drawn...) {
		_, err := ada.Answer(ctx, task.ID, id, map[string]any{"label": "good"})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool {
		found, err := s.ListAdjudicationItems(ctx, "source=audit")
		return err == nil && len(found.Items) == 2
	}, 10*time.Minute, 50*time.Millisecond)
	a, err := s.GetAnnotationAgreement(ctx, task.ID)
	require.NoError(t, err)
	require.EqualValues(t, 5, a.Audit.Items)
	require.Nil(t, a.Audit.ErrorRate.Value, "nothing is decided yet")
	require.NotEmpty(t, a.Audit.ErrorRate.Warnings)
	found, err := s.ListAdjudicationItems(ctx, "source=audit")
	require.NoError(t, err)
	for _, i := range found.Items {
		require.Contains(t, drawn, *i.Subject.AnnotationItemID)
		require.Equal(t, []any{"random_audit"}, i.Context["reasons"])
		body := map[string]any{"decision": "pass", "rationale": why}
		if *i.Subject.AnnotationItemID == drawn[0] {
			body = map[string]any{"decision": "fail", "label": "bad", "rationale": why}
		}
		_, err := s.decider.DecideAdjudicationItem(ctx, i.ID, body)
		require.NoError(t, err)
	}
	a, err = s.GetAnnotationAgreement(ctx, task.ID)
	require.NoError(t, err)
	require.EqualValues(t, 5, a.Audit.Items, "decided items are still those that no rule sent")
	require.EqualValues(t, 2, a.Audit.ErrorRate.N)
	require.InDelta(t, 0.5, *a.Audit.ErrorRate.Value, 1e-9)
	require.InDelta(t, 2.5, *a.Audit.ExpectedErrors, 1e-9)
	page, err := s.AnnotationReport(ctx, task.ID)
	require.NoError(t, err)
	require.Contains(t, string(page.Body), "of items that no rule sends to a person")
}

// TestDoubtfulLabelsReachTheQueue has two people who are right nearly always, and one
// who says the same about every item. Where the two differ, two of three answers agree,
// which the threshold of the task lets pass; the model knows that the third is worth
// nothing.
func TestDoubtfulLabelsReachTheQueue(t *testing.T) {
	t.Parallel()
	s, ctx := set(t), t.Context()
	s.kit.Work(t)
	const n = 24
	task := s.labels(t, n, map[string]any{"annotatorsPerItem": 3, "agreementThreshold": 0.5})
	items, err := s.ListAnnotationItems(ctx, task.ID, "limit=100")
	require.NoError(t, err)
	for person := range 3 {
		_, by := s.Person(t, principal.Annotator)
		for i, item := range items.Items {
			label := []string{"good", "bad"}[i%2]
			if person == 2 || person == 1 && i == n-1 {
				label = "good"
			}
			_, err := by.Answer(ctx, task.ID, item.ID, map[string]any{"label": label})
			require.NoError(t, err)
		}
	}
	i := s.queued(t, "source=annotator_disagreement")
	require.Equal(t, &items.Items[n-1].ID, i.Subject.AnnotationItemID)
	require.Equal(t, []any{"low_posterior", "high_entropy"}, i.Context["reasons"])
	require.Equal(t, "The label of annotators is not certain", *i.Title)
	a, err := s.GetAnnotationAgreement(ctx, task.ID)
	require.NoError(t, err)
	require.Equal(t, "dawid_skene", *a.Consensus.Method)
	require.EqualValues(t, 1, a.Consensus.UncertainItems)
}
