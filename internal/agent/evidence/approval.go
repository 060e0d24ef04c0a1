package evidence

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// TopicApprovalDue is published for the moment at which an approval expires, whoever asked
// for it.
const TopicApprovalDue = "approval.due"

// ApprovalDue names the approval.
type ApprovalDue struct {
	ID int64 `json:"id"`
}

const (
	approvalTime    = 24 * time.Hour
	approvalMaxTime = 30 * 24 * time.Hour
	maxUses         = 1000
)

func init() {
	hooked[kind.Approvals] = hooks{check: checkApproval, link: linkApproval, begin: setApproval, insert: (*things).insertApprovalTx}
}

func checkApproval(d kind.Draft, need func(path, code, message string)) {
	v := d.Values
	if v[kind.FieldInputDigest] == nil && v[kind.FieldPolicyDecisionID] == nil {
		need("/input_digest", "one_of_required", "give the digest of the action, or policy_decision_id")
	}
	if n := v.MinApprovals(); v[kind.FieldMinApprovals] != nil && (n < 1 || n > 5) {
		need("/min_approvals", "max", "must be from 1 to 5")
	}
	if n := v.MaxUses(); v[kind.FieldMaxUses] != nil && (n < 1 || n > maxUses) {
		need("/max_uses", "max", "must be from 1 to 1000")
	}
}

func linkApproval(ctx context.Context, s *intake, org principal.OrgID, r *linked) error {
	return s.Name(ctx, org, r.draft.Values)
}

// setApproval sets what a request for an approval leaves open.
func setApproval(ctx context.Context, r *Record) {
	v := r.Values
	v[kind.FieldUses] = kind.IntegerValue(0)
	for _, name := range []string{kind.FieldMaxUses, kind.FieldMinApprovals} {
		if v[name] == nil {
			v[name] = kind.IntegerValue(1)
		}
	}
	until := v.ExpiresAt()
	if until.IsZero() {
		until = r.CreatedAt.Add(approvalTime)
	}
	if latest := r.CreatedAt.Add(approvalMaxTime); until.After(latest) {
		until = latest
	}
	v[kind.FieldExpiresAt] = kind.TimeValue(until)
	by := AskerOf(ctx, v).JSON()
	v[kind.FieldRequestedBy], v[kind.FieldRequesters] = by, jsontext.Value("["+string(by)+"]")
	delete(v, namedMembers)
}

// namedMembers is a value that a request has on its way to the store: the members that it
// names.
const namedMembers = "named_members"

// Name notes which members a request for an approval names, before texts lose what the
// organization does not want to have stored.
func (s *intake) Name(ctx context.Context, org principal.OrgID, v kind.Values) error {
	people, err := s.tenancy.Named(ctx, org, v.SubjectUser(), v.Delegation().Principal())
	if err == nil && len(people) > 0 {
		v[namedMembers], err = json.Marshal(people)
	}
	return err
}

// Asker is who asks for an action, as approvals keep it: the caller's member and key, and the
// members that the request names.
type Asker struct {
	Key      int64       `json:"api_key_id,omitzero"`
	Asserted bool        `json:"asserted"`
	Named    []uuid.UUID `json:"named_members,omitzero"`
	Type     string      `json:"type"`
	User     *uuid.UUID  `json:"user_id,omitzero"`
}

// AskerOf is who asks by a request.
func AskerOf(ctx context.Context, request kind.Values) Asker {
	c := principal.From(ctx)
	by := Asker{Key: c.Key, Asserted: c.Asserted, Type: "system", User: c.User}
	if c.Key != 0 {
		by.Type = "api_key"
	}
	if c.User != nil {
		by.Type = "user"
	}
	_ = json.Unmarshal(request[namedMembers], &by.Named) // none if it names nobody
	return by
}

// JSON is the asker as a value.
func (a Asker) JSON() jsontext.Value {
	text, _ := json.Marshal(a) // it has nothing that is not JSON
	return text
}

