package review_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

// queued waits until the queue has an item that matches, and no other does.
func (s scene) queued(t testing.TB, query string) testkit.AdjudicationItem {
	t.Helper()
	var items api.AdjudicationItemList
	require.Eventually(t, func() bool {
		var err error
		items, err = s.ListAdjudicationItems(t.Context(), query)
		return err == nil && len(items.Items) > 0
	}, 10*time.Minute, 50*time.Millisecond)
	require.Len(t, items.Items, 1)
	return items.Items[0]
}

// judge makes a judge that says what an answer asks it to say.
func (s scene) judge(t testing.TB, key string) testkit.JudgeConfig {
	t.Helper()
	j, err := s.CreateJudgeConfig(t.Context(), map[string]any{"key": key, "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	return j
}

//nolint:paralleltest // the steps share an organization, and what one leaves counts in the next
func TestItemsAreOpenedByEvents(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.kit.Work(t)

	t.Run("for bad feedback, once", func(t *testing.T) {
		trace := s.AnsweredTrace(t, "Why?", "So.")
		for _, f := range []testkit.TraceFeedback{
			{Type: "thumbs", Value: true, UserID: new("u1")}, {Type: "thumbs", Value: false, UserID: new("u2")}, {Type: "rating", Value: 0.2, UserID: new("u3")},
		} {
			_, err := s.AddTraceFeedback(t.Context(), trace, f)
			require.NoError(t, err)
		}
		last := s.AnsweredTrace(t, "Last?", "So.")
		_, err := s.AddTraceFeedback(t.Context(), last, testkit.TraceFeedback{Type: "correction", Value: "Because.", UserID: new("u1")})
		require.NoError(t, err)
		s.queued(t, "source=user_report&traceId="+last)
		i := s.queued(t, "source=user_report&traceId="+trace)
		require.Equal(t, "high", i.Priority)
		require.Equal(t, "system", i.CreatedBy.Type)
		require.Equal(t, []any{"negative_feedback"}, i.Context["reasons"])
	})

	t.Run("for judges that disagree about an answer", func(t *testing.T) {
		trace := s.AnsweredTrace(t, "Who?", "Me.")
		for key, output := range map[string]string{"kind": "Fine [[score:1]]", "strict": "Bad [[score:0]]"} {
			_, err := s.EvaluateWithJudge(t.Context(), map[string]any{"configId": s.judge(t, key).ID, "input": "Who?", "output": output, "traceId": trace})
			require.NoError(t, err)
		}
		i := s.queued(t, "source=judge_disagreement&traceId="+trace)
		require.InDelta(t, 1, i.Disagreement, 0)
		require.Len(t, i.Candidates, 2)
		require.Equal(t, []any{"verdicts_differ"}, i.Context["reasons"])
	})

	t.Run("for people who answer an item of a task differently", func(t *testing.T) {
		ctx := t.Context()
		task := s.AnnotationTask(t, 1, map[string]any{"annotatorsPerItem": 2, "type": "classification"})
		var item int64
		_, other := s.Person(t, principal.Annotator)
		for by, label := range map[*testkit.Client]string{s.decider: "refund", other: "exchange"} {
			next, err := by.TakeAnnotationItem(ctx, task.ID, nil)
			require.NoError(t, err)
			item = next.Item.ID
			_, err = s.CreateAdjudicationItem(ctx, map[string]any{"subject": map[string]any{"annotationItemId": item}})
			requireField(t, err, "/subject/annotationItemId", "unknown_reference")
			_, err = by.Answer(ctx, task.ID, item, map[string]any{"label": label})
			require.NoError(t, err)
		}
		i := s.queued(t, "source=annotator_disagreement")
		require.Equal(t, &item, i.Subject.AnnotationItemID)
		require.InDelta(t, 0.5, i.Disagreement, 1e-9)
		require.Len(t, i.Candidates, 2)
		require.False(t, s.decided(t, i, "pass").Decision.Independent, "one of the two decides")
		items, err := s.ListAnnotationItems(ctx, task.ID, "")
		require.NoError(t, err)
		require.Equal(t, "adjudicated", items.Items[0].Status)
		require.Equal(t, &i.ID, items.Items[0].AdjudicationItemID)

		_, err = s.UpdateAdjudicationItem(ctx, i.ID, map[string]any{"status": "open", "reason": "It was wrong."})
		require.NoError(t, err)
		items, err = s.ListAnnotationItems(ctx, task.ID, "")
		require.NoError(t, err)
		require.Equal(t, "conflicted", items.Items[0].Status, "the decision no longer stands")
		require.Nil(t, items.Items[0].AdjudicationItemID)
		_, err = s.UpdateAdjudicationItem(ctx, i.ID, map[string]any{"status": "dismissed", "reason": "Nobody needs it."})
		require.NoError(t, err)
		_, err = s.Call(ctx, http.MethodDelete, fmt.Sprint("/api/annotations/tasks/", task.ID), nil, nil)
		require.NoError(t, err, "nothing rests on its items")
	})
}
