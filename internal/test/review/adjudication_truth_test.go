package review_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/adjudication"
	"github.com/assayhq/assay/internal/test/testkit"
)

var promoted = map[string]any{"justification": "It is typical."}

func TestGroundTruthComesFromTheDecision(t *testing.T) {
	t.Parallel()
	s := set(t)
	i, truth := s.closed(t, "Why?", "So.", "needs_revision")
	require.Equal(t, "closed", i.Status)
	require.Equal(t, truth.ID, *i.GroundTruthID)
	require.Equal(t, "fail", *truth.Label, "what needs a revision does not pass as it is")
	require.Equal(t, why, truth.Rationale)
	require.Equal(t, i.ContentDigest, truth.ContentDigest)
	require.Equal(t, "active", truth.Status)
	require.EqualValues(t, 1, truth.Version)
	got, err := s.GetGroundTruth(t.Context(), truth.ID)
	require.NoError(t, err)
	require.Equal(t, truth, got)

	_, err = s.decider.CreateGroundTruth(t.Context(), i.ID, map[string]any{})
	require.ErrorIs(t, err, adjudication.ErrHasTruth)
	_, err = s.decider.CreateGroundTruth(t.Context(), i.ID, map[string]any{"supersedes": truth.ID + 1})
	requireField(t, err, "/supersedes", "unknown_reference")
	second, err := s.decider.CreateGroundTruth(t.Context(), i.ID, map[string]any{"supersedes": truth.ID, "label": "pass", "expectedOutput": "Because."})
	require.NoError(t, err)
	require.EqualValues(t, 2, second.Version)
	require.Equal(t, truth.ID, *second.SupersedesID)
	got, err = s.GetGroundTruth(t.Context(), truth.ID)
	require.NoError(t, err)
	require.Equal(t, "superseded", got.Status)

	_, err = s.UpdateAdjudicationItem(t.Context(), i.ID, map[string]any{"status": "open", "reason": "It was wrong."})
	require.ErrorIs(t, err, adjudication.ErrTruthExists)
	reopened, err := s.UpdateAdjudicationItem(t.Context(), i.ID, map[string]any{"status": "open", "reason": "It was wrong.", "revokeGroundTruth": true})
	require.NoError(t, err)
	require.Nil(t, reopened.GroundTruthID)
	got, err = s.GetGroundTruth(t.Context(), second.ID)
	require.NoError(t, err)
	require.Equal(t, "revoked", got.Status)
	require.Equal(t, "It was wrong.", *got.Reason)
}

