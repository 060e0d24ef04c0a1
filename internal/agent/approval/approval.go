package approval

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
)

// States of an approval that rules depend on; the table of kinds has them all.
const (
	pending   = "pending"
	approved  = "approved"
	rejected  = "rejected"
	expired   = "expired"
	cancelled = "cancelled"
	consumed  = "consumed"
	revoked   = "revoked"
)

// What a caller sees of a decision that is refused.
var (
	ErrNotFound     = fault.New(fault.NotFound, "evidence_not_found", "The approval does not exist.")
	ErrNotApprover  = fault.New(fault.Forbidden, "not_an_approver", "You are not one of those who may decide on this approval: approver_groups lists their roles and ids.")
	ErrSelfApproval = fault.New(fault.Forbidden, "self_approval", "The organization's separation of duties requires that another person approve this. You made the request yourself, with a key of yours, or it names you.")
	ErrVotedBefore  = fault.New(fault.Conflict, "already_voted", "You have decided on this approval before.")
	ErrSameHand     = fault.New(fault.Conflict, "already_voted", "The same person may stand behind you and an earlier voter, because one of you let the other in, or the same member let both of you in: you count as one. Somebody else has to agree.")
	ErrNotPending   = fault.New(fault.Conflict, "invalid_transition", "The approval is no longer pending.")
	ErrExpired      = fault.New(fault.Conflict, "approval_expired", "The approval has expired. Ask for a new one.")
)

// Requirement is what one rule demands of an approval.
type Requirement struct {
	Rule   string   `json:"rule_id,omitempty"`
	Groups []string `json:"approver_groups,omitempty"`
	Min    int      `json:"min_approvals,omitempty"`
	// ExpiresIn is how long an approval holds for the rule, in seconds from when it was asked
	// for; 0 leaves it to the approval.
	ExpiresIn int64 `json:"expires_in_seconds,omitempty"`
}

// requirements are all that must be met: those of the policies, and what the request itself
// demands. A request can ask for more than the policies do, and not for less.
func requirements(r *evidence.Record) []Requirement {
	var all []Requirement
	_ = json.Unmarshal(r.Values[kind.FieldRequirements], &all) // only the platform sets it
	one := Requirement{Min: int(r.Values.MinApprovals())}
	_ = json.Unmarshal(r.Values[kind.FieldApproverGroups], &one.Groups) // the kind says that they are texts
	if len(all) == 0 || one.Min > 1 || len(one.Groups) > 0 {
		all = append(all, one)
	}
	return all
}

// has reports whether a member may decide for a requirement.
func (q Requirement) has(user string, role principal.Role) bool {
	groups := q.Groups
	if len(groups) == 0 {
		groups = []string{string(principal.Owner), string(principal.Admin)}
	}
	return slices.Contains(groups, user) || slices.Contains(groups, string(role))
}

// outlived reports whether an approval is older than a requirement accepts.
func outlived(all []Requirement, r *evidence.Record, now time.Time) bool {
	return slices.ContainsFunc(all, func(q Requirement) bool {
		return q.ExpiresIn > 0 && !now.Before(r.CreatedAt.Add(time.Duration(q.ExpiresIn)*time.Second))
	})
}

// vote is a vote as approvals show it.
type vote struct {
	Actor      voter          `json:"actor"`
	Role       principal.Role `json:"role"`
	Decision   string         `json:"decision"`
	Comment    string         `json:"comment,omitempty"`
	At         jsontext.Value `json:"at"`
	Separation string         `json:"separation_of_duties"`
}

type voter struct {
	Type     string    `json:"type"`
	User     uuid.UUID `json:"user_id"`
	Key      int64     `json:"api_key_id"`
	Asserted bool      `json:"asserted"`
}

func votesOf(r *evidence.Record) []vote {
	var all []vote
	_ = json.Unmarshal(r.Values[kind.FieldVotes], &all) // only the platform sets it
	return all
}

// met reports whether enough people agree for each requirement.
func met(all []Requirement, votes []vote) bool {
	for _, q := range all {
		n := 0
		for _, v := range votes {
			if v.Decision == approved && q.has(v.Actor.User.String(), v.Role) {
				n++
			}
		}
		if n < max(q.Min, 1) {
			return false
		}
	}
	return true
}
