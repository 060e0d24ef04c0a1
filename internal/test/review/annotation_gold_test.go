package review_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/review/annotation"
	"github.com/assayhq/assay/internal/test/testkit"
)

// verdicts is a task about good and bad answers.
func verdicts(t *testing.T, c *testkit.Client, people int) testkit.AnnotationTask {
	t.Helper()
	return c.AnnotationTask(t, 0, map[string]any{
		"type": "classification", "annotatorsPerItem": people,
		"labelSchema": map[string]any{"fields": []any{map[string]any{"key": "verdict", "type": "choice", "options": []string{"good", "bad"}}}},
	})
}

// right is the label of the item with a number.
func right(n int) string { return []string{"good", "bad"}[n%2] }

// TestGoldQuestionsFindASpammer lets a small crowd answer a task through the interface:
// two people who are right, and one who always says the same.
func TestGoldQuestionsFindASpammer(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	const n = 24
	task := verdicts(t, c, 3)
	var list []map[string]any
	for i := range 2 * n {
		item := map[string]any{"content": map[string]any{"question": fmt.Sprint("Question ", i)}}
		if i < n {
			item["gold"] = right(i)
		}
		list = append(list, item)
	}
	added, err := c.AddAnnotationItems(ctx, task.ID, map[string]any{"items": list})
	require.NoError(t, err)
	require.Len(t, added.Items, 2*n, "in the order of the request")
	number, gold := map[int64]int{}, []int64{}
	for i, item := range added.Items {
		content, err := json.Marshal(item.Content)
		require.NoError(t, err)
		require.Contains(t, string(content), fmt.Sprintf("Question %d\"", i))
		number[item.ID] = i
		if i < n {
			gold = append(gold, item.ID)
		}
	}
	who := people(t, c, 3)

	// Nothing about an item tells whether it is gold: not its fields, not its id.
	items, err := who[0].ListAnnotationItems(ctx, task.ID, fmt.Sprint("limit=", 2*n))
	require.NoError(t, err)
	var looks []string
	for _, item := range items.Items {
		item.ID, item.Content = 0, nil
		text, err := json.Marshal(item)
		require.NoError(t, err)
		looks = append(looks, string(text))
	}
	slices.Sort(looks)
	require.Len(t, slices.Compact(looks), 1, "all items look the same")
	ids := slices.Clone(gold)
	slices.Sort(ids)
	require.Greater(t, ids[n-1]-ids[0], int64(n), "gold questions stand among the others")

	for p, person := range who {
		for range 2 * n {
			next, err := person.TakeAnnotationItem(ctx, task.ID, nil)
			require.NoError(t, err)
			label := right(number[next.Item.ID])
			if p == 2 {
				label = "good"
			}
			_, err = person.Answer(ctx, task.ID, next.Item.ID, map[string]any{"label": label})
			require.NoError(t, err)
		}
	}
	a, err := c.GetAnnotationAgreement(ctx, task.ID)
	require.NoError(t, err)
	require.Equal(t, []int{3 * n, n}, []int{int(a.Answers), int(a.Items)}, "agreement is that of the other items")
	require.Equal(t, []int{n, n}, []int{int(a.Gold.Questions), int(a.Gold.Answered)})
	require.Empty(t, a.Gold.Contradicted)
	me, err := who[2].GetMe(ctx)
	require.NoError(t, err)
	for _, one := range a.Annotators {
		require.EqualValues(t, n, one.Gold.Items)
		require.NotNil(t, one.Gold.Accuracy.CI)
		if *one.Annotator.ID == *me.UserID {
			require.Equal(t, []any{n / 2, "flagged"}, []any{int(one.Gold.Correct), one.Gold.Standing})
			require.Contains(t, one.Flags, "fails_gold")
		} else {
			require.Equal(t, []any{n, "trusted"}, []any{int(one.Gold.Correct), one.Gold.Standing})
			require.NotContains(t, one.Flags, "fails_gold")
		}
	}
	page, err := c.AnnotationReport(ctx, task.ID)
	require.NoError(t, err)
	require.Contains(t, string(page.Body), "flagged")

	// Who answers the task sees all items alike, also in figures.
	for _, person := range who {
		a, err := person.GetAnnotationAgreement(ctx, task.ID)
		require.NoError(t, err)
		require.Equal(t, []int{6 * n, 2 * n}, []int{int(a.Answers), int(a.Items)})
		require.Nil(t, a.Gold)
		for _, one := range a.Annotators {
			require.Nil(t, one.Gold)
			require.NotContains(t, one.Flags, "fails_gold")
		}
		page, err := person.AnnotationReport(ctx, task.ID)
		require.NoError(t, err)
		require.NotContains(t, string(page.Body), "flagged<")
	}
	counts(t, k, c, task.ID)
	_, err = c.UpdateAnnotationTask(ctx, task.ID, map[string]any{"type": "rating"})
	require.ErrorIs(t, err, annotation.ErrAnswered)
}