//nolint:paralleltest // the steps share an organization, and what one leaves counts in the next
func TestCalibrationAndGoldenSets(t *testing.T) {
	t.Parallel()
	s := set(t)

	t.Run("the default set is made once and adding twice is adding once", func(t *testing.T) {
		i, truth := s.closed(t, "One?", "So.", "pass")
		other, _ := s.closed(t, "Two?", "So.", "pass")
		var wait sync.WaitGroup
		for _, id := range []int64{i.ID, other.ID, i.ID, other.ID} {
			wait.Go(func() {
				_, err := s.AddAdjudicationItemToCalibration(t.Context(), id, map[string]any{"split": "test"})
				if err != nil {
					require.Equal(t, "dataset_changing", adjudicationReason(t, err))
				}
			})
		}
		wait.Wait()
		got, err := s.AddAdjudicationItemToCalibration(t.Context(), i.ID, map[string]any{"split": "test"})
		require.NoError(t, err)
		require.Len(t, got.Entries, 1)
		e := got.Entries[0]
		require.Equal(t, truth.ID, e.GroundTruthID)
		require.Equal(t, e.DatasetItemID, *got.CalibrationItemID)
		sets, err := s.ListDatasets(t.Context(), "includeTotal=true&purpose=calibration")
		require.NoError(t, err)
		require.Len(t, sets.Datasets, 1)
		item, err := s.GetDatasetItem(t.Context(), e.DatasetID, e.DatasetItemID, "")
		require.NoError(t, err)
		require.Equal(t, map[string]any{"label": "pass"}, item.Labels)
		require.Equal(t, "So.", item.Output)
		again, err := s.GetAdjudicationItem(t.Context(), i.ID)
		require.NoError(t, err)
		require.Equal(t, got, again)
	})

	t.Run("the split follows from the content", func(t *testing.T) {
		i, _ := s.closed(t, "Three?", "So.", "fail")
		got, err := s.AddAdjudicationItemToCalibration(t.Context(), i.ID, map[string]any{})
		require.NoError(t, err)
		require.NotNil(t, got.Entries[0].Split)
		second, err := s.CreateDataset(t.Context(), testkit.NewDataset{Name: "Another", Purpose: new("calibration")})
		require.NoError(t, err)
		again, err := s.AddAdjudicationItemToCalibration(t.Context(), i.ID, map[string]any{"calibrationSetId": second.ID})
		require.NoError(t, err)
		require.Equal(t, *got.Entries[0].Split, *again.Entries[1].Split)
	})

	t.Run("a golden item knows what is right", func(t *testing.T) {
		i, _ := s.closed(t, "Four?", "Right.", "pass")
		got, err := s.PromoteAdjudicationItemToGolden(t.Context(), i.ID, map[string]any{"justification": "It is typical.", "weight": 2, "tags": []string{"core"}})
		require.NoError(t, err)
		e := got.Entries[0]
		item, err := s.GetDatasetItem(t.Context(), e.DatasetID, e.DatasetItemID, "")
		require.NoError(t, err)
		require.Equal(t, "Right.", item.ExpectedOutput)
		require.InDelta(t, 2, item.Weight, 0)
		_, err = s.AddItems(t.Context(), e.DatasetID, []testkit.Item{{Input: "x"}})
		require.ErrorIs(t, err, dataset.ErrGolden)

		line, err := s.GetDatasetItemLineage(t.Context(), e.DatasetID, e.DatasetItemID, "")
		require.NoError(t, err)
		require.Len(t, line.Origins, 1)
		from := line.Origins[0]
		require.Equal(t, i.ContentDigest, line.ContentDigest)
		require.Equal(t, *i.GroundTruthID, from.GroundTruth.ID)
		require.Equal(t, s.member.ID, *from.Decision.DecidedBy.ID)
		require.Equal(t, i.ID, from.AdjudicationItemID)
		require.Equal(t, *i.Subject.TraceID, *from.Subject.TraceID)
	})

	t.Run("other sets are refused", func(t *testing.T) {
		i, _ := s.closed(t, "Five?", "So.", "pass")
		general := s.Dataset(t, testkit.NewDataset{}).ID
		_, err := s.AddAdjudicationItemToCalibration(t.Context(), i.ID, map[string]any{"calibrationSetId": general})
		requireField(t, err, "/calibrationSetId", "unknown_reference")
		_, err = s.PromoteAdjudicationItemToGolden(t.Context(), i.ID, map[string]any{"datasetId": general, "justification": "x"})
		requireField(t, err, "/datasetId", "unknown_reference")
		_, err = s.PromoteAdjudicationItemToGolden(t.Context(), i.ID, map[string]any{})
		requireField(t, err, "/justification", "required")
		_, err = s.AddAdjudicationItemToCalibration(t.Context(), i.ID, map[string]any{"judgeConfigId": "4711"})
		requireField(t, err, "/judgeConfigId", "unknown_reference")
	})
}

func requireLeak(t testing.TB, err error) {
	t.Helper()
	require.ErrorIs(t, err, dataset.ErrLeakage)
	f, _ := fault.From(err)
	require.Equal(t, "precondition_missing", f.Reason)
	require.Equal(t, "leakage", f.Details["cause"])
}

