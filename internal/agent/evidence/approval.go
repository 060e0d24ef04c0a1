package evidence

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

// setApproval sets what a request for an approval leaves open.
func setApproval(ctx context.Context, r *Record) {
	v := r.Values
	v["uses"] = kind.IntegerValue(0)
	for _, name := range []string{"max_uses", "min_approvals"} {
		if v[name] == nil {
			v[name] = kind.IntegerValue(1)
		}
	}
	until := v.Time("expires_at")
	if until.IsZero() {
		until = r.CreatedAt.Add(approvalTime)
	}
	if latest := r.CreatedAt.Add(approvalMaxTime); until.After(latest) {
		until = latest
	}
	v["expires_at"] = kind.TimeValue(until)
	by := Requester(ctx, v)
	v["requested_by"], v["requesters"] = by, jsontext.Value("["+string(by)+"]")
	delete(v, namedMembers)
}

// namedMembers is a value that a request has on its way to the store: the members that it
// names.
const namedMembers = "named_members"

// Name notes which members a request for an approval names, before texts lose what the
// organization does not want to have stored.
func (s *intake) Name(ctx context.Context, org principal.OrgID, v Values) error {
	people, err := s.tenancy.Named(ctx, org, v.Text("subject_user"), v.Within("delegation").Text("principal"))
	if err == nil && len(people) > 0 {
		v[namedMembers], err = json.Marshal(people)
	}
	return err
}

// Requester is who asks, as approvals keep it: the caller's member and key, and the members
// that the request names.
func Requester(ctx context.Context, request Values) jsontext.Value {
	c := principal.From(ctx)
	v := kind.Values{"type": kind.TextValue("system"), "asserted": jsontext.Value(strconv.FormatBool(c.Asserted))}
	if c.Key != 0 {
		v["type"], v["api_key_id"] = kind.TextValue("api_key"), kind.IntegerValue(c.Key)
	}
	if c.User != nil {
		v["type"], v["user_id"] = kind.TextValue("user"), kind.TextValue(c.User.String())
	}
	if named := request[namedMembers]; named != nil {
		v[namedMembers] = named
	}
	return v.JSON()
}

// insertApprovalTx completes a request for an approval before it is stored, and has it looked
// at when its time is over.
func (s *things) insertApprovalTx(ctx context.Context, tx postgres.Tx, r *Record) error {
	if id := r.Values.Integer("policy_decision_id"); id != 0 && r.Origin != record.Platform {
		if err := s.completeApprovalTx(ctx, tx, r, id); err != nil {
			return err
		}
	}
	return s.EndTx(ctx, tx, r.ID, r.Values.Time("expires_at"))
}

// completeApprovalTx fills a request for an approval from the decision that it names: people
// decide on what the platform was asked, not on what the request says about it, and for as
// long as the rules give them.
func (s *things) completeApprovalTx(ctx context.Context, tx postgres.Tx, r *Record, decision int64) error {
	d, there, err := s.lockTx(ctx, tx, kind.Must(Decisions), decision)
	if err != nil || !there || d.Origin != record.Platform {
		return err
	}
	for to, from := range map[string]string{
		"input_digest": "input_digest", "request": "input", "invocation_id": "invocation_id", "side_effect_class": "side_effect_class", "reversibility": "reversibility",
		"amount": "amount", "frame_digest": "frame_digest", "requirements": "requirements",
	} {
		delete(r.Values, to)
		if value := d.Values[from]; value != nil {
			r.Values[to] = value
		}
	}
	// Who asked is whoever posts it, whoever asked for the decision, and those who asked for the
	// approval that the decision is about.
	var asked Record
	if id := d.Values.Integer("approval_id"); id != 0 {
		if asked, err = s.store.Find(ctx, tx, tx.Org, r.Kind, id); err != nil && !fault.IsNotFound(err) {
			return err
		}
	}
	askers := append(kind.Elements(r.Values["requesters"]), d.Values["requested_by"])
	askers = append(askers, kind.Elements(asked.Values["requesters"])...)
	if r.Values["requesters"], err = json.Marshal(askers); err != nil {
		return err
	}
	within := time.Duration(kind.Least(d.Values["requirements"], "expires_in_seconds")) * time.Second
	if latest := r.CreatedAt.Add(within); within > 0 && r.Values.Time("expires_at").After(latest) {
		r.Values["expires_at"] = kind.TimeValue(latest)
	}
	return nil
}

// AskersTx are all who asked for the action of an approval so far, whichever approval of it
// they got.
func (s *Service) AskersTx(ctx context.Context, tx postgres.Tx, r *Record) ([]jsontext.Value, error) {
	all := kind.Elements(r.Values["requesters"])
	digest := r.Values.Text("input_digest")
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
	return r.Origin == record.Platform || r.Values["frame_digest"] != nil
}
