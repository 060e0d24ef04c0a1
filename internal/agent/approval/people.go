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

// askedTx reports whether one of some people asked for an action: it was asked for with a key
// of theirs, on their behalf or in their name, with a key that is in one hand with theirs, or,
// under key_owner, they stand behind the key that it came with.
func (s *Service) askedTx(ctx context.Context, tx postgres.Tx, h hands, separation string, askers []evidence.Asker) (bool, error) {
	if separation == tenancy.SeparationOff {
		return false, nil
	}
	keys := slices.Clone(h.keys)
	for _, a := range askers {
		keys = append(keys, a.Key)
	}
	lineage, err := s.tenancy.LineageTx(ctx, tx, keys...)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(askers, func(a evidence.Asker) bool {
		return a.User != nil && slices.Contains(h.people, *a.User) || shared(h.people, a.Named) ||
			slices.ContainsFunc(h.keys, func(k int64) bool { return lineage.OneHand(a.Key, k) }) ||
			separation == tenancy.SeparationKeyOwner && shared(h.people, lineage.People(a.Key))
	}), nil
}

// hands are people who approve, and the keys that they do it with.
type hands struct {
	people []uuid.UUID
	keys   []int64
}

// shared reports whether somebody is among both.
func shared(a, b []uuid.UUID) bool {
	return slices.ContainsFunc(a, func(p uuid.UUID) bool { return slices.Contains(b, p) })
}

// standingTx are the votes of those who are still members, with the roles that they have now.
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
		if role, member := roles[v.Actor.User]; member {
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