//nolint:paralleltest // the steps share an organization, and what one leaves counts in the next
func TestWhatTunesJudgesNeverGatesReleases(t *testing.T) {
	t.Parallel()
	s := set(t)

	t.Run("tuned first", func(t *testing.T) {
		i, _ := s.closed(t, "One?", "So.", "pass")
		_, err := s.AddAdjudicationItemToCalibration(t.Context(), i.ID, map[string]any{"split": "train"})
		require.NoError(t, err)
		_, err = s.PromoteAdjudicationItemToGolden(t.Context(), i.ID, promoted)
		requireLeak(t, err)
		// The same answer elsewhere is the same content.
		twin, _ := s.closed(t, "One?", "So.", "fail")
		_, err = s.PromoteAdjudicationItemToGolden(t.Context(), twin.ID, promoted)
		requireLeak(t, err)
	})

	t.Run("golden first", func(t *testing.T) {
		i, _ := s.closed(t, "Two?", "So.", "pass")
		_, err := s.PromoteAdjudicationItemToGolden(t.Context(), i.ID, promoted)
		require.NoError(t, err)
		_, err = s.AddAdjudicationItemToCalibration(t.Context(), i.ID, map[string]any{"split": "dev"})
		requireLeak(t, err)
		_, err = s.AddAdjudicationItemToCalibration(t.Context(), i.ID, map[string]any{"split": "test"})
		require.NoError(t, err, "measuring a judge on it is fine")
		sets, err := s.ListDatasets(t.Context(), "includeTotal=true&purpose=calibration")
		require.NoError(t, err)
		_, err = s.AddItems(t.Context(), sets.Datasets[0].ID, []testkit.Item{{Input: "Two?", Output: "So.", Split: new("train")}})
		requireLeak(t, err)
		got, err := s.GetAdjudicationItem(t.Context(), i.ID)
		require.NoError(t, err)
		_, err = s.UpdateDatasetItem(t.Context(), sets.Datasets[0].ID, *got.CalibrationItemID, map[string]any{"split": "train"})
		requireLeak(t, err)
	})

	t.Run("items that were written directly count", func(t *testing.T) {
		direct, err := s.CreateDataset(t.Context(), testkit.NewDataset{Name: "Direct", Purpose: new("calibration")})
		require.NoError(t, err)
		_, err = s.AddItems(t.Context(), direct.ID, []testkit.Item{{Input: "Three?", Output: "So.", Split: new("dev"), Labels: map[string]any{"x": "pass"}}})
		require.NoError(t, err)
		i, _ := s.closed(t, "Three?", "So.", "pass")
		_, err = s.PromoteAdjudicationItemToGolden(t.Context(), i.ID, promoted)
		requireLeak(t, err)
	})

	t.Run("another answer to the same question counts", func(t *testing.T) {
		gold, _ := s.closed(t, "Same?", "So.", "pass")
		_, err := s.PromoteAdjudicationItemToGolden(t.Context(), gold.ID, promoted)
		require.NoError(t, err)
		other, _ := s.closed(t, "Same?", "Otherwise.", "fail")
		_, err = s.AddAdjudicationItemToCalibration(t.Context(), other.ID, map[string]any{"split": "train"})
		requireLeak(t, err)
		_, err = s.AddAdjudicationItemToCalibration(t.Context(), other.ID, map[string]any{"split": "test"})
		require.NoError(t, err, "measuring a judge on it is fine")
		// When the golden item is taken back, the question is free.
		_, err = s.UpdateAdjudicationItem(t.Context(), gold.ID, map[string]any{"status": "open", "reason": "No.", "revokeGroundTruth": true})
		require.NoError(t, err)
		free, _ := s.closed(t, "Same?", "A third.", "fail")
		_, err = s.AddAdjudicationItemToCalibration(t.Context(), free.ID, map[string]any{"split": "train"})
		require.NoError(t, err)
	})

	t.Run("however many try at once", func(t *testing.T) {
		for round := range 4 {
			question := fmt.Sprint("Race ", round)
			var ids []int64
			for range 6 {
				i, _ := s.closed(t, question, "So.", "pass")
				ids = append(ids, i.ID)
			}
			errs := make([]error, 2*len(ids))
			var wait sync.WaitGroup
			for n, id := range ids {
				wait.Go(func() { _, errs[2*n] = s.PromoteAdjudicationItemToGolden(t.Context(), id, promoted) })
				wait.Go(func() {
					_, errs[2*n+1] = s.AddAdjudicationItemToCalibration(t.Context(), id, map[string]any{"split": "train"})
				})
			}
			wait.Wait()
			golden, tuning := 0, 0
			for n, err := range errs {
				switch {
				case err == nil && n%2 == 0:
					golden++
				case err == nil:
					tuning++
				case adjudicationReason(t, err) == "dataset_changing", adjudicationReason(t, err) == "version_conflict":
				default:
					requireLeak(t, err)
				}
			}
			require.NotEqual(t, golden > 0, tuning > 0, "%d golden and %d tuning", golden, tuning)
		}
	})

	t.Run("content is free again when its ground truth is revoked", func(t *testing.T) {
		i, _ := s.closed(t, "Four?", "So.", "pass")
		_, err := s.PromoteAdjudicationItemToGolden(t.Context(), i.ID, promoted)
		require.NoError(t, err)
		_, err = s.UpdateAdjudicationItem(t.Context(), i.ID, map[string]any{"status": "open", "reason": "Not typical.", "revokeGroundTruth": true})
		require.NoError(t, err)
		s.decided(t, i, "pass")
		_, err = s.decider.CreateGroundTruth(t.Context(), i.ID, map[string]any{})
		require.NoError(t, err)
		_, err = s.AddAdjudicationItemToCalibration(t.Context(), i.ID, map[string]any{"split": "train"})
		require.NoError(t, err)
	})
}

