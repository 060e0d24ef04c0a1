package judge

import (
	"context"

	"github.com/assayhq/assay/internal/httpapi"
)

// starterBody is a starter on the wire.
type starterBody struct {
	Key           string          `json:"key" doc:"Name to give as starter when a judge is created."`
	Name          string          `json:"name" doc:"Name for people."`
	Summary       string          `json:"summary" doc:"What the judge measures."`
	Needs         []string        `json:"needs" doc:"Parts of the material that the judge cannot do without."`
	Sources       []string        `json:"sources" doc:"What the rubric rests on."`
	Limits        []string        `json:"limits" doc:"What the judge is known to get wrong."`
	Template      string          `json:"prompt_template" doc:"Instructions to the judge."`
	Criteria      []criterionBody `json:"criteria" doc:"What is rated."`
	Scale         scaleBody       `json:"scale" doc:"Scale of ratings."`
	Pairwise      bool            `json:"pairwise" doc:"Whether the judge compares the output with the expected output."`
	PassThreshold float64         `json:"pass_threshold" doc:"Score from which an answer passes."`
}

type listStartersBody struct {
	Starters []starterBody `json:"starters" doc:"The library, by key."`
}

func (s *Service) getStarters(context.Context, *struct{}) (*httpapi.Body[listStartersBody], error) {
	out := httpapi.Body[listStartersBody]{Body: listStartersBody{Starters: []starterBody{}}}
	for _, one := range Starters() {
		f := toSpecFields(one.Spec)
		out.Body.Starters = append(out.Body.Starters, starterBody{
			Key: one.Key, Name: one.Name, Summary: one.Summary, Needs: one.Needs, Sources: one.Sources, Limits: one.Limits,
			Template: f.Template, Criteria: f.Criteria, Scale: f.Scale, Pairwise: f.Pairwise, PassThreshold: f.PassThreshold,
		})
	}
	return &out, nil
}
