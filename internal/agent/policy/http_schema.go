package policy

import (
	"cmp"
	"context"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Schema lists the states.
func (State) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(StateDraft, StateActive, StateRetired)
}

// Schema lists the modes.
func (Mode) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(ModeEnforce, ModeShadow, ModeDisabled)
}

// decision is what a test expects.
type decision engine.Decision

// Schema lists the decisions.
func (decision) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(engine.Allow, engine.Deny, engine.NeedsApproval)
}

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"AccessAnswer":      accessAnswer{},
	"BacktestPolicy":    backtestBody{},
	"CreatePolicy":      createBody{},
	"Estimate":          stat.Estimate{},
	"EvaluateAccess":    accessBody{},
	"EvaluatePolicy":    evaluateBody{},
	"Policy":            policyBody{},
	"PolicyAction":      actionBody{},
	"PolicyAppliesTo":   appliesInput{},
	"PolicyBacktest":    backtestReport{},
	"PolicyChange":      changeBody{},
	"PolicyConnector":   knownConnectorBody{},
	"PolicyDecided":     decidedBody{},
	"PolicyEntity":      entityBody{},
	"PolicyInvocation":  invocationBody{},
	"PolicyList":        listBody{},
	"PolicyScope":       appliesBody{},
	"PolicyShift":       shiftBody{},
	"PolicySkip":        skipBody{},
	"PolicyTerm":        termBody{},
	"PolicyTest":        testBody{},
	"PolicyTestCase":    testCase{},
	"PolicyTestReport":  testReport{},
	"PolicyTestResult":  testResult{},
	"PolicyTool":        knownToolBody{},
	"PolicyTruth":       truthBody{},
	"PolicyVersion":     versionBody{},
	"PolicyVersionList": listVersionsBody{},
	"PolicyVocabulary":  vocabularyBody{},
	"PolicyWarning":     warningBody{},
	"TestPolicy":        testPolicyBody{},
	"UpdatePolicy":      updateBody{},
}

type listInput struct {
	httpapi.CursorPage
	State     []State `query:"state,explode" doc:"Only policies in this state. Repeat the parameter to match any of several."`
	Mode      []Mode  `query:"mode,explode" doc:"Only policies with this mode. Repeat the parameter to match any of several."`
	PolicyKey string  `query:"policyKey" maxLength:"64" doc:"Only the policy with this key."`
}

type createBody struct {
	PolicyKey string       `json:"policyKey" pattern:"^[a-z][a-z0-9_-]{0,63}$" patternDescription:"lower-case letters, digits, _ and -, beginning with a letter" example:"payments" doc:"Name for programs, unique in the organization. It cannot be changed."`
	Name      string       `json:"name,omitempty" maxLength:"200" doc:"Name for people; the key if it is not sent."`
	Engine    string       `json:"engine,omitempty" enum:"cedar" default:"cedar" doc:"Language of the source. There is only Cedar."`
	Mode      Mode         `json:"mode,omitempty" default:"enforce" doc:"enforce decides; shadow changes nothing, and decisions say what it would have changed; disabled is not asked."`
	Source    string       `json:"source" minLength:"1" maxLength:"10240" doc:"The policy, in Cedar: at most 10,240 bytes and 50 statements."`
	AppliesTo appliesInput `json:"appliesTo,omitzero" doc:"Which questions the policy is asked about; all if it is not sent."`
	State     State        `json:"state,omitempty" default:"draft" doc:"draft, or active to decide at once."`
	Tests     []testCase   `json:"tests,omitempty" maxItems:"100" doc:"Questions with the decisions that the policy alone must come to. It is saved only if it passes all."`
}

// Check refuses what the schema cannot say.
func (b *createBody) Check(context.Context) error {
	if b.State == StateRetired {
		return fault.Invalid("body", "/state", "enum", "must be draft or active: a policy is retired later")
	}
	return b.AppliesTo.check()
}

type updateInput struct {
	Path
	httpapi.IfMatch
	Body updateBody
}

