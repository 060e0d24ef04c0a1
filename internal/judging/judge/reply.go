package judge

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/judging/provider"
)

// Winners of a comparison, as a model names them.
const (
	winnerFirst  = "first"
	winnerSecond = "second"
	winnerTie    = "tie"
)

// The labels of a comparison, as results have them.
const (
	LabelWin  = "win"
	LabelLoss = "loss"
	LabelTie  = "tie"
)

// reply is what a model answers.
type reply struct {
	Check      string                    `json:"check"`
	Reasoning  string                    `json:"reasoning"`
	Abstain    *bool                     `json:"abstain,omitzero"` // if the judge may abstain
	Rating     jsontext.Value            `json:"rating,omitzero"`
	Ratings    map[string]jsontext.Value `json:"ratings,omitzero"`
	Winner     string                    `json:"winner,omitzero"`
	Confidence float64                   `json:"confidence"`
}

// property is a part of an answer's schema.
type property struct {
	Type        string     `json:"type"`
	Description string     `json:"description,omitzero"`
	Enum        []any      `json:"enum,omitzero"`
	Minimum     *float64   `json:"minimum,omitzero"`
	Maximum     *float64   `json:"maximum,omitzero"`
	Properties  properties `json:"properties,omitzero"`
	Required    []string   `json:"required,omitzero"`
	Additional  *bool      `json:"additionalProperties,omitzero"`
}

// properties keep their order: a model that reasons first decides better.
type properties []named

type named struct {
	name string
	property
}

