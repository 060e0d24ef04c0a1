package judge

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

func (s *Service) registerLabels(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listJudgeNextLabels", Method: http.MethodGet, Path: "/api/llm-judge/configs/{id}/next-labels", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "Suggest answers to label",
		Description: "Returns answers, of a run or of all, that the current version of the judge has rated and people have not, in a random order that does not change. " +
			"Label them from the beginning, with the label `label_key` of the dataset item or with a score of that name, and set `labelSampling` of the judge to `random`: the labels are then a random sample, and the judge's mean is corrected by them.",
	}, s.getNextLabels)
}

type nextLabelsInput struct {
	Path
	EvaluationRunID string `query:"evaluationRunId" maxLength:"32" doc:"Run whose answers are to be labelled; all that the judge has rated if it is not sent."`
	Size            int    `query:"size" minimum:"1" maximum:"500" default:"20" doc:"How many answers to suggest."`
}

type nextLabelsBody struct {
	LabelKey string          `json:"label_key" doc:"Label to give."`
	Labels   []string        `json:"labels" doc:"What the label may be, the worst first; empty if it is a number."`
	Labelled int             `json:"labelled" doc:"Answers that have a label."`
	Left     int             `json:"left" doc:"Answers without one."`
	Next     []nextLabelBody `json:"next" doc:"Answers to label, in their order."`
}

type nextLabelBody struct {
	ResultID   httpapi.ID               `json:"result_id" doc:"The judge's result."`
	TestCaseID *string                  `json:"test_case_id" doc:"Item that the answer is to."`
	DatasetID  httpapi.Null[httpapi.ID] `json:"dataset_id" doc:"Dataset of the item; null if it is not known."`
	Epoch      *int                     `json:"epoch" doc:"Repetition of the item in the run, from 0."`
}

func (s *Service) getNextLabels(ctx context.Context, in *nextLabelsInput) (*httpapi.Body[nextLabelsBody], error) {
	id, err := in.Number()
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	c, err := s.Find(ctx, org, id)
	if err != nil {
		return nil, err
	}
	out := httpapi.Body[nextLabelsBody]{Body: nextLabelsBody{LabelKey: c.LabelKey, Labels: httpapi.OrEmpty(c.Current.Spec.humanLabels()), Next: []nextLabelBody{}}}
	var run int64
	if in.EvaluationRunID != "" {
		var ok bool
		if run, ok = httpapi.ParseID(in.EvaluationRunID); !ok {
			return &out, nil
		}
	}
	next, err := s.NextLabels(ctx, org, c, run, in.Size)
	if err != nil {
		return nil, err
	}
	out.Body.Labelled, out.Body.Left = next.Labelled, next.Left
	for _, r := range next.Results {
		b := toResultBody(r)
		out.Body.Next = append(out.Body.Next, nextLabelBody{ResultID: b.ID, TestCaseID: b.TestCaseID, DatasetID: httpapi.NullID(r.Dataset), Epoch: b.Epoch})
	}
	return &out, nil
}

// humanLabels are the labels that people may give, the worst first; nil if they give
// numbers.
func (s Spec) humanLabels() []string {
	switch {
	case s.Pairwise:
		return []string{LabelLoss, LabelTie, LabelWin}
	case len(s.Criteria) > 0:
		return []string{LabelFail, LabelPass}
	case s.Scale.Type == ScaleNumeric:
		return nil
	}
	return s.Scale.names()
}
