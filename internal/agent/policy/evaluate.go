package policy

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/approval"
	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// decisionTime is how long a decision holds.
const decisionTime = time.Minute

// ErrDecisionExpired is returned when a request is repeated after its decision has ended.
var ErrDecisionExpired = fault.New(fault.Conflict, "decision_expired", "The decision under this idempotency key no longer holds: it has expired, or its runtime or connector was stopped. Ask again with a new key.")

// Ask is a question about an action, as a caller puts it.
type Ask struct {
	Question engine.Question
	// InvocationID names the call.
	InvocationID string
	// Approval is the one that the caller presents; 0 if there is none.
	Approval int64
	// Supported are the obligations that the caller can honour; nil means that it does
	// not say.
	Supported []string
	// DryRun asks for a decision that nobody acts on.
	DryRun         bool
	IdempotencyKey string
	Trace          span.TraceID
	SpanID         string
	SubjectUser    string

	// Input is the question as it was put, for the record.
	Input jsontext.Value

	// Found before the transaction.
	act     approval.Action
	number  int64
	content []byte           // digest of all that was asked
	clean   evidence.Cleaner // for what is recorded
	kept    evidence.Values  // what is recorded of the question
	stored  evidence.Values  // the input of kept, read once
	actor   string           // whose past counts

	// The parties by the keys by which reports know them.
	runtime, connector string
}

// prepare finds out who asks and which trace the question belongs to, and removes from what
// is recorded what the organization does not want to have stored. Policies and digests see
// the question as it was put.
func (s *Service) prepare(ctx context.Context, org principal.OrgID, a *Ask) (err error) {
	if a.content, err = a.sum(); err != nil {
		return err
	}
	if a.clean, err = s.evidence.Cleaner(ctx, org); err != nil {
		return err
	}
	q := &a.Question
	a.runtime, a.connector, a.actor = a.clean.Text(q.RuntimeKey), a.clean.Text(q.ConnectorKey), recordedActor(q, a.clean)
	if a.act, err = bound(q); err != nil {
		return err
	}
	if a.number, err = s.evidence.Link(ctx, org, a.Trace); err != nil {
		return err
	}
	a.act.Request = evidence.Values{}
	if a.SubjectUser != "" {
		a.act.Request["subject_user"] = evidence.Text(a.SubjectUser)
	}
	if err := s.evidence.Name(ctx, org, a.act.Request); err != nil {
		return err
	}
	return a.keep()
}

// keep is what is recorded of the question.
func (a *Ask) keep() error {
	a.kept = evidence.Values{"input": a.Input}
	for name, text := range map[string]string{
		"invocation_id": a.InvocationID, "tool_name": a.Question.ToolName, "amount": a.act.Money(), "span_id": a.SpanID, "subject_user": a.SubjectUser,
	} {
		if text != "" {
			a.kept[name] = evidence.Text(text)
		}
	}
	a.clean.Values(evidence.Decisions, a.kept)
	a.Input = a.kept["input"]
	return json.Unmarshal(a.Input, &a.stored)
}

// EvaluateTx decides whether an action may be taken, and records the decision. What the
// decision uses, an approval for example, is used if and only if it is recorded.
// It fails with errStale if with is not the organization's policies any more.
func (s *Service) EvaluateTx(ctx context.Context, tx postgres.Tx, a Ask, with *compiled) (evidence.Record, error) {
	started := s.clock()
	var id int64
	first := s.evidence.NewID(ctx, &id)
	if a.IdempotencyKey != "" {
		var made *evidence.Record
		var err error
		if id, made, err = s.evidence.ReserveTx(ctx, tx, evidence.Decisions, a.IdempotencyKey, a.content); err != nil {
			return evidence.Record{}, err
		}
		if made != nil {
			return *made, s.holdsTx(ctx, tx, &a, made.Values)
		}
		first = nil
	}
	out, err := s.decideTx(ctx, tx, &a, with, first)
	if err != nil {
		return evidence.Record{}, err
	}
	r := evidence.Record{ID: id, Number: a.number, IdempotencyKey: a.IdempotencyKey, Links: evidence.Links{
		RuntimeID: out.parties.Runtime.ID, RuntimeKey: a.runtime, ConnectorID: out.parties.Connector.ID, ConnectorKey: a.connector, Trace: a.Trace,
	}}
	if out.Decision == engine.NeedsApproval && !a.DryRun {
		if out.approval, err = s.requestTx(ctx, tx, &a, r, out); err != nil {
			return evidence.Record{}, err
		}
	}
	if r.Values, err = s.values(&a, out); err != nil {
		return evidence.Record{}, err
	}
	r.Values["requested_by"] = evidence.Requester(ctx, a.act.Request)
	r.Values["duration_us"] = evidence.Integer(s.clock().Sub(started).Microseconds())
	if r, err = s.evidence.MakeTx(ctx, tx, r, evidence.Decisions); err != nil {
		return evidence.Record{}, err
	}
	if out.Decision == engine.Allow && !a.DryRun {
		err = s.store.rememberTx(ctx, tx, a.remembered(r.ID, s.now()))
	}
	return r, err
}

