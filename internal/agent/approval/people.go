package approval

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy"
)

// asker is who asked for an action, as approvals keep it.
type asker struct {
	User *uuid.UUID `json:"user_id"`
	Key  int64      `json:"api_key_id"`
	// Named are the members that the request names.
	Named []uuid.UUID `json:"named_members"`
}

// separationTx is the organization's setting.
func (s *Service) separationTx(ctx context.Context, tx postgres.Tx) (string, error) {
	o, err := s.tenancy.OrganizationTx(ctx, tx)
	return o.Settings.Separation(), err
}

// askedTx reports whether one of some people asked for an action: it was asked for with a key of
// theirs, on their behalf or in their name, or, under key_owner, they stand behind the key that it
// came with.
func (s *Service) askedTx(ctx context.Context, tx postgres.Tx, people []uuid.UUID, separation string, askers []asker) (bool, error) {
	if separation == tenancy.SeparationOff {
		return false, nil
	}
	keys := make([]int64, len(askers))
	for i, a := range askers {
		keys[i] = a.Key
	}
	lineage, err := s.tenancy.LineageTx(ctx, tx, keys...)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(askers, func(a asker) bool {
		return a.User != nil && slices.Contains(people, *a.User) || shared(people, a.Named) ||
			separation == tenancy.SeparationKeyOwner && shared(people, lineage.People(a.Key))
	}), nil
}

// shared reports whether somebody is among both.
func shared(a, b []uuid.UUID) bool {
	return slices.ContainsFunc(a, func(p uuid.UUID) bool { return slices.Contains(b, p) })
}

// standingTx are the votes of those who are still members, with the roles that they have now. A
// vote with a key that somebody else made, as older releases took it, is not a person's.
func (s *Service) standingTx(ctx context.Context, tx postgres.Tx, votes []vote) (out []vote, err error) {
	if len(votes) == 0 {
		return nil, nil
	}
	users := make([]uuid.UUID, len(votes))
	for i, v := range votes {
		users[i] = v.Actor.User
	}
	roles, err := s.tenancy.RolesTx(ctx, tx, users...)
	for _, v := range votes {
		if role, member := roles[v.Actor.User]; member && !v.Actor.Asserted {
			v.Role = role
			out = append(out, v)
		}
	}
	return out, err
}

// askers are who asked for an action, as its approvals name them.
func askers(requesters jsontext.Value) []asker {
	var all []asker
	if len(requesters) > 0 {
		_ = json.Unmarshal(requesters, &all) // only the platform sets it
	}
	return all
}
