package policy

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// decisionTime is how long a decision holds.
const decisionTime = time.Minute

// ErrDecisionExpired is returned when a request is repeated after its decision has ended.
var ErrDecisionExpired = fault.New(fault.Conflict, "decision_expired", "The decision under this idempotency key no longer holds: it has expired, or its runtime or connector was stopped. Ask again with a new key.")

// Decide decides whether an action may be taken, and records the decision. What the decision
// uses, an approval for example, is used if and only if it is recorded.
func (s *Service) Decide(ctx context.Context, org principal.OrgID, r Request) (made evidence.Record, err error) {
	err = s.decide(ctx, org, r, func(d *recording) error {
		return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
			made, err = d.recordTx(ctx, tx)
			return err
		})
	})
	return made, err
}

// recording is a decision that is to be recorded.
type recording struct {
	*Service
	asked asked
	with  *compiled
}

// decide lets commit record a decision in a transaction, and again if the policies change
// meanwhile.
func (s *Service) decide(ctx context.Context, org principal.OrgID, r Request, commit func(*recording) error) error {
	a, err := s.normalize(ctx, org, r)
	if err != nil {
		return err
	}
	if err := s.prepare(ctx, org, a); err != nil {
		return err
	}
	return s.withPolicies(ctx, org, func(with *compiled) error {
		if with.set.LooksBack(a.question) {
			done, err := s.turns.take(ctx, actorOfOrg{org, a.actor})
			if err != nil {
				return err
			}
			defer done()
		}
		return commit(&recording{s, *a, with})
	})
}

// prepare finds out who asks and which trace the question belongs to, and removes from what
// is recorded what the organization does not want to have stored. Policies and digests see
// the question as it was put.
func (s *Service) prepare(ctx context.Context, org principal.OrgID, a *asked) (err error) {
	if a.content, err = a.sum(); err != nil {
		return err
	}
	if a.clean, err = s.evidence.Cleaner(ctx, org); err != nil {
		return err
	}
	q := &a.question
	a.runtime, a.connector, a.actor = a.clean.Text(q.RuntimeKey), a.clean.Text(q.ConnectorKey), recordedActor(q, a.clean)
	if a.act, err = bound(q); err != nil {
		return err
	}
	if a.number, err = s.evidence.Link(ctx, org, a.trace); err != nil {
		return err
	}
	a.act.Request = kind.Values{}
	if a.SubjectUser != "" {
		a.act.Request[kind.FieldSubjectUser] = kind.TextValue(a.SubjectUser)
	}
	if err := s.evidence.Name(ctx, org, a.act.Request); err != nil {
		return err
	}
	return a.keep()
}

// keep is what is recorded of the question.
func (a *asked) keep() error {
	a.kept = kind.Values{kind.FieldInput: a.input}
	for name, text := range map[string]string{
		kind.FieldInvocationID: a.Call.ID, kind.FieldToolName: a.Call.Tool, kind.FieldAmount: a.act.Money(), kind.FieldSpanID: a.Span,
		kind.FieldSubjectUser: a.SubjectUser,
	} {
		if text != "" {
			a.kept[name] = kind.TextValue(text)
		}
	}
	a.clean.Values(kind.PolicyDecisions, a.kept)
	a.input = a.kept[kind.FieldInput]
	return json.Unmarshal(a.input, &a.stored)
}

// recordTx decides in a transaction, and records the decision. It fails with errStale if
// with is not the organization's policies any more.
func (d *recording) recordTx(ctx context.Context, tx postgres.Tx) (evidence.Record, error) {
	started, a := d.clock(), &d.asked
	var id int64
	world := &presentWorld{Service: d.Service, tx: tx, asked: a, with: d.with, first: d.evidence.NewID(ctx, &id)}
	if a.IdempotencyKey != "" {
		var made *evidence.Record
		var err error
		if id, made, err = d.evidence.ReserveTx(ctx, tx, kind.PolicyDecisions, a.IdempotencyKey, a.content); err != nil {
			return evidence.Record{}, err
		}
		if made != nil {
			return *made, d.holdsTx(ctx, tx, made.Values)
		}
		world.first = nil
	}
	out, err := decide(ctx, d.with.set, a, world)
	if err != nil {
		return evidence.Record{}, err
	}
	r := evidence.Record{ID: id, Number: a.number, IdempotencyKey: a.IdempotencyKey, Links: evidence.Links{
		RuntimeID: world.parties.Runtime.ID, RuntimeKey: a.runtime, ConnectorID: world.parties.Connector.ID, ConnectorKey: a.connector, Trace: a.trace,
	}}
	if out.Decision == engine.NeedsApproval && !a.DryRun {
		if out.approval, err = d.requestTx(ctx, tx, r, out); err != nil {
			return evidence.Record{}, err
		}
	}
	if r.Values, err = d.values(out); err != nil {
		return evidence.Record{}, err
	}
	r.Values[kind.FieldRequestedBy] = evidence.AskerOf(ctx, a.act.Request).JSON()
	r.Values[kind.FieldDurationUs] = kind.IntegerValue(d.clock().Sub(started).Microseconds())
	if r, err = d.evidence.MakeTx(ctx, tx, r, kind.PolicyDecisions); err != nil {
		return evidence.Record{}, err
	}
	if out.Decision == engine.Allow && !a.DryRun {
		err = d.store.rememberTx(ctx, tx, a.remembered(r.ID, d.now()))
	}
	return r, err
}