// insertApprovalTx completes a request for an approval before it is stored, and has it looked
// at when its time is over.
func (s *things) insertApprovalTx(ctx context.Context, tx postgres.Tx, r *Record) error {
	if id := r.Values.PolicyDecisionID(); id != 0 && r.Origin != record.Platform {
		if err := s.completeApprovalTx(ctx, tx, r, id); err != nil {
			return err
		}
	}
	return s.EndTx(ctx, tx, r.ID, r.Values.ExpiresAt())
}

// completeApprovalTx fills a request for an approval from the decision that it names: people
// decide on what the platform was asked, not on what the request says about it, and for as
// long as the rules give them.
func (s *things) completeApprovalTx(ctx context.Context, tx postgres.Tx, r *Record, decision int64) error {
	d, there, err := s.lockTx(ctx, tx, kind.Must(kind.PolicyDecisions), decision)
	if err != nil || !there || d.Origin != record.Platform {
		return err
	}
	for to, from := range map[string]string{
		kind.FieldInputDigest: kind.FieldInputDigest, kind.FieldRequest: kind.FieldInput, kind.FieldInvocationID: kind.FieldInvocationID,
		kind.FieldSideEffectClass: kind.FieldSideEffectClass, kind.FieldReversibility: kind.FieldReversibility,
		kind.FieldAmount: kind.FieldAmount, kind.FieldFrameDigest: kind.FieldFrameDigest, kind.FieldRequirements: kind.FieldRequirements,
	} {
		delete(r.Values, to)
		if value := d.Values[from]; value != nil {
			r.Values[to] = value
		}
	}
	// Who asked is whoever posts it, whoever asked for the decision, and those who asked for the
	// approval that the decision is about.
	var asked Record
	if id := d.Values.ApprovalID(); id != 0 {
		if asked, err = s.store.Find(ctx, tx, tx.Org, r.Kind, id); err != nil && !fault.IsNotFound(err) {
			return err
		}
	}
	askers := append(kind.Elements(r.Values[kind.FieldRequesters]), d.Values[kind.FieldRequestedBy])
	askers = append(askers, kind.Elements(asked.Values[kind.FieldRequesters])...)
	if r.Values[kind.FieldRequesters], err = json.Marshal(askers); err != nil {
		return err
	}
	for _, demand := range d.Values.Requirements() {
		within := time.Duration(demand.ExpiresInSeconds()) * time.Second
		if latest := r.CreatedAt.Add(within); within > 0 && r.Values.ExpiresAt().After(latest) {
			r.Values[kind.FieldExpiresAt] = kind.TimeValue(latest)
		}
	}
	return nil
}

// AskersTx are all who asked for the action of an approval so far, whichever approval of it
// they got.
func (s *Service) AskersTx(ctx context.Context, tx postgres.Tx, r *Record) ([]jsontext.Value, error) {
	all := kind.Elements(r.Values[kind.FieldRequesters])
	digest := r.Values.InputDigest()
	if digest == "" {
		return all, nil
	}
	found, err := s.store.AskersTx(ctx, tx, digest)
	for _, one := range found {
		if !slices.ContainsFunc(all, func(known jsontext.Value) bool { return string(known) == string(one) }) {
			all = append(all, one)
		}
	}
	return all, err
}

// EndTx has an approval looked at when its time is over.
func (s *things) EndTx(ctx context.Context, tx postgres.Tx, id int64, at time.Time) error {
	return s.log.PublishLaterTx(ctx, tx, max(0, at.Sub(s.now())), TopicApprovalDue, strconv.FormatInt(id, 10), ApprovalDue{id})
}

// Seen reports whether the platform knows which action an approval is about, so that
// whoever decided has seen it.
func Seen(r *Record) bool {
	return r.Origin == record.Platform || r.Values[kind.FieldFrameDigest] != nil
}
