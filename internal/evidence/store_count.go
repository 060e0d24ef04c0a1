package evidence

import (
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/evidence/internal/db"
	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/principal"
)

// countRecords returns how many things that last there are of each kind.
func (s store) countRecords(ctx context.Context, org principal.OrgID, since time.Time) (map[kind.Name]counted, error) {
	rows, err := db.New(s.db.Org(org)).CountRecords(ctx, db.CountRecordsParams{OrgID: org, Since: since})
	if err != nil {
		return nil, fmt.Errorf("count records: %w", err)
	}
	out := make(map[kind.Name]counted, len(rows))
	for _, r := range rows {
		out[kind.Name(r.Kind)] = counted{Records: r.Records, Recent: r.Recent, Latest: r.Latest}
	}
	return out, nil
}

// condition is what records have in common.
type condition struct{ kind, state, severity string }

func (s store) countStates(ctx context.Context, org principal.OrgID, kinds ...string) (map[condition]int64, error) {
	rows, err := db.New(s.db.Org(org)).CountStates(ctx, db.CountStatesParams{OrgID: org, Kinds: kinds})
	if err != nil {
		return nil, fmt.Errorf("count states: %w", err)
	}
	out := make(map[condition]int64, len(rows))
	for _, r := range rows {
		out[condition{r.Kind, r.State, r.Severity}] = r.Records
	}
	return out, nil
}

func (s store) countExpiring(ctx context.Context, org principal.OrgID, before time.Time) (int64, error) {
	n, err := db.New(s.db.Org(org)).CountExpiring(ctx, db.CountExpiringParams{OrgID: org, Before: before})
	if err != nil {
		return 0, fmt.Errorf("count approvals: %w", err)
	}
	return n, nil
}