// holdsTx refuses to repeat a decision that has expired, and one that allows what somebody has
// stopped since: whoever gets it may act on it.
func (d *recording) holdsTx(ctx context.Context, tx postgres.Tx, made kind.Values) error {
	if !d.now().Before(made.ExpiresAt()) {
		return ErrDecisionExpired
	}
	if made.Decision() != string(engine.Allow) {
		return nil
	}
	parties, err := d.evidence.PartiesTx(ctx, tx, d.asked.runtime, d.asked.connector)
	if err == nil && d.asked.knownOf(parties).stopped() != (engine.Reason{}) {
		err = ErrDecisionExpired
	}
	return err
}

// requestTx asks people.
func (d *recording) requestTx(ctx context.Context, tx postgres.Tx, made evidence.Record, out answer) (int64, error) {
	a, q := &d.asked, &d.asked.question
	what := q.ConnectorKey + "/" + q.ToolName
	if q.ToolName == "" {
		_, _, resource := q.Entities()
		what = resource.Type + " " + resource.ID
	}
	reason := "The policies ask for an approval."
	if len(out.Reasons) > 0 && out.Reasons[0].Message != "" {
		reason = out.Reasons[0].Message
	}
	r := evidence.Record{Number: made.Number, Links: made.Links, Values: kind.Values{
		kind.FieldTitle: kind.TextValue(title(a.clean.Text(who(q) + " asks to use " + what))), kind.FieldReason: kind.TextValue(reason),
		kind.FieldRequest: a.input, kind.FieldPolicyDecisionID: kind.IntegerValue(made.ID), kind.FieldSideEffectClass: kind.TextValue(out.class),
		kind.FieldReversibility: kind.TextValue(out.reversible), kind.FieldExpiresAt: kind.TimeValue(d.now().Add(out.Approval.ExpiresIn)),
	}}
	for _, name := range []string{kind.FieldInvocationID, kind.FieldAmount} {
		if v := a.kept[name]; v != nil {
			r.Values[name] = v
		}
	}
	requested, err := d.approvals.RequestTx(ctx, tx, a.act, r)
	return requested.ID, err
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
func (d *recording) values(out answer) (kind.Values, error) {
	a, mode := &d.asked, "enforce"
	if a.DryRun {
		mode = "dry_run"
	}
	question, err := a.record(out)
	if err != nil {
		return nil, err
	}
	v := kind.Values{
		kind.FieldDecision: kind.TextValue(string(out.Decision)), kind.FieldEngine: kind.TextValue("cedar"), kind.FieldMode: kind.TextValue(mode),
		kind.FieldInputDigest: kind.TextValue(a.act.Digest), kind.FieldFrameDigest: kind.TextValue(a.act.Frame),
		kind.FieldPolicySetDigest: kind.TextValue(out.set), kind.FieldSideEffectClass: kind.TextValue(out.class),
		kind.FieldReversibility: kind.TextValue(out.reversible), kind.FieldExpiresAt: kind.TimeValue(d.now().Add(decisionTime)),
	}
	maps.Copy(v, a.kept)
	v[kind.FieldInput] = question
	if out.approval != 0 {
		v[kind.FieldApprovalID] = kind.IntegerValue(out.approval)
	}
	return v, lists(v, a, out)
}

// lists are the fields that are lists.
func lists(v kind.Values, a *asked, out answer) error {
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
	for name, list := range map[string]any{kind.FieldReasons: reasons, kind.FieldObligations: obligations, kind.FieldShadow: shadows, kind.FieldErrors: errs, kind.FieldRequirements: a.act.Requirements} {
		text, err := json.Marshal(list)
		if err != nil {
			return err
		}
		v[name] = text
	}
	if len(a.act.Requirements) == 0 {
		delete(v, kind.FieldRequirements)
	}
	return nil
}
