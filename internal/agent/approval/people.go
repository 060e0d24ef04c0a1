package approval

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy"
)

// separationTx is the organization's setting.
func (s *Service) separationTx(ctx context.Context, tx postgres.Tx) (string, error) {
	o, err := s.tenancy.OrganizationTx(ctx, tx)
	return o.Settings.Separation(), err
}

// askedTx reports whether one of some people asked for an action: it was asked for with a key of
// theirs, on their behalf or in their name, by somebody who is in one hand with them, or, under
// key_owner, they stand behind the key that it came with.
func (s *Service) askedTx(
	ctx context.Context, tx postgres.Tx, people []uuid.UUID, separation string, askers []evidence.Asker,
) (bool, error) {
	if separation == tenancy.SeparationOff {
		return false, nil
	}
	keys, members := make([]int64, len(askers)), slices.Clone(people)
	for i, a := range askers {
		keys[i] = a.Key
		if members = append(members, a.Named...); a.User != nil {
			members = append(members, *a.User)
		}
	}
	lineage, err := s.tenancy.LineageTx(ctx, tx, keys...)
	if err != nil {
		return false, err
	}
	inviters, err := tenancy.InvitersTx(ctx, tx, members...)
	if err != nil {
		return false, err
	}
	one := func(asker uuid.UUID) bool {
		return slices.ContainsFunc(people, func(p uuid.UUID) bool { return p == asker || inviters.OneHand(p, asker) })
	}
	return slices.ContainsFunc(askers, func(a evidence.Asker) bool {
		return a.User != nil && one(*a.User) || slices.ContainsFunc(a.Named, one) ||
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
func askers(requesters jsontext.Value) []evidence.Asker {
	var all []evidence.Asker
	_ = json.Unmarshal(requesters, &all) // only the platform sets it
	return all
}
