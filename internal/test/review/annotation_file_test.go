package review_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/review/labelfile"
	"github.com/assayhq/assay/internal/test/testkit"
)

// export reads a task as a file.
func export(t *testing.T, c *testkit.Client, task int64, format labelfile.Format) string {
	t.Helper()
	res, err := c.Send(t.Context(), http.MethodGet, fmt.Sprintf("/api/annotations/tasks/%d/export?format=%s", task, format), strings.NewReader(""))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.Status, string(res.Body))
	return string(res.Body)
}

// records reads a file.
func records(t *testing.T, text string, format labelfile.Format) (all []labelfile.Record) {
	t.Helper()
	r, err := labelfile.NewReader(strings.NewReader(text), format)
	require.NoError(t, err)
	for {
		line, err := r.Next()
		if err != nil {
			return all
		}
		require.NoError(t, line.Err)
		all = append(all, line.Record)
	}
}

// importAll imports records into a task.
func importAll(t *testing.T, c *testkit.Client, task int64, all []labelfile.Record) (created, answers int) {
	t.Helper()
	var items []any
	for _, r := range all {
		var said []any
		for _, a := range r.Answers {
			one := map[string]any{"annotator": a.Annotator, "label": a.Label, "feedback": a.Feedback, "skipped": a.Skipped, "createdAt": a.CreatedAt}
			if a.DurationMS != nil {
				one["durationMs"] = *a.DurationMS
			}
			if a.Rating != nil {
				one["rating"] = *a.Rating
			}
			if len(a.Labels) > 0 {
				one["labels"] = a.Labels
			}
			said = append(said, one)
		}
		items = append(items, map[string]any{"content": r.Content, "annotations": said})
	}
	var out struct {
		Created     int `json:"created"`
		Annotations int `json:"annotations"`
	}
	_, err := c.Call(t.Context(), http.MethodPost, fmt.Sprintf("/api/annotations/tasks/%d/import", task), map[string]any{"items": items}, &out)
	require.NoError(t, err)
	return out.Created, out.Annotations
}

// TestExportAndImport takes a task through each format into a new one, and back.
func TestExportAndImport(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c := k.Org(t)
	who := people(t, c, 2)
	task := c.AnnotationTask(t, 0, map[string]any{"type": "classification", "annotatorsPerItem": 2})
	_, err := c.AddAnnotationItems(t.Context(), task.ID, map[string]any{"items": []any{
		map[string]any{"content": map[string]any{"input": "Why?", "output": "=1+1"}}, map[string]any{"content": "plain"}, map[string]any{"content": "12"},
	}})
	require.NoError(t, err)
	items, err := c.ListAnnotationItems(t.Context(), task.ID, "")
	require.NoError(t, err)
	for i, p := range who {
		_, err := p.Answer(t.Context(), task.ID, items.Items[2].ID, map[string]any{"label": fmt.Sprint("label ", i), "feedback": "=A1", "labels": map[string]any{"why": []string{"x"}}, "durationMs": 1500})
		require.NoError(t, err)
		_, err = p.UpdateAnnotationItem(t.Context(), task.ID, map[string]any{"itemId": items.Items[1].ID, "status": "skipped", "reason": "-unclear"})
		require.NoError(t, err)
	}
	for _, f := range []labelfile.Format{labelfile.JSONL, labelfile.CSV, labelfile.LabelStudio} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			first := export(t, c, task.ID, f)
			all := records(t, first, f)
			require.Len(t, all, 3)
			require.Equal(t, []int{2, 2, 0}, []int{len(all[0].Answers), len(all[1].Answers), len(all[2].Answers)})
			again := c.AnnotationTask(t, 0, map[string]any{"type": "classification", "annotatorsPerItem": 2, "blind": false})
			created, answers := importAll(t, c, again.ID, all)
			require.Equal(t, []int{3, 4}, []int{created, answers})
			second := export(t, c, again.ID, f)
			got := records(t, second, f)
			// Items have new ids and no answers of people here, and what came with them says so.
			for i := range got {
				require.NotEqual(t, all[i].ID, got[i].ID)
				require.Equal(t, "pending", got[i].Status)
				all[i].ID, all[i].Status = got[i].ID, got[i].Status
				for n := range all[i].Answers {
					all[i].Answers[n].Source = labelfile.SourceImport
				}
			}
			require.Equal(t, all, got)
			// From then on exports are equal.
			last := c.AnnotationTask(t, 0, map[string]any{"type": "classification", "annotatorsPerItem": 2, "blind": false})
			importAll(t, c, last.ID, got)
			number := regexp.MustCompile(`(?m)"id":\d+|^\d+`)
			require.Equal(t, number.ReplaceAllString(second, "#"), number.ReplaceAllString(export(t, c, last.ID, f), "#"))
		})
	}
}

