package scoring

import (
	"cmp"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/metric"
)

// ExternalInput is an external metric as requests have it.
type ExternalInput struct {
	Name     string                 `json:"name" pattern:"^[A-Za-z][A-Za-z0-9_.:-]{0,63}$" doc:"Name of the metric, under which its scores are sent." example:"my_judge"`
	Summary  *string                `json:"summary,omitempty" maxLength:"500" nullable:"true" doc:"What it measures."`
	Low      httpapi.Patch[float64] `json:"low,omitzero" minimum:"-1e15" maximum:"1e15" doc:"Lowest possible score; 0 if absent, null if it is unbounded."`
	High     httpapi.Patch[float64] `json:"high,omitzero" minimum:"-1e15" maximum:"1e15" doc:"Highest possible score; 1 if absent, null if it is unbounded. Only scores from 0 to 1, of which higher is better, count in the overall score."`
	Better   metric.Direction       `json:"better,omitempty" enum:"higher,lower" default:"higher" doc:"Which direction is better."`
	Kind     metric.Kind            `json:"kind,omitempty" enum:"binary,numeric" default:"numeric" doc:"binary metrics score 0 or 1."`
	Unit     *string                `json:"unit,omitempty" maxLength:"32" nullable:"true" doc:"Unit of the score." example:"points"`
	Source   metric.Source          `json:"source,omitempty" enum:"code,judge,human" default:"code" doc:"Who makes the scores: a program, a model or people. Every figure made from them says so."`
	Version  *string                `json:"version,omitempty" maxLength:"100" nullable:"true" doc:"Version of the rules that the scores follow, such as a prompt's. Runs with different versions are not compared."`
	Unsent   Unsent                 `json:"unsent,omitempty" enum:"worst,excluded" default:"worst" doc:"What a score that is never sent means. worst: gates and comparisons count the worst score, so that nothing is gained by leaving it out. excluded: the item cannot have one."`
	Endpoint *EndpointInput         `json:"endpoint,omitempty" doc:"Service of your own that scores answers while the run executes; without it, scores are sent."`
}

// EndpointInput is a service that scores as requests have it.
type EndpointInput struct {
	_         struct{}         `nullable:"true"`
	URL       string           `json:"url" minLength:"1" maxLength:"2000" doc:"Where answers are scored. It receives a POST with metric and items, and answers with scores, one for each item in the same order: a number, an object with value and explanation, or null for no score." example:"https://scores.example.com/tone"`
	SecretRef *httpapi.IDInput `json:"secretRef,omitempty" doc:"A provider key whose base URL is the service's; its secret is sent as a bearer token."`
	TimeoutMS int              `json:"timeoutMs,omitempty" minimum:"100" maximum:"600000" doc:"Time limit for one call, in milliseconds; 60,000 if absent."`
	BatchSize int              `json:"batchSize,omitempty" minimum:"1" maximum:"100" doc:"Maximum number of items in one call; 16 if absent."`
}

// ExternalBody is an external metric as responses have it.
type ExternalBody struct {
	Name     string           `json:"name" doc:"Name of the metric, under which its scores are sent."`
	Summary  *string          `json:"summary" doc:"What it measures; null if it was not declared."`
	Low      *float64         `json:"low" doc:"Lowest possible score; null if it is unbounded."`
	High     *float64         `json:"high" doc:"Highest possible score; null if it is unbounded."`
	Better   metric.Direction `json:"better" enum:"higher,lower" doc:"Which direction is better."`
	Kind     metric.Kind      `json:"kind" enum:"binary,numeric" doc:"binary metrics score 0 or 1."`
	Unit     *string          `json:"unit" doc:"Unit of the score; null if it has none."`
	Source   metric.Source    `json:"source" enum:"code,judge,human" doc:"Who makes the scores: a program, a model or people."`
	Version  *string          `json:"version" doc:"Version of the rules that the scores follow; null if it has none."`
	Unsent   Unsent           `json:"unsent" enum:"worst,excluded" doc:"What a score that is never sent means: the worst score, or that the item cannot have one."`
	Endpoint *EndpointBody    `json:"endpoint" doc:"Service that scores answers while the run executes; null if scores are sent."`
}

// EndpointBody is a service that scores as responses have it.
type EndpointBody struct {
	_         struct{} `nullable:"true"`
	URL       string   `json:"url" doc:"Where answers are scored."`
	SecretRef *int64   `json:"secret_ref" doc:"The provider key whose secret is sent as a bearer token; null if there is none."`
	TimeoutMS *int     `json:"timeout_ms" doc:"Time limit for one call, in milliseconds; null for the default."`
	BatchSize *int     `json:"batch_size" doc:"Maximum number of items in one call; null for the default."`
}

