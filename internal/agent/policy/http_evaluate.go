package policy

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

func (s *Service) registerEvaluations(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "evaluatePolicy", Method: http.MethodPost, Path: "/api/agent-evidence/policy/evaluate", Tag: "Agent evidence", Scope: principal.TracesWrite, Status: 201, Strict: true,
		Summary: "Ask whether an action may be taken",
		Description: "Decides by the organization's active policies, and records the decision. A suspended runtime and a blocked connector are denied everything; otherwise a matching forbid denies, a rule that requires an approval asks for one unless `approvalId` presents it, and a permit allows. An action that no policy permits is denied, and so is one that cannot be evaluated. " +
			"While an approval of the same action is pending, asking again returns that one. Presenting an approval uses it: it must be approved, unexpired, for the same subject, action, resource and arguments, and given by another person. `dry_run` records the decision without asking for or using an approval. " +
			"A rule that forbids or requires an approval also holds for the runtime, the action `tool.call` and the tool if the question also names another `subject`, `action` or `resource`; a permit must match the question as it was sent. " +
			"A decision holds until `expires_at`. A request that is repeated with the same key after that, or after the runtime or connector of an allowed action was stopped, is answered with 409 `decision_expired`.",
	}, s.postEvaluation)
	httpapi.Register(e, httpapi.Op{
		ID: "evaluateAccess", Method: http.MethodPost, Path: "/access/v1/evaluation", Tag: "Agent evidence", Scope: principal.TracesWrite, Status: 200, Strict: true,
		Summary:     "Ask whether an action may be taken, in the AuthZEN format",
		Description: "The evaluation of the AuthZEN Authorization API: `decision` is true only if the action is allowed now, and `context` is the recorded policy decision, with the approval that was asked for if there is one. A request that is repeated after its decision has expired, or after the runtime or connector was stopped, is answered with 409 `decision_expired`.",
	}, s.postAccess)
}

// entityBody is a subject, an action or a resource.
type entityBody struct {
	Type       string         `json:"type,omitempty" maxLength:"256" doc:"Type; letters, digits and underscores, other characters become underscores."`
	ID         string         `json:"id,omitempty" maxLength:"1024" doc:"Id."`
	Properties httpapi.Object `json:"properties,omitzero" doc:"Attributes that policies can read."`
}

func (b entityBody) entity() Entity {
	return Entity{Type: b.Type, ID: b.ID, Properties: jsontext.Value(b.Properties)}
}

// actionBody is what is done.
type actionBody struct {
	Name       string         `json:"name,omitempty" maxLength:"1024" doc:"Name of the action; tool.call by default."`
	Properties httpapi.Object `json:"properties,omitzero" doc:"Attributes that policies can read."`
}

func (b actionBody) entity() Entity {
	return Entity{ID: b.Name, Properties: jsontext.Value(b.Properties)}
}

// invocationBody is a call of a tool.
type invocationBody struct {
	ConnectorKey string         `json:"connectorKey,omitempty" maxLength:"256" doc:"Key of the connector."`
	ToolName     string         `json:"toolName" minLength:"1" maxLength:"256" doc:"Name of the tool."`
	Arguments    httpapi.Object `json:"arguments,omitzero" doc:"Arguments of the call."`
	InvocationID string         `json:"invocationId,omitempty" maxLength:"256" doc:"Id of the call."`
}

type evaluateBody struct {
	Subject              entityBody      `json:"subject,omitzero" doc:"Who acts; the runtime by default."`
	Action               actionBody      `json:"action,omitzero" doc:"What is done."`
	Resource             entityBody      `json:"resource,omitzero" doc:"What it is done to; the tool by default. Required without toolInvocation."`
	Context              httpapi.Object  `json:"context,omitzero" doc:"Circumstances that policies can read."`
	ToolInvocation       invocationBody  `json:"toolInvocation,omitzero" doc:"The call of a tool that is asked about."`
	RuntimeKey           string          `json:"runtimeKey,omitempty" maxLength:"256" doc:"Key of the runtime that acts; one that is not known is added. Required without subject."`
	TraceID              string          `json:"traceId,omitempty" maxLength:"32" doc:"Trace that the action belongs to, 32 hexadecimal digits."`
	SpanID               string          `json:"spanId,omitempty" maxLength:"16" doc:"Span that the action belongs to, 16 hexadecimal digits."`
	SubjectUser          string          `json:"subjectUser,omitempty" maxLength:"256" doc:"Person for whom the agent acts: id or e-mail address of a member, or a name of your own. A member who is named cannot approve the action."`
	ApprovalID           httpapi.IDInput `json:"approvalId,omitzero" doc:"Approval that is presented."`
	SupportedObligations []string        `json:"supportedObligations,omitempty" maxItems:"50" doc:"Obligations that you can honour. An action with another one is denied."`
	Mode                 string          `json:"mode,omitempty" enum:"enforce,dry_run" default:"enforce" doc:"dry_run records what the decision would be."`
	PolicyKeys           []string        `json:"policyKeys,omitempty" maxItems:"100" doc:"Asks only these policies; with dry_run only."`
	IdempotencyKey       string          `json:"idempotencyKey,omitempty" maxLength:"256" doc:"Name of the request: the same action under the same name is decided once. 409 decision_expired once that decision has expired."`
}

