package review_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// TestTheLoop follows answers from a run to what they change: a judge is measured by
// what people decided, and a release is gated by it.
func TestTheLoop(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.kit.Work(t)
	j := s.judge(t, "helpfulness")

	// A run whose judge calls every answer good.
	questions := s.Dataset(t, testkit.NewDataset{})
	var items []testkit.Item
	for n := range 6 {
		items = append(items, testkit.Item{Input: fmt.Sprint("Question ", n), Output: fmt.Sprintf("Answer %d [[score:1]]", n)})
	}
	added, err := s.AddItems(t.Context(), questions.ID, items)
	require.NoError(t, err)
	run := func(dataset string) testkit.Run {
		e := s.Evaluation(t, dataset, map[string]any{"metrics": []string{"judge:helpfulness"}})
		r, err := s.StartRun(t.Context(), e.ID, map[string]any{})
		require.NoError(t, err)
		r = s.Ended(t, r)
		require.Equal(t, "completed", r.Status)
		return r
	}
	first := run(questions.ID)

	// A person finds that two of the answers are bad: the judge is overturned.
	var adjudicated []testkit.AdjudicationItem
	for n, verdict := range []string{"fail", "fail", "pass", "pass", "pass"} {
		i, err := s.CreateAdjudicationItem(t.Context(), map[string]any{"subject": map[string]any{"evaluationRunId": first.RunID, "testCaseId": added.Items[n].ID}})
		require.NoError(t, err)
		require.Equal(t, "judge:helpfulness", i.Candidates[0].Origin)
		i = s.decided(t, i, verdict)
		require.Equal(t, verdict == "fail", *i.Decision.OverturnsJudges)
		_, err = s.decider.CreateGroundTruth(t.Context(), i.ID, map[string]any{})
		require.NoError(t, err)
		adjudicated = append(adjudicated, i)
	}
	sum, err := s.GetAdjudicationQueueSummary(t.Context())
	require.NoError(t, err)
	require.InDelta(t, 0.4, *sum.JudgeOverturnRate, 1e-9)

	// Four of them measure the judge, which knew nothing of it so far.
	before, err := s.GetJudgeAlignment(t.Context(), "configId="+j.ID)
	require.NoError(t, err)
	var set string
	for _, i := range adjudicated[:4] {
		out, err := s.AddAdjudicationItemToCalibration(t.Context(), i.ID, map[string]any{"split": "test", "judgeConfigId": j.ID})
		require.NoError(t, err)
		set = out.Entries[0].DatasetID
	}
	run(set)
	after, err := s.GetJudgeAlignment(t.Context(), "configId="+j.ID+"&calibrationSetId="+set)
	require.NoError(t, err)
	if len(before.Alignments) > 0 {
		require.Zero(t, before.Alignments[0].N)
	}
	require.EqualValues(t, 4, after.Alignments[0].N)
	require.EqualValues(t, 2, after.Alignments[0].Confusion.Fp, "the judge passed what people failed")
	require.EqualValues(t, 2, after.Alignments[0].Confusion.Tp)

	// One gates releases, and so never tunes the judge.
	golden, err := s.PromoteAdjudicationItemToGolden(t.Context(), adjudicated[4].ID, promoted)
	require.NoError(t, err)
	entry := golden.Entries[0]
	e := s.Evaluation(t, entry.DatasetID, map[string]any{"metrics": []string{"exact_match"}})
	gated, err := s.StartRun(t.Context(), e.ID, map[string]any{})
	require.NoError(t, err)
	gated = s.Ended(t, gated)
	d, err := s.DecideEvaluationRun(t.Context(), e.ID, gated.RunID, map[string]any{"requirements": []string{"exact_match>=0.1"}})
	require.NoError(t, err)
	require.NotEmpty(t, d.Verdict)
	require.InDelta(t, 1, *gated.Overall, 1e-9, "the recorded answer is the right one")
	_, err = s.AddAdjudicationItemToCalibration(t.Context(), adjudicated[4].ID, map[string]any{"split": "train"})
	requireLeak(t, err)

	// And everything leads back to the run.
	line, err := s.GetDatasetItemLineage(t.Context(), entry.DatasetID, entry.DatasetItemID, "")
	require.NoError(t, err)
	require.Equal(t, first.RunID, *line.Origins[0].Subject.EvaluationRunID)
	require.Equal(t, s.member.ID, *line.Origins[0].Decision.DecidedBy.ID)
}
