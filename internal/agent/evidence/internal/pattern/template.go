package pattern

import (
	"embed"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// Template is a pattern of work.
type Template struct {
	Key              string          `json:"template_key"`
	Name             string          `json:"name"`
	Version          string          `json:"version"`
	Category         string          `json:"category"`
	Description      string          `json:"description"`
	Steps            []Step          `json:"steps"`
	ConnectorTypes   []string        `json:"connector_types"`
	RecommendedRules []Rule          `json:"recommended_rules"`
	ApprovalPoints   []ApprovalPoint `json:"approval_points"`
	FailureModes     []string        `json:"failure_modes"`
	Risks            []Risk          `json:"risks"`
	ExpectedEvidence []Expected      `json:"expected_evidence"`
	Metrics          []string        `json:"metrics"`
	Simulation       Simulation      `json:"simulation"`
	ReleaseGates     []Gate          `json:"release_gates"`
}

// Step is a step of the pattern. ToolRole names it within its template.
type Step struct {
	Primitive       string `json:"primitive_type"`
	ToolRole        string `json:"tool_role"`
	SideEffectClass string `json:"side_effect_class"`
}

// Rule is a policy that guards the pattern.
type Rule struct {
	ID     string `json:"id"`
	Effect Effect `json:"effect"`
	// Policy is one Cedar policy.
	Policy string `json:"policy"`
	Why    string `json:"why"`
}

// ApprovalPoint is where a person must agree.
type ApprovalPoint struct {
	// Step is the ToolRole of a step.
	Step string `json:"step"`
	// Rule is the ID of the rule that asks for the approval.
	Rule string `json:"rule"`
	When string `json:"when"`
	// Groups are roles of the organization. A team puts its own people here.
	Groups       []string `json:"groups"`
	MinApprovals int      `json:"min_approvals"`
}

// Risk is what can go wrong, and what the template does about it.
type Risk struct {
	Title       string `json:"title"`
	Severity    string `json:"severity"`
	FailureMode string `json:"failure_mode"`
	Mitigation  string `json:"mitigation"`
}

// Expected is evidence that a run of the pattern leaves, if it is well instrumented.
type Expected struct {
	Resource kind.Name `json:"resource"`
	Why      string    `json:"why"`
}

// Simulation tries the pattern without touching the world.
type Simulation struct {
	Plan       []PlanStep  `json:"plan"`
	Faults     []Fault     `json:"faults"`
	Assertions []Assertion `json:"assertions"`
}

// PlanStep is a call of a tool in a simulation.
type PlanStep struct {
	StepKey         string         `json:"step_key"`
	ConnectorKey    string         `json:"connector_key"`
	ToolName        string         `json:"tool_name"`
	Arguments       jsontext.Value `json:"arguments"`
	DependsOn       []string       `json:"depends_on"`
	SideEffectClass string         `json:"side_effect_class"`
	Reversibility   string         `json:"reversibility"`
	Compensation    *Compensation  `json:"compensation,omitzero"`
}

// Compensation is the call that undoes a step.
type Compensation struct {
	ToolName  string         `json:"tool_name"`
	Arguments jsontext.Value `json:"arguments"`
}

// Fault is what goes wrong in a simulation, at one step or at every call of a tool.
type Fault struct {
	StepKey  string `json:"step_key,omitzero"`
	ToolName string `json:"tool_name,omitzero"`
	Type     string `json:"type"`
	// Probability of the fault. 0 stands for 1: a fault that is listed happens.
	Probability float64 `json:"probability,omitzero"`
	// OnAttempt is the attempt that it happens on; 0 is every attempt.
	OnAttempt int            `json:"on_attempt,omitzero"`
	Payload   jsontext.Value `json:"payload,omitzero"`
}

// Assertion is what must hold after a simulation. Which of the other members it has
// depends on the type.
type Assertion struct {
	Type     string `json:"type"`
	Class    string `json:"class,omitzero"`
	N        *int   `json:"n,omitzero"`
	Value    string `json:"value,omitzero"`
	Currency string `json:"currency,omitzero"`
	StepKey  string `json:"step_key,omitzero"`
	Decision string `json:"decision,omitzero"`
	ToolName string `json:"tool_name,omitzero"`
}

// Gate is what a release of such an agent should pass.
type Gate struct {
	Key      string         `json:"key"`
	Type     string         `json:"type"`
	Params   jsontext.Value `json:"params"`
	Required bool           `json:"required"`
}

//go:embed templates/*.json
var files embed.FS

// texts are the templates as JSON without space, in the order of the names of their files.
var texts = sync.OnceValue(func() []jsontext.Value {
	list, err := files.ReadDir("templates")
	if err != nil {
		panic("pattern: " + err.Error()) // the files are part of the program
	}
	all := make([]jsontext.Value, len(list))
	for i, f := range list {
		if all[i], err = files.ReadFile("templates/" + f.Name()); err == nil {
			err = all[i].Compact()
		}
		if err != nil {
			panic(fmt.Sprintf("pattern: template %s: %v", f.Name(), err))
		}
	}
	return all
})

// All are the templates, always in the same order. The caller may change what it gets.
func All() []Template {
	all := make([]Template, len(texts()))
	for i, text := range texts() {
		if err := json.Unmarshal(text, &all[i], json.RejectUnknownMembers(true)); err != nil {
			panic(fmt.Sprintf("pattern: template %d: %v", i+1, err)) // tests read all of them
		}
	}
	return all
}