// FromExternal reads external metrics.
func FromExternal(all []ExternalInput) []External {
	var out []External
	for _, b := range all {
		x := External{
			Name: b.Name, Low: bound(b.Low, 0), High: bound(b.High, 1), Better: cmp.Or(b.Better, metric.Higher), Kind: cmp.Or(b.Kind, metric.Numeric),
			Source: cmp.Or(b.Source, metric.Code), Unsent: cmp.Or(b.Unsent, UnsentWorst),
		}
		for to, from := range map[*string]*string{&x.Summary: b.Summary, &x.Unit: b.Unit, &x.Version: b.Version} {
			if from != nil {
				*to = *from
			}
		}
		if e := b.Endpoint; e != nil {
			x.Endpoint = &Endpoint{URL: e.URL, SecretRef: fromID(e.SecretRef), TimeoutMS: e.TimeoutMS, BatchSize: e.BatchSize}
		}
		out = append(out, x)
	}
	return out
}

// bound is an end of a range: the usual one if nothing was sent, none if null was.
func bound(sent httpapi.Patch[float64], usual float64) *float64 {
	switch {
	case sent.Null:
		return nil
	case sent.Sent:
		return &sent.Value
	}
	return &usual
}

// ToExternal shows external metrics.
func ToExternal(all []External) []ExternalBody {
	out := []ExternalBody{}
	for _, x := range all {
		b := ExternalBody{
			Name: x.Name, Summary: httpapi.OrNull(x.Summary), Low: x.Low, High: x.High, Better: x.Better, Kind: x.Kind, Unit: httpapi.OrNull(x.Unit),
			Source: x.Source, Version: httpapi.OrNull(x.Version), Unsent: x.Unsent,
		}
		if e := x.Endpoint; e != nil {
			b.Endpoint = &EndpointBody{URL: e.URL, SecretRef: httpapi.OrNull(e.SecretRef), TimeoutMS: httpapi.OrNull(e.TimeoutMS), BatchSize: httpapi.OrNull(e.BatchSize)}
		}
		out = append(out, b)
	}
	return out
}

// SentScore is a score in a request: its value, or the value with why.
type SentScore struct {
	Value       float64 `json:"value"`
	Explanation string  `json:"explanation,omitzero"`
}

// Schema allows both forms.
func (SentScore) Schema(huma.Registry) *huma.Schema {
	longest := metric.MaxExplanation
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeNumber},
		{
			Type: huma.TypeObject, Required: []string{"value"}, AdditionalProperties: false,
			Properties: map[string]*huma.Schema{
				"value":       {Type: huma.TypeNumber, Description: "The score."},
				"explanation": {Type: huma.TypeString, MaxLength: &longest, Description: "How it came about."},
			},
		},
	}}
}

// UnmarshalJSON reads both forms.
func (s *SentScore) UnmarshalJSON(b []byte) error {
	if jsontext.Value(b).Kind() == '0' {
		return json.Unmarshal(b, &s.Value)
	}
	type plain SentScore
	return json.Unmarshal(b, (*plain)(s))
}

// SentScores are scores of one result in a request.
type SentScores struct {
	Epoch  int                  `json:"epoch,omitempty" minimum:"0" maximum:"99" doc:"Number of the repetition, starting at 0."`
	Scores map[string]SentScore `json:"scores" minProperties:"1" maxProperties:"50" doc:"Scores by metric: numbers, or objects with value and explanation."`
	Final  bool                 `json:"final,omitempty" doc:"Whether these are the last scores: completes the run."`
}

// ScoredBody is a result after scores were added to it.
type ScoredBody struct {
	TestCaseID httpapi.ID          `json:"test_case_id" doc:"The dataset item."`
	Epoch      int                 `json:"epoch" doc:"Number of the repetition, starting at 0."`
	Status     result.Status       `json:"status" enum:"passed,failed,errored,skipped" doc:"What became of the item, with these scores."`
	Scores     map[string]*float64 `json:"scores" doc:"Score by metric; null where there is none yet."`
	Overall    *float64            `json:"overall" doc:"Overall score; null if a part of it is missing."`
}

// ToScored shows a result with its scores.
func ToScored(o result.Outcome) ScoredBody {
	out := ScoredBody{TestCaseID: httpapi.ID(o.Item), Epoch: o.Epoch, Status: o.Status, Overall: o.Overall, Scores: map[string]*float64{}}
	for _, score := range o.Scores {
		out.Scores[score.Metric] = score.Value
	}
	return out
}
