package tenancy

import (
	"context"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy/internal/db"
)

func (s store) audit(ctx context.Context, org principal.OrgID, f AuditFilter) ([]AuditEntry, int64, error) {
	q := db.New(s.db.Org(org))
	count := db.CountAuditParams{
		OrgID: org, Action: postgres.OrNull(f.Action), ResourceType: postgres.OrNull(f.ResourceType), ResourceID: postgres.OrNull(f.ResourceID),
		UserID: f.User, CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore,
	}
	rows, err := q.ListAudit(ctx, db.ListAuditParams{
		OrgID: org, Action: count.Action, ResourceType: count.ResourceType, ResourceID: count.ResourceID, UserID: count.UserID,
		CreatedAfter: count.CreatedAfter, CreatedBefore: count.CreatedBefore,
		Below: f.Below, RowLimit: f.Rows(), RowOffset: f.Skip(),
	})
	return postgres.Listed(rows, err, "audit log", fromAuditRow, f.Count, func() (int64, error) { return q.CountAudit(ctx, count) })
}

func fromAuditRow(r db.ListAuditRow) AuditEntry {
	return AuditEntry{
		ID: r.ID, At: r.At, Actor: auditActor(r), Key: r.ApiKeyID, Action: r.Action,
		ResourceType: r.ResourceType, ResourceID: r.ResourceID, RequestID: r.RequestID, IP: r.Ip,
		Before: r.BeforeDigest, After: r.AfterDigest, DigestFormat: int(r.DigestFormat),
	}
}

// auditActor is who an entry says did it. Rows call a service key api_key.
func auditActor(r db.ListAuditRow) principal.Actor {
	switch {
	case r.UserID != nil:
		return principal.UserActor(*r.UserID, r.Asserted)
	case r.ApiKeyID != nil:
		return principal.KeyActor(*r.ApiKeyID)
	default:
		return principal.Actor{Type: principal.ActorSystem}
	}
}