// TestImportedAnswersAreNobodys imports answers as a person and as a service, and looks
// whether anybody has become an annotator by it.
func TestImportedAnswersAreNobodys(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c := k.Org(t)
	_, admin := c.Person(t, principal.Admin)
	_, annotator := c.Person(t, principal.Annotator)
	task := c.AnnotationTask(t, 0, map[string]any{"type": "classification", "annotatorsPerItem": 2})
	file := []labelfile.Record{{Content: []byte(`"a"`), Answers: []labelfile.Answer{{Annotator: "Ada", Label: secret}, {Annotator: "Ben", Label: secret}}}}
	importAll(t, c, task.ID, file)
	importAll(t, admin, task.ID, file)

	items, err := c.ListAnnotationItems(t.Context(), task.ID, "")
	require.NoError(t, err)
	require.Len(t, items.Items, 2)
	for _, i := range items.Items {
		require.Equal(t, []any{"pending", 0, 0}, []any{i.Status, int(i.AnnotationsCount), len(i.Annotations)})
	}
	counts(t, k, c, task.ID)
	agreement, err := c.GetAnnotationAgreement(t.Context(), task.ID)
	require.NoError(t, err)
	require.Empty(t, agreement.Annotators)

	// Both who imported may still answer, and those who answer do not see what was imported.
	for _, p := range []*testkit.Client{admin, annotator} {
		for _, f := range []labelfile.Format{labelfile.JSONL, labelfile.CSV, labelfile.LabelStudio} {
			require.NotContains(t, export(t, p, task.ID, f), secret)
		}
		_, err := p.Answer(t.Context(), task.ID, items.Items[0].ID, map[string]any{"label": "mine"})
		require.NoError(t, err)
	}
	complete := records(t, export(t, annotator, task.ID, labelfile.JSONL), labelfile.JSONL)
	require.Equal(t, []int{0, 4}, []int{len(complete[0].Answers), len(complete[1].Answers)}, "of the item that is complete, everything is shown")
	var sources []string
	for _, a := range complete[1].Answers {
		sources = append(sources, a.Source)
	}
	require.Equal(t, []string{"import", "import", "annotation", "annotation"}, sources)

	_, err = annotator.Call(t.Context(), http.MethodPost, fmt.Sprintf("/api/annotations/tasks/%d/import", task.ID), map[string]any{"items": []any{map[string]any{"content": "x"}}}, nil)
	require.Equal(t, "role_forbids", annotationReason(t, err))
	_, err = c.Call(t.Context(), http.MethodPost, fmt.Sprintf("/api/annotations/tasks/%d/import", task.ID), map[string]any{"items": []any{
		map[string]any{"content": "x"}, map[string]any{"content": "y", "annotations": []any{map[string]any{"annotator": "Ada"}}}, map[string]any{},
	}}, nil)
	f, ok := fault.From(err)
	require.True(t, ok, "%v", err)
	require.Contains(t, fmt.Sprint(f.Details["fields"]), "/items/1/annotations/0")
	require.Contains(t, fmt.Sprint(f.Details["fields"]), "/items/2/content")
	after, err := c.GetAnnotationTask(t.Context(), task.ID)
	require.NoError(t, err)
	require.EqualValues(t, 2, after.TotalItems, "all are added or none")
}
