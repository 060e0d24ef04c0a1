package approval

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// mostWaiting is how many pending approvals are looked at, the newest ones.
const mostWaiting = 200

// Waiting returns the approvals that wait for the caller, newest first: those that the caller may
// decide, has not decided, and has not asked for. What else separates duties is found out when the
// caller decides.
func (s *Service) Waiting(ctx context.Context) ([]evidence.Record, error) {
	caller := principal.From(ctx)
	l := evidence.ListOf(kind.Approvals)
	l.Restrict(kind.FieldState, []string{pending})
	l.Limit = mostWaiting
	found, _, _, err := s.evidence.List(ctx, caller.Org, l)
	if err != nil {
		return nil, err
	}
	at := s.now()
	return slices.DeleteFunc(found, func(r evidence.Record) bool { return over(&r, at) || !waitsFor(&r, *caller.User, caller.Role) }), nil
}

// waitsFor reports whether a request waits for somebody.
func waitsFor(r *evidence.Record, person uuid.UUID, role principal.Role) bool {
	may := slices.ContainsFunc(requirements(r), func(q Requirement) bool { return q.has(person.String(), role) })
	voted := slices.ContainsFunc(votesOf(r), func(v vote) bool { return v.Actor.User == person })
	asked := slices.ContainsFunc(askers(r.Values[kind.FieldRequesters]), func(a evidence.Asker) bool {
		return a.User != nil && *a.User == person || slices.Contains(a.Named, person)
	})
	return may && !voted && !asked
}

// Decide votes on an approval as it was shown: one that has changed since is refused.
func (s *Service) Decide(ctx context.Context, id int64, c Change) error {
	c, err := s.clean(ctx, c)
	if err != nil {
		return err
	}
	_, err = change.Do(ctx, s.log, func(tx postgres.Tx) (*struct{}, error) {
		_, err := s.ChangeTx(ctx, tx, id, c)
		return &struct{}{}, err
	})
	return err
}
