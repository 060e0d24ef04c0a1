package evaluation_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/test/testkit"
)

// judgedItems are items with recorded answers: every fifth is bad, and people have
// labelled those that labelled says.
func judgedItems(n int, labelled func(i int) bool) []testkit.Item {
	items := make([]testkit.Item, n)
	for i := range items {
		good := 1
		if i%5 == 0 {
			good = 0
		}
		items[i] = testkit.Item{Input: fmt.Sprint("question ", i), Output: fmt.Sprintf("answer %d [[score:%d]]", i, good)}
		if labelled(i) {
			items[i].Labels = map[string]any{"quality": good}
		}
	}
	return items
}

func TestJudgesAsMetrics(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)

	t.Run("a judge scores the answers of a run, and people measure the judge", func(t *testing.T) {
		t.Parallel()
		ctx, c := t.Context(), k.Org(t)
		j, err := c.CreateJudgeConfig(ctx, map[string]any{"key": "quality", "starter": "helpfulness", "provider": "simulated", "model": "judge@0.9"})
		require.NoError(t, err)
		d := c.Dataset(t, testkit.NewDataset{})
		_, err = c.AddItems(ctx, d.ID, judgedItems(200, func(i int) bool { return i < 60 }))
		require.NoError(t, err)
		e := c.Evaluation(t, d.ID, map[string]any{"metrics": []string{"judge:quality"}, "target": map[string]any{"type": "recorded"}})
		require.Empty(t, e.Warnings)
		run, err := c.StartRun(ctx, e.ID, nil)
		require.NoError(t, err)
		run = c.Ended(t, run)
		require.Equal(t, "completed", run.Status, run.Error)
		results, err := c.ListEvaluationRunResults(ctx, e.ID, run.ID, "includeTotal=true&limit=100")
		require.NoError(t, err)
		require.NotNil(t, results.Results[0].Scores["judge:quality"])

		require.Equal(t, "judge", run.Statistics.Corrected["judge:quality"].Estimator)
		require.EqualValues(t, stat.StatusUncalibrated, run.Statistics.Metrics["judge:quality"].Status, "the mean of a judge is its opinion")
		require.Nil(t, run.Statistics.Metrics["judge:quality"].CI)
		gate := map[string]any{"requirements": []string{"judge:quality>=0.5"}}
		decided, err := c.DecideEvaluationRun(ctx, e.ID, run.ID, gate)
		require.NoError(t, err)
		require.Equal(t, "INCONCLUSIVE", decided.Verdict, "an opinion decides nothing")

		require.Contains(t, string(c.Content(t, c.Artifacts(t, run)["report.html"]).Body), "The judge’s opinion. The 60 labels correct nothing")
		next, err := c.StartRun(ctx, e.ID, map[string]any{"margin": 0.2})
		require.NoError(t, err)
		require.Equal(t, "completed", c.Ended(t, next).Status)
		opinion, err := c.CompareRuns(ctx, e.ID, run.ID, next.ID, "")
		require.NoError(t, err)
		require.Equal(t, "judge", opinion.Metrics[0].Judge.Estimator)
		require.Equal(t, "unknown", opinion.Metrics[0].Judge.Attribution, "the judge is not watched")
		require.NotNil(t, opinion.Metrics[0].Judge.Raw.CI)
		require.Nil(t, opinion.Metrics[0].CILow)
		require.Equal(t, "inconclusive", opinion.Metrics[0].Verdict)
		claim := map[string]any{"requirements": []string{"judge:quality:non_inferior"}, "baselineRunId": run.ID}
		decided, err = c.DecideEvaluationRun(ctx, e.ID, next.ID, claim)
		require.NoError(t, err)
		require.Equal(t, "INCONCLUSIVE", decided.Verdict, "two opinions decide nothing either")

		verdicts, err := c.ListJudgeResults(ctx, "evaluationRunId="+run.ID+"&limit=100")
		require.NoError(t, err)
		require.Len(t, verdicts.Results, 100)
		one, err := c.ListJudgeResults(ctx, "evaluationRunId="+run.ID+"&testCaseId="+results.Results[0].TestCaseID)
		require.NoError(t, err)
		require.Len(t, one.Results, 1)
		require.Equal(t, results.Results[0].Scores["judge:quality"], one.Results[0].Score)

		all, err := c.GetJudgeAlignment(ctx, "configId="+j.ID+"&evaluationRunId="+run.ID)
		require.NoError(t, err)
		require.Len(t, all.Alignments, 1)
		a := all.Alignments[0]
		require.EqualValues(t, 60, a.N)
		require.EqualValues(t, 200, a.Judged)
		require.Equal(t, 60, int(a.Confusion.Tp)+int(a.Confusion.Fp)+int(a.Confusion.Tn)+int(a.Confusion.Fn))
		require.Len(t, a.Disagreements, int(a.Confusion.Fp)+int(a.Confusion.Fn))
		require.Equal(t, "judge", a.Statistics.CorrectedPassRate.Estimator, "how the labelled items were chosen is not known")

		_, err = c.UpdateJudgeConfig(ctx, j.ID, map[string]any{"labelSampling": "random"})
		require.NoError(t, err)
		all, err = c.GetJudgeAlignment(ctx, "configId="+j.ID+"&evaluationRunId="+run.ID)
		require.NoError(t, err)
		require.Equal(t, "ppi", all.Alignments[0].Statistics.CorrectedPassRate.Estimator)
		require.EqualValues(t, 60, all.Alignments[0].Statistics.CorrectedPassRate.Labels)
		ci := all.Alignments[0].Statistics.CorrectedPassRate.Headline.CI
		require.Less(t, *ci.Lower, 0.8)
		require.Greater(t, *ci.Upper, 0.8)

		page, err := c.Call(ctx, http.MethodGet, "/api/llm-judge/configs/"+j.ID+"/alignment/report?evaluationRunId="+run.ID, nil, nil)
		require.NoError(t, err)
		require.Equal(t, "text/html; charset=utf-8", page.Header.Get("Content-Type"))
		require.Contains(t, page.Header.Get("Content-Security-Policy"), "sandbox")
		require.Contains(t, string(page.Body), "Pass rate, as people would give it")
		require.Contains(t, string(page.Body), "item "+*a.Disagreements[0].TestCaseID+" of run "+run.ID)
		require.Regexp(t, `<p dir="auto">answer \d+ \[\[score:`, string(page.Body), "disagreements are shown with the answer")
		page, err = c.Call(ctx, http.MethodGet, "/api/llm-judge/configs/"+j.ID+"/alignment/report?calibrationSetId=nonsense", nil, nil)
		require.NoError(t, err)
		require.Contains(t, string(page.Body), "has rated nothing")
		_, err = c.Call(ctx, http.MethodGet, "/api/llm-judge/configs/"+j.ID+"/alignment/report?configVersion=7", nil, nil)
		require.ErrorIs(t, err, judge.ErrVersionNotFound)
		_, err = k.Org(t).Call(ctx, http.MethodGet, "/api/llm-judge/configs/"+j.ID+"/alignment/report", nil, nil)
		require.ErrorIs(t, err, judge.ErrNotFound)

		run, err = c.GetEvaluationRun(ctx, e.ID, run.ID)
		require.NoError(t, err)
		corrected := run.Statistics.Corrected["judge:quality"]
		require.Equal(t, "ppi", corrected.Estimator, "a run knows labels that came later")
		require.Equal(t, corrected.Headline.Value, run.Statistics.Metrics["judge:quality"].Value)
		require.InDelta(t, *corrected.Headline.Value, run.Metrics["judge:quality"], 1e-12)
		require.NotEqual(t, corrected.Judge.Value, corrected.Headline.Value)
		decided, err = c.DecideEvaluationRun(ctx, e.ID, run.ID, gate)
		require.NoError(t, err)
		require.Equal(t, "PASS", decided.Verdict)

		again, err := c.StartRun(ctx, e.ID, nil)
		require.NoError(t, err)
		again = c.Ended(t, again)
		require.Contains(t, string(c.Content(t, c.Artifacts(t, again)["report.html"]).Body), "As people would give it, estimated from 60 labels. The judge’s own mean is")
		measured, err := c.CompareRuns(ctx, e.ID, run.ID, next.ID, "")
		require.NoError(t, err)
		require.Equal(t, "ppi", measured.Metrics[0].Judge.Estimator)
		require.EqualValues(t, 60, measured.Metrics[0].Judge.Labels)
		require.Zero(t, *measured.Metrics[0].Delta)
		require.Negative(t, *measured.Metrics[0].CILow)
		require.Equal(t, "unchanged", measured.Metrics[0].Verdict)
		decided, err = c.DecideEvaluationRun(ctx, e.ID, next.ID, claim)
		require.NoError(t, err)
		require.Equal(t, "PASS", decided.Verdict)

		_, err = c.UpdateJudgeConfig(ctx, j.ID, map[string]any{"repeats": 3})
		require.NoError(t, err)
		later, err := c.StartRun(ctx, e.ID, nil)
		require.NoError(t, err)
		require.Equal(t, "completed", c.Ended(t, later).Status)
		other, err := c.CompareRuns(ctx, e.ID, run.ID, later.ID, "")
		require.NoError(t, err)
		require.False(t, other.Comparable, "versions of a judge are different instruments")
		require.Equal(t, "judge_or_system", other.Metrics[0].Judge.Attribution)
		require.Nil(t, other.Metrics[0].Delta)
	})

	t.Run("whoever does not answer does not win by it", func(t *testing.T) {
		t.Parallel()
		ctx, c := t.Context(), k.Org(t)
		_, err := c.CreateJudgeConfig(ctx, map[string]any{"key": "quality", "starter": "helpfulness", "provider": "simulated", "model": "judge", "labelSampling": "random"})
		require.NoError(t, err)
		d := c.Dataset(t, testkit.NewDataset{})
		items := make([]testkit.Item, 200)
		for i := range items {
			items[i] = testkit.Item{Input: fmt.Sprint("question ", i)}
			if i%2 == 0 {
				items[i].Output, items[i].Labels = fmt.Sprintf("answer %d [[score:1]]", i), map[string]any{"quality": 1}
			}
		}
		_, err = c.AddItems(ctx, d.ID, items)
		require.NoError(t, err)
		e := c.Evaluation(t, d.ID, map[string]any{"metrics": []string{"judge:quality"}, "target": map[string]any{"type": "recorded"}})
		run, err := c.StartRun(ctx, e.ID, nil)
		require.NoError(t, err)
		run = c.Ended(t, run)
		require.Equal(t, "completed", run.Status, run.Error)
		require.InDelta(t, 1.0, run.Metrics["judge:quality"], 1e-12, "what is answered is good")
		require.InDelta(t, 0.5, *run.Statistics.Gates["judge:quality"].Value, 1e-9)
		decided, err := c.DecideEvaluationRun(ctx, e.ID, run.ID, map[string]any{"requirements": []string{"judge:quality>=0.9"}})
		require.NoError(t, err)
		require.Equal(t, "FAIL", decided.Verdict)
		require.EqualValues(t, 100, decided.Rulings[0].Estimate.Missing.Rows)
	})

	t.Run("a label is about the answer that it was given to", func(t *testing.T) {
		t.Parallel()
		ctx, c := t.Context(), k.Org(t)
		j, err := c.CreateJudgeConfig(ctx, map[string]any{"key": "quality", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
		require.NoError(t, err)
		d := c.Dataset(t, testkit.NewDataset{})
		train := "train"
		items := judgedItems(4, func(int) bool { return true })
		items[1].Split = &train
		added, err := c.AddItems(ctx, d.ID, items)
		require.NoError(t, err)
		e := c.Evaluation(t, d.ID, map[string]any{"metrics": []string{"judge:quality"}, "target": map[string]any{"type": "recorded"}})
		run, err := c.StartRun(ctx, e.ID, nil)
		require.NoError(t, err)
		require.Equal(t, "completed", c.Ended(t, run).Status)
		_, err = c.UpdateDatasetItem(ctx, d.ID, added.Items[2].ID, map[string]any{"output": "another answer"})
		require.NoError(t, err)
		all, err := c.GetJudgeAlignment(ctx, "configId="+j.ID)
		require.NoError(t, err)
		require.EqualValues(t, 2, all.Alignments[0].N, "one item is for training, and one has another answer now")
		_, err = c.UpdateDatasetItem(ctx, d.ID, added.Items[3].ID, map[string]any{"labels": map[string]any{"quality": "fail"}})
		require.NoError(t, err)
		all, err = c.GetJudgeAlignment(ctx, "configId="+j.ID)
		require.NoError(t, err)
		require.EqualValues(t, 2, all.Alignments[0].N)
		require.Len(t, all.Alignments[0].Disagreements, 1, "labels that people change later count")
		require.Equal(t, added.Items[3].ID, *all.Alignments[0].Disagreements[0].TestCaseID)
	})

	t.Run("what is to be labelled next is a random sample", func(t *testing.T) {
		t.Parallel()
		ctx, c := t.Context(), k.Org(t)
		j, err := c.CreateJudgeConfig(ctx, map[string]any{"key": "quality", "starter": "helpfulness", "provider": "simulated", "model": "judge", "labelSampling": "random"})
		require.NoError(t, err)
		d := c.Dataset(t, testkit.NewDataset{})
		_, err = c.AddItems(ctx, d.ID, judgedItems(60, func(int) bool { return false }))
		require.NoError(t, err)
		e := c.Evaluation(t, d.ID, map[string]any{"metrics": []string{"judge:quality"}, "target": map[string]any{"type": "recorded"}})
		run, err := c.StartRun(ctx, e.ID, nil)
		require.NoError(t, err)
		require.Equal(t, "completed", c.Ended(t, run).Status)

		first, err := c.ListJudgeNextLabels(ctx, j.ID, "size=20&evaluationRunId="+run.ID)
		require.NoError(t, err)
		require.EqualValues(t, 60, first.Left)
		require.Equal(t, []string{"fail", "pass"}, first.Labels)
		require.Len(t, first.Next, 20)
		for _, n := range first.Next {
			require.Equal(t, d.ID, api.Value(n.DatasetID))
			_, err = c.UpdateDatasetItem(ctx, api.Value(n.DatasetID), api.Value(n.TestCaseID), map[string]any{"labels": map[string]any{first.LabelKey: "pass"}})
			require.NoError(t, err)
		}
		second, err := c.ListJudgeNextLabels(ctx, j.ID, "size=100&evaluationRunId="+run.ID)
		require.NoError(t, err)
		require.EqualValues(t, 20, second.Labelled)
		require.Len(t, second.Next, 40)
		require.NotContains(t, second.Next, first.Next[0])
		run, err = c.GetEvaluationRun(ctx, e.ID, run.ID)
		require.NoError(t, err)
		require.Equal(t, "ppi", run.Statistics.Corrected["judge:quality"].Estimator)
	})

	t.Run("a judge that does not exist stops the run", func(t *testing.T) {
		t.Parallel()
		ctx, c := t.Context(), k.Org(t)
		d := c.Dataset(t, testkit.NewDataset{})
		_, err := c.AddItems(ctx, d.ID, judgedItems(2, func(int) bool { return false }))
		require.NoError(t, err)
		e := c.Evaluation(t, d.ID, map[string]any{"metrics": []string{"judge:charm"}, "target": map[string]any{"type": "recorded"}})
		require.Len(t, e.Warnings, 1)
		run, err := c.StartRun(ctx, e.ID, nil)
		require.NoError(t, err)
		run = c.Ended(t, run)
		require.Equal(t, "failed", run.Status)
		require.Equal(t, "metric_unresolved", run.Error.Code)
		_, err = c.CreateJudgeConfig(ctx, map[string]any{"key": "charm", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
		require.NoError(t, err)
		run, err = c.StartRun(ctx, e.ID, nil)
		require.NoError(t, err)
		require.Equal(t, "completed", c.Ended(t, run).Status)
	})
}