type updateBody struct {
	Name            httpapi.Set[string]       `json:"name,omitzero" minLength:"1" maxLength:"200" doc:"New name."`
	Mode            httpapi.Set[Mode]         `json:"mode,omitzero" doc:"New mode."`
	Source          httpapi.Set[string]       `json:"source,omitzero" minLength:"1" maxLength:"10240" doc:"New source."`
	AppliesTo       httpapi.Set[appliesInput] `json:"appliesTo,omitzero" doc:"Which questions the policy is asked about, replacing what was said before."`
	State           httpapi.Set[State]        `json:"state,omitzero" doc:"New state."`
	Tests           httpapi.Set[[]testCase]   `json:"tests,omitzero" maxItems:"100" doc:"New tests, replacing all existing ones."`
	ExpectedVersion int64                     `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

// Check refuses what the schema cannot say.
func (b *updateBody) Check(context.Context) error { return b.AppliesTo.Value.check() }

// check refuses keys that nothing has.
func (a appliesInput) check() error {
	if size := (engine.Source{AppliesTo: engine.AppliesTo(a)}).Size(); size > maxKeys {
		return httpapi.Invalid(fault.Field{In: "body", Path: "/appliesTo", Code: "max", Message: "must have keys of at most 16,384 bytes together", Limit: maxKeys})
	}
	for name, keys := range map[string][]string{"runtimeKeys": a.RuntimeKeys, "connectorKeys": a.ConnectorKeys, "environments": a.Environments} {
		for i, key := range keys {
			if key == "" || len(key) > maxKey {
				return httpapi.Invalid(fault.Field{
					In: "body", Path: "/appliesTo/" + name + "/" + strconv.Itoa(i), Code: "length", Message: "must have 1 to 256 bytes", Limit: maxKey,
				})
			}
		}
	}
	return nil
}

type appliesInput struct {
	RuntimeKeys   []string `json:"runtimeKeys,omitempty" maxItems:"100" doc:"Only questions of these runtimes; all if it is empty."`
	ConnectorKeys []string `json:"connectorKeys,omitempty" maxItems:"100" doc:"Only questions about these connectors; all if it is empty."`
	Environments  []string `json:"environments,omitempty" maxItems:"100" doc:"Only questions in these environments; all if it is empty."`
}

type appliesBody struct {
	RuntimeKeys   []string `json:"runtime_keys" doc:"Runtimes; empty means all."`
	ConnectorKeys []string `json:"connector_keys" doc:"Connectors; empty means all."`
	Environments  []string `json:"environments" doc:"Environments; empty means all."`
}

type testCase struct {
	Name   string         `json:"name" minLength:"1" maxLength:"200" doc:"What the test shows."`
	Input  httpapi.Object `json:"input" doc:"The question, as for evaluating policies: runtimeKey, toolInvocation, subject, action, resource and context; and what an evaluation looks up: environment, sideEffectClass, reversibility, connectorState, connectorTrust, history by the names of facts, and approvalSatisfied."`
	Expect decision       `json:"expect" doc:"The decision that the policy alone must come to."`
	RuleID string         `json:"ruleId,omitempty" maxLength:"100" doc:"Statement that must be among the reasons."`
}

type testBody struct {
	Name   string         `json:"name" doc:"What the test shows."`
	Input  httpapi.Object `json:"input" doc:"The question, as it was sent."`
	Expect decision       `json:"expect" doc:"The decision that the policy alone must come to."`
	RuleID *string        `json:"rule_id" doc:"Statement that must be among the reasons; null means any."`
}

// SpecFields are the fields of a policy that its versions keep.
type SpecFields struct {
	Mode      Mode        `json:"mode" doc:"enforce, shadow or disabled."`
	Source    string      `json:"source" doc:"The policy, in Cedar."`
	AppliesTo appliesBody `json:"applies_to" doc:"Which questions the policy is asked about."`
	Tests     []testBody  `json:"tests" doc:"Questions with the decisions that the policy alone comes to."`
}

type policyBody struct {
	ID        httpapi.ID `json:"id" doc:"Id of the policy."`
	PolicyKey string     `json:"policy_key" doc:"Name for programs."`
	Name      string     `json:"name" doc:"Name for people."`
	Engine    string     `json:"engine" enum:"cedar" doc:"Language of the source."`
	State     State      `json:"state" doc:"Active policies decide."`
	SpecFields
	PolicyVersion int64         `json:"policy_version" doc:"Number of the current version."`
	CreatedBy     httpapi.Actor `json:"created_by" doc:"Who created the policy."`
	CreatedAt     httpapi.Time  `json:"created_at" doc:"When the policy was created."`
	UpdatedAt     httpapi.Time  `json:"updated_at" doc:"When the policy last changed."`
	Version       int64         `json:"version" doc:"Counts changes of the policy; see If-Match."`
	Warnings      []warningBody `json:"warnings" volatile:"true" doc:"Names in the source that are not known, and uses of names that cannot work. Looked for when a policy is created, when what its versions keep is updated, and by a test; otherwise empty."`
}

// Noun is what documents call it.
func (policyBody) Noun() string { return "policy" }

type listBody struct {
	Policies []policyBody `json:"policies" doc:"The policies of this page, newest first."`
	httpapi.CursorPaging
}

type listVersionsInput struct {
	Path
	httpapi.CursorPage
}

type listVersionsBody struct {
	Versions []versionBody `json:"versions" doc:"The versions of this page, newest first."`
	httpapi.CursorPaging
}

type versionBody struct {
	ID            httpapi.ID `json:"id" doc:"Id of the version within the policy: its number."`
	PolicyVersion int64      `json:"policy_version" doc:"Number of the version."`
	SpecFields
	CreatedBy httpapi.Actor `json:"created_by" doc:"Who made the version."`
	CreatedAt httpapi.Time  `json:"created_at" doc:"When the version was made."`
}

type testInputs struct {
	Path
	Body testPolicyBody
}

type testPolicyBody struct {
	Source httpapi.Set[string]     `json:"source,omitzero" minLength:"1" maxLength:"10240" doc:"Source to test; that of the policy if it is not sent."`
	Tests  httpapi.Set[[]testCase] `json:"tests,omitzero" maxItems:"100" doc:"Tests to run; those of the policy if they are not sent."`
}

type testReport struct {
	Passed   bool          `json:"passed" doc:"Whether all tests passed."`
	Results  []testResult  `json:"results" doc:"What became of each test, in their order."`
	Warnings []warningBody `json:"warnings" doc:"Names in the source that are not known, and uses of names that cannot work."`
}

type testResult struct {
	Name    string  `json:"name" doc:"Name of the test."`
	Passed  bool    `json:"passed" doc:"Whether the policy decided as expected."`
	Message *string `json:"message" doc:"Why the test failed; null if it passed."`
}

// policy is the policy that a body asks for.
func (b createBody) policy() Policy {
	return Policy{
		Key: b.PolicyKey, Name: cmp.Or(b.Name, b.PolicyKey), State: b.State,
		Spec: Spec{Mode: b.Mode, Source: b.Source, AppliesTo: AppliesTo(b.AppliesTo), Tests: toTests(b.Tests)},
	}
}

// apply makes the sent changes.
func (b updateBody) apply(p *Policy) {
	b.Name.Apply(&p.Name)
	b.Mode.Apply(&p.Mode)
	b.Source.Apply(&p.Source)
	b.State.Apply(&p.State)
	if b.AppliesTo.Sent {
		p.AppliesTo = AppliesTo(b.AppliesTo.Value)
	}
	if b.Tests.Sent {
		p.Tests = toTests(b.Tests.Value)
	}
}

func toTests(cases []testCase) []Test {
	var out []Test
	for _, c := range cases {
		out = append(out, Test{Name: c.Name, Input: c.Input.OrEmpty(), Expect: engine.Decision(c.Expect), RuleID: c.RuleID})
	}
	return out
}

func toSpecFields(s Spec) SpecFields {
	out := SpecFields{
		Mode: s.Mode, Source: s.Source, Tests: make([]testBody, len(s.Tests)),
		AppliesTo: appliesBody{
			RuntimeKeys: httpapi.OrEmpty(s.AppliesTo.RuntimeKeys), ConnectorKeys: httpapi.OrEmpty(s.AppliesTo.ConnectorKeys), Environments: httpapi.OrEmpty(s.AppliesTo.Environments),
		},
	}
	for i, t := range s.Tests {
		out.Tests[i] = testBody{Name: t.Name, Input: httpapi.Object(t.Input), Expect: decision(t.Expect), RuleID: httpapi.OrNull(t.RuleID)}
	}
	return out
}

func toPolicyBody(p Policy, by httpapi.Actor) policyBody {
	return policyBody{
		ID: httpapi.ID(p.ID), PolicyKey: p.Key, Name: p.Name, Engine: "cedar", State: p.State, SpecFields: toSpecFields(p.Spec), PolicyVersion: p.Number,
		CreatedBy: by, CreatedAt: httpapi.Time(p.CreatedAt), UpdatedAt: httpapi.Time(p.UpdatedAt), Version: p.Changes, Warnings: []warningBody{},
	}
}
