package judge

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
)

// splitTrain is the split whose items a judge may see. All others are kept for
// measuring it.
const splitTrain = "train"

// examples reads the items that a spec names. An example that the current version
// has already stays as it is.
func (s *Service) examples(ctx context.Context, org principal.OrgID, c Config, spec Spec) ([]Example, error) {
	if len(spec.Examples) == 0 {
		return nil, nil
	}
	var fields []fault.Field
	all := make([]Example, len(spec.Examples))
	for i, x := range spec.Examples {
		var why string
		if x.Label == "" {
			var err error
			if x, why, err = s.example(ctx, org, c, spec, x); err != nil {
				return nil, err
			}
		}
		if _, err := spec.exampleReply(x, ""); err != nil && why == "" {
			why = fmt.Sprintf("has the label %q, which is no rating on the scale that the model answers on", x.Label)
		}
		if all[i] = x; why != "" {
			fields = append(fields, fault.Field{In: "body", Path: fmt.Sprintf("/fewShot/%d/datasetItemId", i), Code: "unknown_reference", Message: why})
		}
	}
	if len(fields) > 0 {
		return nil, fault.New(fault.Validation, "invalid_request", "The judge cannot be shown these examples.").WithFields(fields...)
	}
	return all, nil
}

// example reads an item, or says why it cannot be one.
func (s *Service) example(ctx context.Context, org principal.OrgID, c Config, spec Spec, x Example) (Example, string, error) {
	d, err := s.datasets.Find(ctx, org, x.Dataset)
	if errors.Is(err, dataset.ErrNotFound) {
		return x, "belongs to a dataset that does not exist", nil
	}
	if err != nil {
		return x, "", err
	}
	item, err := s.datasets.FindItem(ctx, org, x.Dataset, x.Item, 0)
	switch {
	case errors.Is(err, dataset.ErrItemNotFound):
		return x, "is not an item of the dataset", nil
	case err != nil:
		return x, "", err
	case d.Purpose != dataset.PurposeCalibration || item.Split != splitTrain:
		return x, "must be an item of a calibration dataset in the split train: all others are kept to measure the judge", nil
	}
	x.Case = CaseOf(item, item.Content.Output)
	rating, ok := labelOf(item, c.LabelKey, spec)
	if !ok {
		return x, fmt.Sprintf("has no label %q that is on the scale", c.LabelKey), nil
	}
	x.Label = rating.Label
	return x, "", nil
}

// CaseOf is what a judge sees of an item and an answer to it. What people said
// about the item is left out.
func CaseOf(i dataset.Item, output jsontext.Value) Case {
	return Case{Input: i.Content.Input, Output: output, Expected: i.Content.ExpectedOutput, Context: i.Content.Context, Messages: i.Content.Messages}
}

// labelOf is what people say about an item by the label of a key, if that is on the
// scale.
func labelOf(i dataset.Item, key string, spec Spec) (Rating, bool) {
	if i.Content.Labels.Kind() != '{' {
		return Rating{}, false
	}
	var labels map[string]jsontext.Value
	if json.Unmarshal(i.Content.Labels, &labels) != nil {
		return Rating{}, false
	}
	return spec.humanRating(labels[key])
}

// humanRating is a rating that a person gave. Of a judge with criteria, and of one
// that compares, people say whether the answer passes, or give its score.
func (s Spec) humanRating(v jsontext.Value) (Rating, bool) {
	if len(s.Criteria) == 0 && !s.Pairwise {
		return s.Scale.rate(v)
	}
	if r, ok := (Scale{Type: ScaleBinary}).rate(v); ok {
		return r, true
	}
	var label string
	if s.Pairwise && json.Unmarshal(v, &label) == nil {
		switch label {
		case LabelWin:
			return Rating{Label: LabelPass, Score: 1}, true
		case LabelTie:
			return Rating{Label: LabelPass, Score: 0.5}, true
		case LabelLoss:
			return Rating{Label: LabelFail}, true
		}
	}
	return s.Scale.rate(v)
}

// HumanLabel is what people say about an answer, a label or a score from 0 to 1, as the
// label of a dataset item. It reports false if neither is on the judge's scale.
func (s Spec) HumanLabel(label string, score *float64) (jsontext.Value, bool) {
	if text, err := jsontext.AppendQuote(nil, label); err == nil && label != "" {
		if _, ok := s.humanRating(text); ok {
			return text, true
		}
	}
	if score == nil {
		return nil, false
	}
	n := *score
	if t := s.Scale.Type; t == ScaleNumeric || t == ScaleLikert {
		n = s.Scale.Min + n*(s.Scale.Max-s.Scale.Min)
	}
	v := jsontext.Value(strconv.FormatFloat(n, 'g', -1, 64))
	_, ok := s.humanRating(v)
	return v, ok
}