//nolint:paralleltest // the steps share an organization, and what one leaves counts in the next
func TestFrozenVersionsNeverChange(t *testing.T) {
	t.Parallel()
	s := set(t)
	i, truth := s.closed(t, "Why?", "So.", "pass")
	got, err := s.PromoteAdjudicationItemToGolden(t.Context(), i.ID, promoted)
	require.NoError(t, err)
	e := got.Entries[0]
	v, err := s.Freeze(t.Context(), e.DatasetID, "first")
	require.NoError(t, err)
	_, err = s.UpdateAdjudicationItem(t.Context(), i.ID, map[string]any{"status": "open", "reason": "Wrong.", "revokeGroundTruth": true})
	require.ErrorIs(t, err, adjudication.ErrFrozen)

	_, err = s.decider.CreateGroundTruth(t.Context(), i.ID, map[string]any{"supersedes": truth.ID, "label": "fail", "expectedOutput": "Because."})
	require.NoError(t, err)
	now, err := s.GetDatasetItem(t.Context(), e.DatasetID, e.DatasetItemID, "")
	require.NoError(t, err)
	require.Equal(t, "Because.", now.ExpectedOutput)
	require.Equal(t, map[string]any{"label": "fail"}, now.Labels)
	then, err := s.GetDatasetItem(t.Context(), e.DatasetID, e.DatasetItemID, fmt.Sprint("datasetVersion=", v.DatasetVersion))
	require.NoError(t, err)
	require.Equal(t, "So.", then.ExpectedOutput)
	line, err := s.GetDatasetItemLineage(t.Context(), e.DatasetID, e.DatasetItemID, "")
	require.NoError(t, err)
	require.EqualValues(t, 2, line.Origins[0].GroundTruth.Version)
	frozen, err := s.GetDatasetVersion(t.Context(), e.DatasetID, v.DatasetVersion)
	require.NoError(t, err)
	require.Equal(t, v.Digest, frozen.Digest)

	t.Run("and keep their content golden", func(t *testing.T) {
		_, err := s.UpdateAdjudicationItem(t.Context(), i.ID, map[string]any{"status": "open", "reason": "Wrong.", "revokeGroundTruth": true})
		require.NoError(t, err, "no frozen version has the second ground truth")
		_, err = s.decider.CreateGroundTruth(t.Context(), s.decided(t, i, "fail").ID, map[string]any{})
		require.NoError(t, err)
		_, err = s.AddAdjudicationItemToCalibration(t.Context(), i.ID, map[string]any{"split": "train"})
		requireLeak(t, err)
	})

	t.Run("and what they have, although it was deleted since", func(t *testing.T) {
		i, _ := s.closed(t, "Who?", "Me.", "pass")
		got, err := s.AddAdjudicationItemToCalibration(t.Context(), i.ID, map[string]any{"split": "test"})
		require.NoError(t, err)
		e := got.Entries[0]
		_, err = s.Freeze(t.Context(), e.DatasetID, "first")
		require.NoError(t, err)
		require.NoError(t, s.DeleteDatasetItem(t.Context(), e.DatasetID, e.DatasetItemID))
		_, err = s.UpdateAdjudicationItem(t.Context(), i.ID, map[string]any{"status": "open", "reason": "Wrong.", "revokeGroundTruth": true})
		require.ErrorIs(t, err, adjudication.ErrFrozen)
	})
}

