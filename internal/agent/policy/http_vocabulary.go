package policy

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

func (s *Service) registerVocabulary(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "getPolicySchema", Method: http.MethodGet, Path: path + "/schema", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary: "Get what policies can name",
		Description: "Returns the words of the organization's policies, for an editor: types, actions, attributes of the context with their values, annotations, obligations and the forms of facts, and the connectors with their tools and the runtimes that are known, up to 1,000 of each, newest first. " +
			"`cedar` is the same as a schema of Cedar.",
	}, s.getVocabulary)
}

// remarkCode says what a warning is about.
type remarkCode string

// Schema lists the codes.
func (remarkCode) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(engine.RemarkCodes...) }

type warningBody struct {
	Line    int        `json:"line" doc:"Line of the source, from 1."`
	Column  int        `json:"column" doc:"Column in characters, from 1."`
	Code    remarkCode `json:"code" doc:"What the warning is about."`
	Message string     `json:"message" doc:"What is said, and the nearest name if there is one."`
}

// toWarnings are remarks as answers show them.
func toWarnings(remarks []engine.Remark) []warningBody {
	out := make([]warningBody, len(remarks))
	for i, r := range remarks {
		out[i] = warningBody{r.Line, r.Column, remarkCode(r.Code), r.Message}
	}
	return out
}

type vocabularyBody struct {
	EntityTypes []termBody           `json:"entity_types" doc:"Types of subjects, actions and resources. Callers can send others."`
	Actions     []string             `json:"actions" doc:"Actions. Callers can send others."`
	Context     []termBody           `json:"context" doc:"Attributes of the context. Callers can send others."`
	Facts       []termBody           `json:"facts" doc:"Forms of facts about the past, with the types of their values."`
	Annotations []termBody           `json:"annotations" doc:"Annotations that mean something here; type says on which statements."`
	Obligations []string             `json:"obligations" doc:"Types of obligations."`
	Connectors  []knownConnectorBody `json:"connectors" volatile:"true" doc:"Connectors that are known, newest first."`
	Runtimes    []string             `json:"runtimes" volatile:"true" doc:"Keys of the runtimes that are known, newest first."`
	Truncated   bool                 `json:"truncated" volatile:"true" doc:"Whether there are more connectors, tools or runtimes."`
	Cedar       string               `json:"cedar" volatile:"true" doc:"The same as a schema of Cedar. Its records are closed, while arguments, facts and what callers send are free."`
}

type termBody struct {
	Name     string   `json:"name" doc:"What policies write."`
	Type     string   `json:"type" doc:"Type in Cedar, or where it stands."`
	Optional bool     `json:"optional" doc:"Whether it may be absent."`
	Values   []string `json:"values" doc:"All that it can be; empty if it is free."`
	About    string   `json:"about" doc:"What it means."`
}

type knownConnectorBody struct {
	ConnectorKey string          `json:"connector_key" doc:"Key of the connector."`
	State        string          `json:"state" doc:"What people decided about it."`
	TrustLevel   *string         `json:"trust_level" doc:"How far what it says about itself is believed; null until a person says so."`
	Complete     bool            `json:"complete" doc:"Whether it says which tools it has, and all are here. A policy that names another one is refused."`
	Tools        []knownToolBody `json:"tools" doc:"Its tools."`
}

type knownToolBody struct {
	ID              string `json:"id" doc:"Id of the tool as a resource: connector/tool."`
	ToolName        string `json:"tool_name" doc:"Name of the tool."`
	SideEffectClass string `json:"side_effect_class" doc:"What it does to the world, as policies see it."`
	Reversibility   string `json:"reversibility" doc:"Whether that can be undone, as policies see it."`
}

func (s *Service) getVocabulary(ctx context.Context, _ *struct{}) (*httpapi.Body[vocabularyBody], error) {
	known, err := s.Known(ctx, principal.From(ctx).Org)
	if err != nil {
		return nil, err
	}
	text, err := engine.CedarSchema(known.ids())
	if err != nil {
		return nil, err
	}
	return httpapi.NewBody(toVocabulary(known, text)), nil
}

func toVocabulary(known Known, cedar string) vocabularyBody {
	out := vocabularyBody{
		EntityTypes: toTerms(engine.EntityTypes), Actions: []string{engine.ToolCall}, Context: toTerms(engine.Context), Facts: toTerms(engine.FactForms),
		Annotations: toTerms(engine.AnnotationForms), Obligations: engine.ObligationTypes, Connectors: make([]knownConnectorBody, len(known.Connectors)),
		Runtimes: httpapi.OrEmpty(known.Runtimes), Truncated: known.Truncated, Cedar: cedar,
	}
	for i, c := range known.Connectors {
		out.Connectors[i] = knownConnectorBody{ConnectorKey: c.Key, State: c.State, TrustLevel: httpapi.OrNull(c.Trust), Complete: c.Whole, Tools: make([]knownToolBody, len(c.Tools))}
		for j, t := range c.Tools {
			out.Connectors[i].Tools[j] = knownToolBody{ID: c.Key + "/" + t.Name, ToolName: t.Name, SideEffectClass: t.Class, Reversibility: t.Reversibility}
		}
	}
	return out
}

func toTerms(all []engine.Attribute) []termBody {
	out := make([]termBody, len(all))
	for i, a := range all {
		// That it can be empty is what About says.
		values := slices.DeleteFunc(slices.Clone(a.Values), func(v string) bool { return v == "" })
		out[i] = termBody{Name: a.Name, Type: a.Type, Optional: a.Optional, Values: httpapi.OrEmpty(values), About: a.About}
	}
	return out
}
