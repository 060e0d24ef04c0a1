package adjudication

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

func (s *Service) registerTruths(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "createGroundTruth", Method: http.MethodPost, Path: "/api/adjudication/items/{id}/ground-truth", Tag: tag, Scope: principal.AdminOrg, Status: 201, Strict: true, Person: true,
		Summary: "Create ground truth",
		Description: "Makes the decision the ground truth of the answer and closes the item. What is not sent comes from the decision. An inconclusive or not_applicable decision has no ground truth: 409 `precondition_missing`. " +
			"To replace ground truth, name it in `supersedes`: items of datasets that rest on it get the new one, and frozen versions stay as they are. A person states ground truth: anyone else gets 403 `not_a_person`.",
	}, s.postTruth)
	httpapi.Register(e, httpapi.Op{
		ID: "getGroundTruth", Method: http.MethodGet, Path: "/api/adjudication/ground-truths/{id}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get ground truth",
		Description: "Returns ground truth, also one that is superseded or revoked.",
	}, s.getTruth)
	httpapi.Register(e, httpapi.Op{
		ID: "addAdjudicationItemToCalibration", Method: http.MethodPost, Path: "/api/adjudication/items/{id}/add-to-calibration", Tag: tag, Scope: principal.AdminOrg, Status: 200, Strict: true,
		Summary: "Add ground truth to a calibration dataset",
		Description: "Adds the answer with its ground truth as a label to a calibration dataset, by which judges are tuned and measured. Without `split`, the split follows from the content: within each label 20 % train, 30 % dev and 50 % test. " +
			"Content of a golden dataset cannot enter train or dev: 409 `precondition_missing` with `cause` `leakage`. Adding twice to the same dataset returns the item as it is.",
	}, s.postCalibration)
	httpapi.Register(e, httpapi.Op{
		ID: "promoteAdjudicationItemToGolden", Method: http.MethodPost, Path: "/api/adjudication/items/{id}/promote-to-golden", Tag: tag, Scope: principal.AdminOrg, Status: 200, Strict: true,
		Summary: "Promote ground truth to a golden dataset",
		Description: "Adds the answer with its ground truth to a golden dataset, by which releases are gated. Without an expected output, an answer that passes is the expected output. " +
			"Content that is or was in the split train or dev of a calibration dataset cannot become golden: 409 `precondition_missing` with `cause` `leakage`. Promoting twice to the same dataset returns the item as it is.",
	}, s.postGolden)
}

// TruthPath is the path of a ground truth.
type TruthPath struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The id of the ground truth."`
}

type truthInput struct {
	Path
	Body truthInputBody
}

type truthInputBody struct {
	Label          string       `json:"label,omitempty" maxLength:"200" doc:"Label; that of the decision, or pass or fail, if neither label nor score is sent."`
	Score          *float64     `json:"score,omitempty" minimum:"0" maximum:"1" doc:"Score."`
	ExpectedOutput httpapi.JSON `json:"expectedOutput,omitzero" doc:"What is right: any JSON value; that of the decision if it is not sent."`
	Rationale      string       `json:"rationale,omitempty" maxLength:"10000" doc:"Why; that of the decision if it is not sent."`
	Supersedes     int64        `json:"supersedes,omitzero" minimum:"1" maximum:"9007199254740991" doc:"Active ground truth of the item that this one replaces."`
}

type createdTruthOutput struct {
	Location string `header:"Location" doc:"Path of the ground truth."`
	Body     truthBody
}

// truthBody is ground truth on the wire.
type truthBody struct {
	ID             int64                      `json:"id" doc:"Id of the ground truth."`
	ItemID         int64                      `json:"item_id" doc:"Adjudication item that it comes from."`
	DecisionID     int64                      `json:"decision_id" doc:"Decision that it rests on."`
	TestCaseID     httpapi.Null[httpapi.ID]   `json:"test_case_id" doc:"Item of the dataset that the answer is to; null if the answer is not from a run."`
	Label          *string                    `json:"label" doc:"Label."`
	Score          *float64                   `json:"score" doc:"Score from 0 to 1."`
	ExpectedOutput httpapi.JSON               `json:"expected_output" doc:"What is right."`
	Rationale      string                     `json:"rationale" doc:"Why."`
	DecidedBy      httpapi.Actor              `json:"decided_by" volatile:"true" doc:"Who decided."`
	CreatedBy      httpapi.Actor              `json:"created_by" volatile:"true" doc:"Who made the decision the ground truth."`
	Version        int                        `json:"version" doc:"Counts the ground truths that replace each other."`
	SupersedesID   *int64                     `json:"supersedes_id" doc:"Ground truth that this one replaced."`
	Status         TruthStatus                `json:"status" doc:"active, superseded by a later one, or revoked when the item was reopened."`
	Reason         *string                    `json:"reason" doc:"Why it was revoked."`
	ContentDigest  string                     `json:"content_digest" doc:"SHA-256 of the canonical JSON (RFC 8785) of input and output: what was assessed."`
	CreatedAt      httpapi.Time               `json:"created_at" doc:"When it was created."`
	EndedAt        httpapi.Null[httpapi.Time] `json:"ended_at" doc:"When it was superseded or revoked; null while it is active."`
}

