package tenancy

import (
	"context"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/platform/postgres"
)

// Inviters says who has seen the invitation with which a member came in. The operator's
// invitations, which people of the organization have not seen, are not in it.
type Inviters map[uuid.UUID]uuid.UUID

// InvitersTx returns the inviters of some members, their inviters, and so on.
func InvitersTx(ctx context.Context, tx postgres.Tx, members ...uuid.UUID) (Inviters, error) {
	return invitersTx(ctx, tx, members)
}

// OneHand reports whether one person may stand behind two members: whoever sees an invitation
// can accept it. One of the two has let the other in, or somebody has let both in.
//
// Whoever came in through the operator is let pass as the one who let both in: in many
// organizations that is the owner, who lets everybody in.
func (i Inviters) OneHand(a, b uuid.UUID) bool {
	above := map[uuid.UUID]bool{}
	for _, m := range i.above(a) {
		above[m] = true
	}
	for _, m := range i.above(b) {
		_, invited := i[m]
		if above[m] && (invited || m == a || m == b) {
			return true
		}
	}
	return false
}

// above are a member, who let them in, and so on.
func (i Inviters) above(member uuid.UUID) []uuid.UUID {
	seen := map[uuid.UUID]bool{}
	var all []uuid.UUID
	for next, more := member, true; more && !seen[next]; next, more = i[next] {
		seen[next] = true
		all = append(all, next)
	}
	return all
}
