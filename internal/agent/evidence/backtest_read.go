package evidence

import (
	"context"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
)

// ListOf selects all records of a kind, for domains that read what others have recorded.
func ListOf(name kind.Name) List { return List{Kind: kind.Must(name)} }

// MadeHere selects the records of a kind that the platform made.
func MadeHere(name kind.Name) List {
	return List{Kind: kind.Must(name), Filters: []record.Filter{{Column: "origin", Values: []string{string(record.Platform)}}}}
}

// MovedByPeople are those of some records that a person has moved to one of some states, which
// they have not left since.
func (s *Service) MovedByPeople(ctx context.Context, org principal.OrgID, ids []int64, states []string) ([]int64, error) {
	return s.store.MovedByPeople(ctx, org, ids, states)
}