func (s *Service) postTruth(ctx context.Context, in *truthInput) (*createdTruthOutput, error) {
	b, org := in.Body, principal.From(ctx).Org
	stating := Stating{Label: b.Label, Score: b.Score, Expected: value(b.ExpectedOutput), Rationale: b.Rationale, Supersedes: b.Supersedes}
	if stating.own() { // whoever states what was decided need not be asked what they said before
		var err error
		if stating.Assessed, err = s.Assessed(ctx, org, in.ID, *principal.From(ctx).User); err != nil {
			return nil, err
		}
	}
	return again(func() (*createdTruthOutput, error) {
		revisions, err := s.Revise(ctx, org, in.ID, stating)
		if err != nil {
			return nil, err
		}
		return change.Do(ctx, s.log, func(tx postgres.Tx) (*createdTruthOutput, error) {
			t, err := s.StateTx(ctx, tx, in.ID, stating, revisions)
			if err != nil {
				return nil, err
			}
			by, err := s.tenancy.ActorsTx(ctx, tx, t.DecidedBy, t.CreatedBy)
			if err != nil {
				return nil, err
			}
			return &createdTruthOutput{
				Location: "/api/adjudication/ground-truths/" + strconv.FormatInt(t.ID, 10),
				Body:     toTruth(t, names{t.DecidedBy: by[0], t.CreatedBy: by[1]}),
			}, nil
		})
	})
}

// again does something that was prepared, again if what it was prepared for changed in
// between.
func again[T any](do func() (T, error)) (out T, err error) {
	for range 3 {
		if out, err = do(); !errors.Is(err, dataset.ErrMoved) {
			return out, err
		}
	}
	return out, err
}

func (s *Service) getTruth(ctx context.Context, in *TruthPath) (*httpapi.Body[truthBody], error) {
	org := principal.From(ctx).Org
	t, err := s.Truth(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	by, err := s.tenancy.Actors(ctx, org, t.DecidedBy, t.CreatedBy)
	if err != nil {
		return nil, err
	}
	return httpapi.NewBody(toTruth(t, names{t.DecidedBy: by[0], t.CreatedBy: by[1]})), nil
}

type calibrationInput struct {
	Path
	Body calibrationBody
}

type calibrationBody struct {
	CalibrationSetID httpapi.IDInput `json:"calibrationSetId,omitzero" doc:"Dataset with the purpose calibration; the organization's default one, which is created when it is first needed, if it is not sent."`
	Split            string          `json:"split,omitempty" enum:"train,dev,test" doc:"Split; it follows from the content if it is not sent."`
	JudgeConfigID    httpapi.IDInput `json:"judgeConfigId,omitzero" doc:"Judge whose label key and scale the label uses; the judges among the candidates if it is not sent."`
}

func (s *Service) postCalibration(ctx context.Context, in *calibrationInput) (*httpapi.Output[itemBody], error) {
	return s.enter(ctx, in.ID, Entering{
		Purpose: dataset.PurposeCalibration, Dataset: int64(in.Body.CalibrationSetID), Split: in.Body.Split, Judge: int64(in.Body.JudgeConfigID), Weight: 1, Tags: []string{},
	})
}

type goldenInput struct {
	Path
	Body goldenBody
}

type goldenBody struct {
	DatasetID     httpapi.IDInput `json:"datasetId,omitzero" doc:"Dataset with the purpose golden; the organization's default one, which is created when it is first needed, if it is not sent."`
	Weight        float64         `json:"weight,omitempty" minimum:"0" maximum:"1000000" default:"1" doc:"Relative weight of the item."`
	Tags          httpapi.Tags    `json:"tags,omitempty" doc:"Tags of the promotion."`
	Justification string          `json:"justification" minLength:"1" maxLength:"10000" doc:"Why the item belongs into the golden dataset."`
}

func (s *Service) postGolden(ctx context.Context, in *goldenInput) (*httpapi.Output[itemBody], error) {
	b := in.Body
	return s.enter(ctx, in.ID, Entering{
		Purpose: dataset.PurposeGolden, Dataset: int64(b.DatasetID), Weight: b.Weight, Tags: httpapi.OrEmpty(b.Tags), Justification: b.Justification,
	})
}

// enter adds ground truth to a dataset.
func (s *Service) enter(ctx context.Context, id int64, in Entering) (*httpapi.Output[itemBody], error) {
	if out, err := change.Recall[httpapi.Output[itemBody]](ctx, s.log); out != nil || err != nil {
		return out, err
	}
	return again(func() (*httpapi.Output[itemBody], error) {
		p, err := s.PrepareEntry(ctx, principal.From(ctx).Org, id, in)
		if err != nil {
			return nil, err
		}
		return s.do(ctx, func(tx postgres.Tx) (Item, error) { return s.EnterTx(ctx, tx, id, p) })
	})
}

// Shown is the ground truth as getGroundTruth shows it.
func (t GroundTruth) Shown() any { return toTruth(t, nil) }

func toTruth(t GroundTruth, n names) truthBody {
	return truthBody{
		ID: t.ID, ItemID: t.Item, DecisionID: t.Decision, TestCaseID: httpapi.NullID(t.TestCase), Label: httpapi.OrNull(t.Label), Score: t.Score, ExpectedOutput: httpapi.JSON(t.Expected),
		Rationale: t.Rationale, DecidedBy: n.of(t.DecidedBy), CreatedBy: n.of(t.CreatedBy), Version: t.Number, SupersedesID: httpapi.OrNull(t.Supersedes), Status: t.Status,
		Reason: httpapi.OrNull(t.Reason), ContentDigest: t.Digest.String(), CreatedAt: httpapi.Time(t.CreatedAt), EndedAt: httpapi.NullTime(t.EndedAt),
	}
}
