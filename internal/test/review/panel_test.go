package review_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/review/annotation"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestAgreementOfATask(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	const items, script = 40, "<script>alert(1)</script>"
	task := c.AnnotationTask(t, items, map[string]any{
		"name": "Labels " + script, "type": "classification", "annotatorsPerItem": 3,
		"labelSchema": map[string]any{"fields": []any{map[string]any{"key": "verdict", "type": "choice", "options": []string{"good", "bad", "unused"}}}},
	})
	who := make([]*testkit.Client, 3)
	for i := range who {
		_, who[i] = c.Person(t, principal.Annotator)
	}
	me, err := who[0].GetMe(ctx)
	require.NoError(t, err)
	_, err = c.UpdateMember(ctx, *me.UserID, map[string]any{"name": "Ada " + script})
	require.NoError(t, err)
	list, err := c.ListAnnotationItems(ctx, task.ID, fmt.Sprint("limit=", items))
	require.NoError(t, err)
	require.Len(t, list.Items, items)
	answer := func(person int) {
		for i, item := range list.Items {
			label := []string{"good", "bad"}[i%2]
			if i%10 == 3*person { // everybody is wrong about others
				label = []string{"bad", "good"}[i%2]
			}
			body := map[string]any{"label": label, "durationMs": 1000*person + i + 1}
			if person == 1 { // label is short for this
				body = map[string]any{"labels": map[string]any{"verdict": label}, "durationMs": 1000 + i}
			}
			_, err := who[person].Answer(ctx, task.ID, item.ID, body)
			require.NoError(t, err)
		}
	}

	answer(0)
	answer(1)
	for _, reader := range append(who[:2:2], c) {
		a, err := reader.GetAnnotationAgreement(ctx, task.ID)
		require.NoError(t, err)
		require.Zero(t, a.Answers, "no item of the blind task is complete")
		require.Contains(t, *a.Abstained, "stay hidden")
		require.Empty(t, a.Annotators)
		require.Nil(t, a.KrippendorffAlpha.Value)
		require.Equal(t, []string{*a.Abstained}, a.KrippendorffAlpha.Warnings)
	}
	page, err := c.AnnotationReport(ctx, task.ID)
	require.NoError(t, err)
	require.Contains(t, string(page.Body), "Agreement is not measured")
	require.NotContains(t, string(page.Body), "Ada")

	answer(2)
	a, err := who[2].GetAnnotationAgreement(ctx, task.ID)
	require.NoError(t, err)
	require.Nil(t, a.Abstained)
	require.Equal(t, []int{3 * items, 0, items, items}, []int{int(a.Answers), int(a.LeftOut), int(a.Items), int(a.Shared)})
	require.Equal(t, []string{"good", "bad", "unused"}, a.Scale)
	require.False(t, a.Ordered)
	require.EqualValues(t, items, a.KrippendorffAlpha.N)
	require.NotEmpty(t, a.KrippendorffAlpha.CI.Method)
	require.Less(t, *a.KrippendorffAlpha.CI.Lower, *a.KrippendorffAlpha.Value)
	require.Greater(t, *a.KrippendorffAlpha.CI.Upper, *a.KrippendorffAlpha.Value)
	require.InDelta(t, 0.6, *a.KrippendorffAlpha.Value, 0.02, "each two differ on a fifth of the items")
	require.NotNil(t, a.Ac1.CI)
	require.Len(t, a.Pairs, 3)
	for _, p := range a.Pairs {
		require.EqualValues(t, items, p.Shared)
		require.InDelta(t, 0.6, *p.Kappa.Value, 0.02)
	}
	require.Len(t, a.Labels, 3)
	require.InDelta(t, 0.8, *a.Labels[0].Agreement.Value, 0.02)
	require.Nil(t, a.Labels[2].Agreement.Value)
	require.Len(t, a.Annotators, 3)
	for _, one := range a.Annotators {
		require.EqualValues(t, items, one.Labels)
		require.NotNil(t, one.Accuracy.CI)
		require.NotNil(t, one.AlphaWithout.Value)
		require.NotNil(t, one.MedianMs.Value)
		require.Empty(t, one.Flags)
	}
	require.Equal(t, "dawid_skene", *a.Consensus.Method)
	require.LessOrEqual(t, len(a.Hardest), 20)
	require.GreaterOrEqual(t, int(a.Consensus.UncertainItems), len(a.Hardest))
	for _, h := range a.Hardest {
		require.Len(t, h.Posterior, 3)
		require.EqualValues(t, 3, h.N)
	}
	again, err := c.GetAnnotationAgreement(ctx, task.ID)
	require.NoError(t, err)
	again.MeasuredAt = a.MeasuredAt
	require.Equal(t, a, again, "the same answers give the same digits, whoever asks")

	page, err = c.AnnotationReport(ctx, task.ID)
	require.NoError(t, err)
	require.Equal(t, "text/html; charset=utf-8", page.Header.Get("Content-Type"))
	require.Contains(t, page.Header.Get("Content-Security-Policy"), "sandbox")
	require.Contains(t, string(page.Body), "Ada &lt;script&gt;")
	require.NotContains(t, string(page.Body), "<script")
	require.NotContains(t, string(page.Body), "\x00")
	stranger := k.Org(t)
	_, err = stranger.GetAnnotationAgreement(ctx, task.ID)
	require.ErrorIs(t, err, annotation.ErrTaskNotFound)
	_, err = stranger.AnnotationReport(ctx, task.ID)
	require.ErrorIs(t, err, annotation.ErrTaskNotFound)
}

func TestAgreementAbstains(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	_, ada := c.Person(t, principal.Annotator)
	for _, x := range []struct {
		kind   string
		answer map[string]any
		why    string
	}{
		{"multi_label", map[string]any{"labels": map[string]any{"a": true}}, "several labels"},
		{"free_text", map[string]any{"feedback": "Fine."}, "texts are not compared"},
		{"classification", map[string]any{"labels": map[string]any{"a": "x"}}, "has a value"},
		{"classification", map[string]any{"label": "x"}, "only one label"},
	} {
		task := c.AnnotationTask(t, 1, map[string]any{"type": x.kind})
		list, err := c.ListAnnotationItems(ctx, task.ID, "")
		require.NoError(t, err)
		_, err = ada.Answer(ctx, task.ID, list.Items[0].ID, x.answer)
		require.NoError(t, err)
		a, err := c.GetAnnotationAgreement(ctx, task.ID)
		require.NoError(t, err)
		require.Contains(t, *a.Abstained, x.why, x.kind)
		require.Nil(t, a.Consensus.Method)
	}
	task := c.AnnotationTask(t, 1, map[string]any{"type": "rating"})
	list, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	_, err = ada.Answer(ctx, task.ID, list.Items[0].ID, map[string]any{"rating": 4})
	require.NoError(t, err)
	a, err := c.GetAnnotationAgreement(ctx, task.ID)
	require.NoError(t, err)
	require.Nil(t, a.Abstained)
	require.True(t, a.Ordered)
	require.Equal(t, []string{"1", "2", "3", "4", "5"}, a.Scale)
	require.Nil(t, a.KrippendorffAlpha.Value, "one answer says nothing about agreement")
	require.NotEmpty(t, a.KrippendorffAlpha.Warnings)
}