func TestNewGroundTruthLeavesNothingOfTheOld(t *testing.T) {
	t.Parallel()
	s := set(t)
	j := s.judge(t, "helpful")
	r, err := s.EvaluateWithJudge(t.Context(), map[string]any{"configId": j.ID, "input": "Why?", "output": "So [[score:1]]"})
	require.NoError(t, err)
	i, err := s.CreateAdjudicationItem(t.Context(), map[string]any{"subject": map[string]any{"judgeResultIds": []string{r.ID}}})
	require.NoError(t, err)
	truth, err := s.decider.CreateGroundTruth(t.Context(), s.decided(t, i, "pass").ID, map[string]any{})
	require.NoError(t, err)
	got, err := s.AddAdjudicationItemToCalibration(t.Context(), i.ID, map[string]any{"split": "test"})
	require.NoError(t, err)
	e := got.Entries[0]
	before, err := s.GetDatasetItem(t.Context(), e.DatasetID, e.DatasetItemID, "")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"helpful": "pass"}, before.Labels)
	_, err = s.decider.CreateGroundTruth(t.Context(), i.ID, map[string]any{"supersedes": truth.ID, "label": "off the scale"})
	require.NoError(t, err)
	after, err := s.GetDatasetItem(t.Context(), e.DatasetID, e.DatasetItemID, "")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"label": "off the scale"}, after.Labels)
}

func TestGroundTruthIsNotStatedByWhoMayNotDecide(t *testing.T) {
	t.Parallel()
	s := set(t)
	_, err := s.UpdateOrganization(t.Context(), map[string]any{"separationOfDuties": "key_owner"})
	require.NoError(t, err)
	i := s.decided(t, s.opened(t, "Why?", "So.", nil), "pass")
	s.assessed(t, i)
	_, err = s.decider.CreateGroundTruth(t.Context(), i.ID, map[string]any{"label": "mine"})
	require.ErrorIs(t, err, adjudication.ErrSelfApproval)
	_, err = s.decider.CreateGroundTruth(t.Context(), i.ID, map[string]any{})
	require.NoError(t, err, "what was decided may be made ground truth by anyone")
}