// holdsTx refuses to repeat a decision that has expired, and one that allows what somebody has
// stopped since: whoever gets it may act on it.
func (s *Service) holdsTx(ctx context.Context, tx postgres.Tx, a *Ask, made evidence.Values) error {
	if !s.now().Before(made.Time("expires_at")) {
		return ErrDecisionExpired
	}
	if made.Text("decision") != string(engine.Allow) {
		return nil
	}
	parties, err := s.evidence.PartiesTx(ctx, tx, a.runtime, a.connector)
	if err == nil && stop(parties) != (engine.Reason{}) {
		err = ErrDecisionExpired
	}
	return err
}

// requirements are what the policies demand of an approval.
func requirements(a engine.Approval) []approval.Requirement {
	out := make([]approval.Requirement, len(a.Requirements))
	for i, r := range a.Requirements {
		out[i] = approval.Requirement{Rule: r.PolicyKey + "/" + r.RuleID, Groups: r.Groups, Min: r.Min, ExpiresIn: int64(r.ExpiresIn / time.Second)}
	}
	return out
}

// requestTx asks people.
func (s *Service) requestTx(ctx context.Context, tx postgres.Tx, a *Ask, decision evidence.Record, out answer) (int64, error) {
	q := a.Question
	what := q.ConnectorKey + "/" + q.ToolName
	if q.ToolName == "" {
		_, _, resource := q.Entities()
		what = resource.Type + " " + resource.ID
	}
	reason := "The policies ask for an approval."
	if len(out.Reasons) > 0 && out.Reasons[0].Message != "" {
		reason = out.Reasons[0].Message
	}
	r := evidence.Record{Number: decision.Number, Links: decision.Links, Values: evidence.Values{
		"title": evidence.Text(title(a.clean.Text(who(&q) + " asks to use " + what))), "reason": evidence.Text(reason), "request": a.Input, "policy_decision_id": evidence.Integer(decision.ID),
		"side_effect_class": evidence.Text(out.class), "reversibility": evidence.Text(out.reversible), "expires_at": evidence.Time(s.now().Add(out.Approval.ExpiresIn)),
	}}
	for _, name := range []string{"invocation_id", "amount"} {
		if v := a.kept[name]; v != nil {
			r.Values[name] = v
		}
	}
	made, err := s.approvals.RequestTx(ctx, tx, a.act, r)
	return made.ID, err
}

// maxTitle bounds the title of an approval, as the kind does for those that are posted.
const maxTitle = 1024

// title is a text as a title.
func title(text string) string {
	if len(text) <= maxTitle {
		return text
	}
	return strings.ToValidUTF8(text[:maxTitle-len("…")], "") + "…"
}

// who is the name of the one who acts.
func who(q *engine.Question) string {
	if q.RuntimeKey != "" {
		return q.RuntimeKey
	}
	subject, _, _ := q.Entities()
	return subject.ID
}

// values are the fields of a decision.
func (s *Service) values(a *Ask, out answer) (evidence.Values, error) {
	mode := "enforce"
	if a.DryRun {
		mode = "dry_run"
	}
	question, err := a.record(out)
	if err != nil {
		return nil, err
	}
	v := evidence.Values{
		"decision": evidence.Text(string(out.Decision)), "engine": evidence.Text("cedar"), "mode": evidence.Text(mode),
		"input_digest": evidence.Text(a.act.Digest), "frame_digest": evidence.Text(a.act.Frame), "policy_set_digest": evidence.Text(out.set),
		"side_effect_class": evidence.Text(out.class), "reversibility": evidence.Text(out.reversible), "expires_at": evidence.Time(s.now().Add(decisionTime)),
	}
	maps.Copy(v, a.kept)
	v["input"] = question
	if out.approval != 0 {
		v["approval_id"] = evidence.Integer(out.approval)
	}
	return v, lists(v, a, out)
}

// lists are the fields that are lists.
func lists(v evidence.Values, a *Ask, out answer) error {
	type reason struct {
		Code    string `json:"code"`
		Message string `json:"message,omitempty"`
		Policy  string `json:"policy_key,omitempty"`
		Version int64  `json:"policy_version,omitzero"`
		Rule    string `json:"rule_id,omitempty"`
	}
	type obligation struct {
		ID   string         `json:"id"`
		Type string         `json:"type"`
		Ext  jsontext.Value `json:"ext"`
	}
	type shadow struct {
		Policy   string          `json:"policy_key"`
		Decision engine.Decision `json:"decision"`
	}
	reasons, obligations, shadows := []reason{}, []obligation{}, []shadow{}
	for _, r := range out.Reasons {
		reasons = append(reasons, reason{r.Code, a.clean.Text(r.Message), r.PolicyKey, r.PolicyVersion, r.RuleID})
	}
	for _, o := range out.Obligations {
		obligations = append(obligations, obligation{o.ID, o.Type, o.Ext})
	}
	for _, one := range out.Shadow {
		shadows = append(shadows, shadow{one.PolicyKey, one.Decision})
	}
	errs := []string{}
	for _, e := range out.Errors { // they may quote what the question says
		errs = append(errs, a.clean.Text(e))
	}
	for name, list := range map[string]any{"reasons": reasons, "obligations": obligations, "shadow": shadows, "errors": errs, "requirements": a.act.Requirements} {
		text, err := json.Marshal(list)
		if err != nil {
			return err
		}
		v[name] = text
	}
	if len(a.act.Requirements) == 0 {
		delete(v, "requirements")
	}
	return nil
}