// TestSomebodyWhoAnswersGoldQuestionsAlone has no part in agreement, so the alpha of all
// others is that of the task.
func TestSomebodyWhoAnswersGoldQuestionsAlone(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	const n = 24
	task := verdicts(t, c, 2)
	var list []map[string]any
	for i := range 2 * n {
		item := map[string]any{"content": map[string]any{"question": fmt.Sprint("Question ", i)}}
		if i < n {
			item["gold"] = right(i)
		}
		list = append(list, item)
	}
	added, err := c.AddAnnotationItems(ctx, task.ID, map[string]any{"items": list})
	require.NoError(t, err)
	who := people(t, c, 3)
	for i, item := range added.Items {
		second := who[1]
		if i < n {
			second = who[2]
		}
		for _, person := range []*testkit.Client{who[0], second} {
			label := right(i)
			if person != who[0] && i%6 == 0 {
				label = right(i + 1)
			}
			_, err = person.Answer(ctx, task.ID, item.ID, map[string]any{"label": label})
			require.NoError(t, err)
		}
	}

	a, err := c.GetAnnotationAgreement(ctx, task.ID)

	require.NoError(t, err)
	require.NotNil(t, a.KrippendorffAlpha.CI)
	me, err := who[2].GetMe(ctx)
	require.NoError(t, err)
	alone := slices.IndexFunc(a.Annotators, func(one testkit.AnnotatorQuality) bool { return *one.Annotator.ID == *me.UserID })
	require.GreaterOrEqual(t, alone, 0)
	require.EqualValues(t, n, a.Annotators[alone].Gold.Items)
	require.Equal(t, a.KrippendorffAlpha, a.Annotators[alone].AlphaWithout)
	require.Equal(t, "krippendorff_alpha_change", a.Annotators[alone].AlphaChange.Method)
	require.Nil(t, a.Annotators[alone].AlphaChange.Value)
}

func TestGoldQuestionsThatWouldBeRecognized(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	task := verdicts(t, c, 1)
	plain := map[string]any{"content": map[string]any{"q": "a"}}
	gold := func(content, label any) map[string]any { return map[string]any{"content": content, "gold": label} }
	same := map[string]any{"q": "b"}
	for name, x := range map[string]struct {
		body map[string]any
		code string
	}{
		"alone":            {gold(same, "good"), "recognizable"},
		"too many":         {map[string]any{"items": []any{plain, gold(same, "good"), gold(same, "bad")}}, "recognizable"},
		"of another form":  {map[string]any{"items": []any{plain, gold("b", "good")}}, "recognizable"},
		"with other keys":  {map[string]any{"items": []any{plain, gold(map[string]any{"question": "b"}, "good")}}, "recognizable"},
		"with other parts": {map[string]any{"items": []any{plain, map[string]any{"content": same, "gold": "good", "suggestion": "good"}}}, "recognizable"},
		"unknown label":    {map[string]any{"items": []any{plain, gold(same, "fine")}}, "format"},
		"not a label":      {map[string]any{"items": []any{plain, gold(same, 3)}}, "format"},
	} {
		_, err := c.AddAnnotationItems(ctx, task.ID, x.body)
		f, ok := fault.From(err)
		require.True(t, ok, name)
		require.Equal(t, fault.Validation, f.Kind, name)
		require.Contains(t, fmt.Sprint(f.Details["fields"]), x.code, name)
	}
	_, err := c.AddAnnotationItems(ctx, task.ID, map[string]any{"items": []any{plain, gold(same, "good")}})
	require.NoError(t, err)
	_, err = c.UpdateAnnotationTask(ctx, task.ID, map[string]any{"type": "rating"})
	require.ErrorIs(t, err, annotation.ErrGold)
	texts := c.AnnotationTask(t, 0, map[string]any{"type": "free_text"})
	_, err = c.AddAnnotationItems(ctx, texts.ID, map[string]any{"items": []any{plain, gold(same, "good")}})
	require.ErrorContains(t, err, "Gold questions")
	rating := c.AnnotationTask(t, 0, map[string]any{})
	_, err = c.AddAnnotationItems(ctx, rating.ID, map[string]any{"items": []any{plain, gold(same, 6)}})
	require.ErrorContains(t, err, "Gold questions")
	_, err = c.AddAnnotationItems(ctx, rating.ID, map[string]any{"items": []any{plain, gold(same, 5)}})
	require.NoError(t, err)
}

// TestGoldLabelsAreNeverShown plants a rating and looks for it in whatever can be read,
// as anybody, before and after people answer.
func TestGoldLabelsAreNeverShown(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	const planted = "3.14159265"
	task := c.AnnotationTask(t, 0, map[string]any{"type": "rating"})
	added, err := c.AddAnnotationItems(ctx, task.ID, map[string]any{"items": []any{map[string]any{"content": "a"}, map[string]any{"content": "b", "gold": 3.14159265}}}, testkit.Idempotent("gold"))
	require.NoError(t, err)
	_, ada := c.Person(t, principal.Annotator)
	_, boss := c.Person(t, principal.Admin)
	hidden := func() {
		require.NotContains(t, outbox(t, k, c), planted)
		for _, op := range k.App.Edge.Ops() {
			if op.Method != http.MethodGet || op.ContentType == "text/event-stream" || op.Scope == principal.Public {
				continue
			}
			path := strings.NewReplacer("/api/annotations/tasks/{id}", fmt.Sprint("/api/annotations/tasks/", task.ID)).Replace(op.Path)
			if strings.Contains(path, "{") {
				continue
			}
			for _, reader := range []*testkit.Client{ada, boss, c} {
				if reader != ada && (strings.HasSuffix(path, "/agreement") || strings.HasSuffix(path, "/report")) {
					continue // to others the ratings of gold questions are on the scale
				}
				res, err := reader.Send(ctx, http.MethodGet, path, nil)
				require.NoError(t, err)
				require.NotContains(t, string(res.Body), planted, path)
			}
		}
	}
	hidden()
	for _, item := range added.Items {
		_, err := ada.Answer(ctx, task.ID, item.ID, map[string]any{"rating": 2})
		require.NoError(t, err)
	}
	hidden()
}