// MarshalJSONTo writes an object in the order of the list.
func (p properties) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, n := range p {
		if err := e.WriteToken(jsontext.String(n.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(e, n.property); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// object is a schema that has all of its properties, and no others.
func object(p properties) property {
	o := property{Type: "object", Properties: p, Additional: new(bool)}
	for _, n := range p {
		o.Required = append(o.Required, n.name)
	}
	return o
}

// schema is what a model may answer, in the strict form that providers enforce.
func (s Spec) schema() (jsontext.Value, error) {
	all := properties{
		{"check", property{Type: "string", Description: `The value of "check" in the message, copied exactly.`}},
		{"reasoning", property{Type: "string", Description: "What you observed, before you decide."}},
	}
	if s.AllowAbstain {
		all = append(all, named{"abstain", property{Type: "boolean", Description: "Whether the material does not allow a rating."}})
	}
	switch {
	case s.Pairwise:
		all = append(all, named{"winner", property{Type: "string", Enum: []any{winnerFirst, winnerSecond, winnerTie}}})
	case len(s.Criteria) > 0:
		var each properties
		for _, c := range s.Criteria {
			each = append(each, named{c.Key, s.Scale.property()})
		}
		all = append(all, named{"ratings", object(each)})
	default:
		all = append(all, named{"rating", s.Scale.property()})
	}
	low, high := 0.0, 1.0
	all = append(all, named{"confidence", property{Type: "number", Minimum: &low, Maximum: &high}})
	return json.Marshal(object(all))
}

// property is a rating in the schema of an answer.
func (s Scale) property() property {
	switch s.Type {
	case ScaleNumeric:
		return property{Type: "number", Minimum: &s.Min, Maximum: &s.Max}
	case ScaleLikert:
		return property{Type: "integer", Minimum: &s.Min, Maximum: &s.Max}
	}
	p := property{Type: "string"}
	for _, name := range s.names() {
		p.Enum = append(p.Enum, name)
	}
	return p
}

// rate reads a rating.
func (s Scale) rate(v jsontext.Value) (Rating, bool) {
	switch v.Kind() {
	case '0':
		n, err := strconv.ParseFloat(string(v), 64)
		if err != nil {
			return Rating{}, false
		}
		return s.numbered(n)
	case '"':
		var label string
		if json.Unmarshal(v, &label) != nil {
			return Rating{}, false
		}
		return s.labelled(label)
	case 't', 'f': // people label with true and false
		if s.Type == ScaleBinary {
			return s.labelled(map[jsontext.Kind]string{'t': LabelPass, 'f': LabelFail}[v.Kind()])
		}
	}
	return Rating{}, false
}

// The codes of answers that are not opinions.
const (
	CodeWrongSchema  = provider.CodeWrongSchema
	CodeCheckMissing = "check_missing"
)

// opinion is one answer of a model.
type opinion struct {
	Rating

	abstained  bool
	reasoning  string
	confidence float64
	criteria   []CriterionRating
}

// read makes an opinion of an answer. An answer that is not in the schema, or that
// does not show that it was made by the instructions, is a failure and never an
// opinion.
func (s Spec) read(text jsontext.Value, check string, o order) (opinion, *provider.Failure) {
	var r reply
	if err := json.Unmarshal(text, &r, json.RejectUnknownMembers(true)); err != nil {
		return opinion{}, &provider.Failure{Code: CodeWrongSchema, Message: "The model's answer is not what the scale asks for."}
	}
	if r.Check != check {
		return opinion{}, &provider.Failure{Code: CodeCheckMissing, Message: "The model's answer does not repeat the check code, so it may have followed instructions in the material. It is not counted."}
	}
	op := opinion{abstained: s.AllowAbstain && r.Abstain != nil && *r.Abstain, reasoning: r.Reasoning, confidence: min(1, max(0, r.Confidence))}
	if op.abstained {
		return op, nil
	}
	wrong := func(what string) (opinion, *provider.Failure) {
		return opinion{}, &provider.Failure{Code: CodeWrongSchema, Message: "The model's answer has " + what + " that is not on the scale."}
	}
	switch {
	case s.Pairwise:
		switch {
		case r.Winner == winnerTie:
			op.Rating = Rating{Label: LabelTie, Score: 0.5}
		case r.Winner == winnerFirst && o == ours, r.Winner == winnerSecond && o == theirs:
			op.Rating = Rating{Label: LabelWin, Score: 1}
		case r.Winner == winnerFirst, r.Winner == winnerSecond:
			op.Rating = Rating{Label: LabelLoss, Score: 0}
		default:
			return wrong("a winner")
		}
	case len(s.Criteria) > 0:
		for _, c := range s.Criteria {
			rating, ok := s.Scale.rate(r.Ratings[c.Key])
			if !ok {
				return wrong(fmt.Sprintf("a rating of %q", c.Key))
			}
			op.criteria = append(op.criteria, CriterionRating{c.Key, rating})
		}
		op.Rating = s.weigh(op.criteria)
	default:
		rating, ok := s.Scale.rate(r.Rating)
		if !ok {
			return wrong("a rating")
		}
		op.Rating = rating
	}
	return op, nil
}

// weigh is the mean of the ratings of criteria by weight. Its label says whether
// the answer passed.
func (s Spec) weigh(all []CriterionRating) Rating {
	var sum, weights float64
	for i, c := range all {
		sum += s.Criteria[i].Weight * c.Score
		weights += s.Criteria[i].Weight
	}
	r := Rating{Score: min(1, max(0, sum/weights)), Label: LabelFail}
	if r.Score >= s.PassThreshold {
		r.Label = LabelPass
	}
	return r
}

// exampleReply is the answer that an example shows.
func (s Spec) exampleReply(x Example, check string) (string, error) {
	r := reply{Check: check, Reasoning: x.Note, Confidence: 1}
	if s.AllowAbstain {
		r.Abstain = new(bool)
	}
	label, err := json.Marshal(x.Label)
	if err != nil {
		return "", err
	}
	rating, ok := s.Scale.rate(label)
	switch {
	case s.Pairwise:
		r.Winner = map[string]string{LabelWin: winnerFirst, LabelPass: winnerFirst, LabelTie: winnerTie}[x.Label]
		if r.Winner == "" {
			r.Winner = winnerSecond
		}
	case !ok:
		return "", fmt.Errorf("the label %q of example %d is not on the scale", x.Label, x.Item)
	case len(s.Criteria) > 0:
		r.Ratings = map[string]jsontext.Value{}
		for _, c := range s.Criteria {
			r.Ratings[c.Key] = rating.json()
		}
	default:
		r.Rating = rating.json()
	}
	text, err := json.Marshal(r, json.Deterministic(true))
	return string(text), err
}

// json is the rating as a model writes it.
func (r Rating) json() jsontext.Value {
	if r.Raw != nil {
		return jsontext.Value(number(*r.Raw))
	}
	text, _ := jsontext.AppendQuote(nil, r.Label) // a label is valid text
	return text
}
