package pattern

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

// RegisterHTTP adds the list of templates to the route table.
func RegisterHTTP(e *httpapi.Edge, tag string) {
	e.Name(schemas)
	httpapi.Register(e, httpapi.Op{
		ID: "listEvidenceTemplates", Method: http.MethodGet, Path: "/api/agent-evidence/templates", Tag: tag, Scope: principal.TracesRead, Status: 200,
		Summary:     "List templates of work patterns",
		Description: "Returns common patterns of what agents do, each with its steps, its risks, the evidence that it should leave, policies that fit, points at which a person should agree, and a simulation.",
	}, getTemplates)
}

// schemas are the public names of the wire types. Clients are generated from them.
var schemas = httpapi.Schemas{
	"EvidenceTemplate":         templateBody{},
	"EvidenceTemplateApproval": templateApprovalBody{},
	"EvidenceTemplateEvidence": templateEvidenceBody{},
	"EvidenceTemplateList":     templatesBody{},
	"EvidenceTemplateRisk":     templateRiskBody{},
	"EvidenceTemplateRule":     templateRuleBody{},
	"EvidenceTemplateStep":     templateStepBody{},
}

// primitive is a type of step.
type primitive string

// Schema lists the types of steps.
func (primitive) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, p := range kind.Primitives {
		s.Enum = append(s.Enum, p)
	}
	return s
}

type templatesInput struct {
	Category string `query:"category" maxLength:"64" doc:"Only templates of this category."`
}

type templatesBody struct {
	Templates []templateBody `json:"templates" doc:"The templates."`
}

type templateBody struct {
	TemplateKey      string                 `json:"template_key" doc:"Key of the template."`
	Name             string                 `json:"name" doc:"Name."`
	Version          string                 `json:"version" doc:"Version of the template."`
	Category         string                 `json:"category" doc:"What the pattern is about."`
	Description      string                 `json:"description" doc:"What such an agent does, and where it must be guarded."`
	Steps            []templateStepBody     `json:"steps" doc:"Steps, in order."`
	ConnectorTypes   []string               `json:"connector_types" doc:"Types of connectors that it needs."`
	RecommendedRules []templateRuleBody     `json:"recommended_rules" doc:"Policies that guard it."`
	ApprovalPoints   []templateApprovalBody `json:"approval_points" doc:"Where a person should agree."`
	FailureModes     []string               `json:"failure_modes" doc:"Ways in which it typically fails."`
	Risks            []templateRiskBody     `json:"risks" doc:"What can go wrong, and what helps."`
	ExpectedEvidence []templateEvidenceBody `json:"expected_evidence" doc:"Evidence that it should leave."`
	Metrics          []string               `json:"metrics" doc:"Metrics that say how well it works."`
	Simulation       httpapi.Object         `json:"simulation" doc:"Plan, faults and assertions of a simulation."`
	ReleaseGates     []httpapi.Object       `json:"release_gates" doc:"Gates that a release should pass."`
}

type templateStepBody struct {
	PrimitiveType   primitive `json:"primitive_type" doc:"Type of the step."`
	ToolRole        string    `json:"tool_role" doc:"Name of the step within the template."`
	SideEffectClass string    `json:"side_effect_class" doc:"What the step does to the world."`
}

type templateRuleBody struct {
	ID     string `json:"id" doc:"Name of the rule within the template."`
	Effect string `json:"effect" doc:"What the rule does: permit, forbid or require_approval."`
	Policy string `json:"policy" doc:"The policy, in Cedar."`
	Why    string `json:"why" doc:"Why it is there."`
}

type templateApprovalBody struct {
	Step         string   `json:"step" doc:"Step that needs the approval."`
	Rule         string   `json:"rule" doc:"Rule that asks for it."`
	When         string   `json:"when" doc:"When it is needed."`
	Groups       []string `json:"groups" doc:"Who may decide."`
	MinApprovals int      `json:"min_approvals" doc:"How many people must agree."`
}

type templateRiskBody struct {
	Title       string `json:"title" doc:"What can go wrong."`
	Severity    string `json:"severity" doc:"How bad it is."`
	FailureMode string `json:"failure_mode" doc:"Failure mode that it shows as."`
	Mitigation  string `json:"mitigation" doc:"What helps."`
}

type templateEvidenceBody struct {
	Resource string `json:"resource" doc:"Kind of evidence."`
	Why      string `json:"why" doc:"What it shows."`
}

func getTemplates(_ context.Context, in *templatesInput) (*httpapi.Body[templatesBody], error) {
	out := httpapi.Body[templatesBody]{Body: templatesBody{Templates: []templateBody{}}}
	for _, t := range All() {
		if in.Category != "" && t.Category != in.Category {
			continue
		}
		b, err := toTemplateBody(t)
		if err != nil {
			return nil, err
		}
		out.Body.Templates = append(out.Body.Templates, b)
	}
	return &out, nil
}

// toTemplateBody is the template with the names that its own type gives it.
func toTemplateBody(t Template) (b templateBody, err error) {
	text, err := json.Marshal(t)
	if err != nil {
		return b, err
	}
	return b, json.Unmarshal(text, &b)
}