// Check refuses a question that says too little.
func (b *evaluateBody) Check(context.Context) error {
	r := b.request()
	return r.Check()
}

func (b *evaluateBody) request() Request {
	call := b.ToolInvocation
	return Request{
		Subject: b.Subject.entity(), Action: b.Action.entity(), Resource: b.Resource.entity(), Context: jsontext.Value(b.Context),
		Call:    Call{Connector: call.ConnectorKey, Tool: call.ToolName, Arguments: jsontext.Value(call.Arguments), ID: call.InvocationID},
		Runtime: b.RuntimeKey, Only: b.PolicyKeys, Approval: int64(b.ApprovalID), Supported: b.SupportedObligations, DryRun: b.Mode == "dry_run",
		IdempotencyKey: b.IdempotencyKey, SubjectUser: b.SubjectUser, Trace: b.TraceID, Span: b.SpanID,
	}
}

type decisionOutput struct {
	ETag     string `header:"ETag" doc:"The decision's version."`
	Location string `header:"Location" doc:"Path of the decision."`
	Body     evidence.DecisionBody
}

func (s *Service) postEvaluation(ctx context.Context, in *httpapi.Body[evaluateBody]) (*decisionOutput, error) {
	return s.answer(ctx, in.Body.request())
}

// answer decides. The answer that is remembered for an Idempotency-Key is repeated only while
// the decision holds.
func (s *Service) answer(ctx context.Context, r Request) (out *decisionOutput, err error) {
	err = s.decide(ctx, principal.From(ctx).Org, r, func(d *recording) error {
		out, err = change.Do(ctx, s.log, func(tx postgres.Tx) (*decisionOutput, error) {
			r, err := d.recordTx(ctx, tx)
			if err != nil {
				return nil, err
			}
			return &decisionOutput{ETag: httpapi.ETag(r.Version), Location: evidence.Location(&r), Body: evidence.ToDecisionBody(&r)}, nil
		}, func(tx postgres.Tx, first *decisionOutput) error {
			var made kind.Values
			if err := json.Unmarshal([]byte(first.Body), &made); err != nil {
				return err
			}
			return d.holdsTx(ctx, tx, made)
		})
		return err
	})
	return out, err
}

type accessBody struct {
	Subject  entityBody     `json:"subject" doc:"Who acts."`
	Action   actionBody     `json:"action" doc:"What is done."`
	Resource entityBody     `json:"resource" doc:"What it is done to."`
	Context  httpapi.Object `json:"context,omitzero" doc:"Circumstances that policies can read."`
}

// Check refuses a question that says too little.
func (b *accessBody) Check(context.Context) error {
	for path, text := range map[string]string{"/subject/id": b.Subject.ID, "/action/name": b.Action.Name, "/resource/id": b.Resource.ID} {
		if text == "" {
			return fault.Invalid("body", path, "required", "is required")
		}
	}
	return nil
}

type accessAnswer struct {
	Decision bool                  `json:"decision" doc:"Whether the action is allowed now."`
	Context  evidence.DecisionBody `json:"context" doc:"The recorded decision."`
}

func (s *Service) postAccess(ctx context.Context, in *httpapi.Body[accessBody]) (*httpapi.Body[accessAnswer], error) {
	b := in.Body
	out, err := s.answer(ctx, Request{Subject: b.Subject.entity(), Action: b.Action.entity(), Resource: b.Resource.entity(), Context: jsontext.Value(b.Context)})
	if err != nil {
		return nil, err
	}
	var made struct {
		Allowed bool `json:"allowed"`
	}
	if err := json.Unmarshal([]byte(out.Body), &made); err != nil {
		return nil, err
	}
	return httpapi.NewBody(accessAnswer{Decision: made.Allowed, Context: out.Body}), nil
}
