package judge

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/judging/provider"
)

// Spec is everything that can change a verdict. A version keeps it as it was.
type Spec struct {
	Provider string `json:"provider"`
	// KeyID is the provider key to ask with; zero for a provider that needs none.
	KeyID  int64          `json:"provider_key_id,omitzero"`
	Model  string         `json:"model"`
	Params jsontext.Value `json:"params,omitzero"`

	Template string      `json:"prompt_template"`
	Criteria []Criterion `json:"criteria,omitzero"`
	Scale    Scale       `json:"scale"`
	// Pairwise compares the answer with the expected output, once in each order.
	Pairwise bool `json:"pairwise,omitzero"`
	// PassThreshold is the score from which an answer passes.
	PassThreshold float64 `json:"pass_threshold"`
	AllowAbstain  bool    `json:"allow_abstain,omitzero"`
	// Examples are shown to the model before the case. They never count when the
	// judge is measured.
	Examples []Example `json:"few_shot,omitzero"`
	// Repeats is how many opinions make a verdict.
	Repeats int `json:"repeats"`
}

// Criterion is one thing that is rated. The score of a judge with criteria is the
// mean of their ratings by weight.
type Criterion struct {
	Key         string   `json:"key"`
	Description string   `json:"description"`
	Weight      float64  `json:"weight"`
	Anchors     []Anchor `json:"anchors,omitzero"`
}

// Anchor describes what deserves a rating.
type Anchor struct {
	Rating      string `json:"rating"`
	Description string `json:"description"`
}

// Example is an item of a calibration dataset with the verdict that people gave, as
// it was when the version was made.
type Example struct {
	Dataset int64  `json:"dataset_id"`
	Item    int64  `json:"dataset_item_id"`
	Case    Case   `json:"case"`
	Label   string `json:"label"`
	Note    string `json:"note,omitzero"`
}

// Binary reports whether every score is 0 or 1.
func (s Spec) Binary() bool {
	return !s.Pairwise && len(s.Criteria) == 0 && s.Scale.Type == ScaleBinary
}

// digest names the spec. Two specs with the same digest give the same verdicts, as
// far as a model does.
func (s Spec) digest() ([sha256.Size]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("encode the spec of a judge: %w", err)
	}
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(); err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("encode the spec of a judge: %w", err)
	}
	return sha256.Sum256(canonical), nil
}

// check says what is wrong with a spec, all at once.
func (s Spec) check() error {
	fields := s.Scale.check()
	add := func(path, code, message string) {
		fields = append(fields, fault.Field{In: "body", Path: path, Code: code, Message: message})
	}
	if _, unknown := fillTemplate(s.Template); unknown != "" {
		add("/promptTemplate", "unknown_reference", fmt.Sprintf("has the placeholder {{%s}}; use input, output, expected, context or criteria", unknown))
	}
	if p, err := provider.ParseParams(s.Params); err != nil {
		add("/params", "format", err.Error())
	} else if p.ResponseSchema != nil {
		add("/params/response_schema", "format", "cannot be set: the scale decides what a judge answers")
	}
	if !(s.PassThreshold >= 0 && s.PassThreshold <= 1) {
		add("/passThreshold", "max", "must be between 0 and 1, where scores are")
	}
	var weights float64
	for i, c := range s.Criteria {
		weights += c.Weight
		if slices.ContainsFunc(s.Criteria[:i], func(o Criterion) bool { return o.Key == c.Key }) {
			add(fmt.Sprintf("/criteria/%d/key", i), "format", "repeats "+c.Key)
		}
		for j, a := range c.Anchors {
			if _, ok := s.Scale.labelled(a.Rating); !ok {
				add(fmt.Sprintf("/criteria/%d/anchors/%d/rating", i, j), "format", "is not on the scale")
			}
		}
	}
	if len(s.Criteria) > 0 && !(weights > 0) {
		add("/criteria", "min", "must include a weight above 0")
	}
	if s.Pairwise && (s.Scale.Type != ScaleBinary || len(s.Criteria) > 0) {
		add("/pairwise", "format", "judges compare two answers as a whole: leave scale and criteria out")
	}
	if len(fields) == 0 {
		return nil
	}
	return fault.New(fault.Validation, "invalid_request", "The judge cannot work like this.").WithFields(fields...)
}