// TestTheDatabaseHoldsTheInvariants writes what no operation would.
func TestTheDatabaseHoldsTheInvariants(t *testing.T) {
	t.Parallel()
	s := set(t)
	i, truth := s.closed(t, "Why?", "So.", "pass")
	got, err := s.PromoteAdjudicationItemToGolden(t.Context(), i.ID, promoted)
	require.NoError(t, err)
	e := got.Entries[0]
	_, err = s.Freeze(t.Context(), e.DatasetID, "")
	require.NoError(t, err)
	calibration, err := s.CreateDataset(t.Context(), testkit.NewDataset{Name: "Other", Purpose: new("calibration")})
	require.NoError(t, err)
	undecided := s.opened(t, "Who?", "Me.", nil)
	revoked, _ := s.closed(t, "When?", "Now.", "pass")
	_, err = s.UpdateAdjudicationItem(t.Context(), revoked.ID, map[string]any{"status": "open", "reason": "No.", "revokeGroundTruth": true})
	require.NoError(t, err)

	conn := s.kit.Runtime(t, s.Org)
	fill := strings.NewReplacer("{org}", s.Org.String(), "{golden}", e.DatasetID, "{item}", e.DatasetItemID, "{calibration}", calibration.ID,
		"{undecided}", strconv.FormatInt(undecided.ID, 10), "{adjudicated}", strconv.FormatInt(i.ID, 10), "{decision}", strconv.FormatInt(i.Decision.ID, 10), "{truth}", strconv.FormatInt(truth.ID, 10), "{revoked}", strconv.FormatInt(*revoked.GroundTruthID, 10), "{reopened}", strconv.FormatInt(revoked.ID, 10))
	for constraint, statement := range map[string]string{
		"ground_truths_org_id_item_id_decision_id_decision_fkey": `INSERT INTO ground_truths (org_id, item_id, decision_id, decision, label, rationale, decided_by, created_by, number, status, content_digest, created_at)
			VALUES ('{org}', {undecided}, {decision}, 'pass', 'pass', '', 'system', 'system', 1, 'active', decode(repeat('00', 32), 'hex'), now())`,
		"ground_truth_entries_active": `INSERT INTO ground_truth_entries (org_id, item_id, ground_truth_id, purpose, dataset_id, dataset_item_id, justification, created_by, created_at)
			VALUES ('{org}', {reopened}, {revoked}, 'golden', {golden}, 1, '', 'system', now())`,
		"assessed_contents_one_side": `INSERT INTO dataset_items (org_id, dataset_id, valid_from, digest, content, split, created_at, assessed)
			SELECT org_id, {calibration}, 1, digest, content, 'train', now(), assessed FROM dataset_items WHERE dataset_id = {golden} AND id = {item}`,
		"ground_truth_entries_once": `INSERT INTO ground_truth_entries (org_id, item_id, ground_truth_id, purpose, dataset_id, dataset_item_id, justification, created_by, created_at)
			VALUES ('{org}', {adjudicated}, {truth}, 'golden', {golden}, {item}, '', 'system', now())`,
		"dataset_items_frozen": `UPDATE dataset_items SET content = '{}' WHERE dataset_id = {golden} AND id = {item}`,
	} {
		_, err := conn.Exec(t.Context(), fill.Replace(statement))
		require.True(t, postgres.Violates(err, constraint), "%s: %v", constraint, err)
	}
	_, err = conn.Exec(t.Context(), fill.Replace(`INSERT INTO dataset_items (org_id, dataset_id, valid_from, digest, content, split, created_at, assessed)
		SELECT org_id, {calibration}, 1, digest, '{"input": "Why?", "output": "Otherwise."}', 'train', now(), decode(repeat('07', 32), 'hex') FROM dataset_items WHERE dataset_id = {golden} AND id = {item}`))
	require.True(t, postgres.Violates(err, "assessed_contents_one_side"), "another answer to the same question: %v", err)
	_, err = conn.Exec(t.Context(), fill.Replace("DELETE FROM dataset_items WHERE dataset_id = {golden} AND id = {item}"))
	require.True(t, postgres.Violates(err, "dataset_items_frozen"), "%v", errors.Unwrap(err))
}
