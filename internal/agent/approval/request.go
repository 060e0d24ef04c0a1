package approval

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Action is what an approval is about: only the same action may use it.
type Action struct {
	// Digest covers all of the action, and Frame all but its amount.
	Digest, Frame string
	// Amount of money that it moves; empty if there is none.
	Amount string
	// Request are the values that say who asks, before they are cleaned.
	Request kind.Values
	// Requirements are what the policies demand now.
	Requirements []Requirement
}

// RequestTx asks people for an approval. While one of the same action is pending, that one
// is returned, and it notes who else asks: they cannot approve it either.
func (s *Service) RequestTx(ctx context.Context, tx postgres.Tx, a Action, r evidence.Record) (evidence.Record, error) {
	if err := s.store.lockActionTx(ctx, tx, a.Digest); err != nil {
		return evidence.Record{}, err
	}
	asked, err := s.evidence.PendingTx(ctx, tx, a.Digest)
	switch {
	case err == nil && asked.Values.ExpiresAt().After(s.now()):
		return s.joinTx(ctx, tx, asked, evidence.AskerOf(ctx, a.Request).JSON())
	case err != nil && !errors.Is(err, evidence.ErrNotFound):
		return evidence.Record{}, err
	}
	if err := tx.Together(ctx, s.evidence.NewID(ctx, &r.ID)); err != nil {
		return evidence.Record{}, err
	}
	groups, least := demand(a.Requirements)
	if r.Values[kind.FieldRequirements], err = json.Marshal(a.Requirements); err != nil {
		return evidence.Record{}, err
	}
	if r.Values[kind.FieldApproverGroups], err = json.Marshal(groups); err != nil {
		return evidence.Record{}, err
	}
	r.Values[kind.FieldMinApprovals] = kind.IntegerValue(int64(least))
	r.Values[kind.FieldInputDigest], r.Values[kind.FieldFrameDigest] = kind.TextValue(a.Digest), kind.TextValue(a.Frame)
	return s.evidence.RequestTx(ctx, tx, r, a.Request)
}

// demand are all who may decide, and how many must at least.
func demand(all []Requirement) (groups []string, least int) {
	seen := map[string]bool{}
	groups = []string{}
	for _, q := range all {
		least = max(least, q.Min)
		for _, g := range q.Groups {
			if !seen[g] {
				seen[g] = true
				groups = append(groups, g)
			}
		}
	}
	return groups, max(least, 1)
}

// joinTx notes that somebody else asks for the same.
func (s *Service) joinTx(ctx context.Context, tx postgres.Tx, r evidence.Record, by jsontext.Value) (evidence.Record, error) {
	var all []jsontext.Value
	if err := json.Unmarshal(r.Values[kind.FieldRequesters], &all); err != nil {
		return evidence.Record{}, err
	}
	for _, one := range all {
		if string(one) == string(by) {
			return r, nil
		}
	}
	if len(all) >= evidence.MaxRequesters {
		return evidence.Record{}, evidence.ErrTooManyRequesters
	}
	text, err := json.Marshal(append(all, by))
	if err != nil {
		return evidence.Record{}, err
	}
	return s.evidence.MoveTx(ctx, tx, r, kind.Values{kind.FieldRequesters: text})
}
