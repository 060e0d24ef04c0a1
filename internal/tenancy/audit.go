package tenancy

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// AuditEntry is one thing that was done.
type AuditEntry struct {
	ID    int64
	At    time.Time
	Actor principal.Actor
	// Key is the key that was used, also where the actor is a person.
	Key          *int64
	Action       string
	ResourceType string
	ResourceID   string
	RequestID    string
	IP           string
	Before       []byte
	After        []byte
	// DigestFormat is how Before and After were made.
	DigestFormat int
}

// AuditFilter selects entries; an empty field matches everything.
type AuditFilter struct {
	Action, ResourceType, ResourceID string
	User                             *uuid.UUID
	CreatedAfter, CreatedBefore      *time.Time
	postgres.Page
}

// AuditLog returns a page of the organization's log, newest first, with one
// entry more than the limit if there is a next page.
func (s *Service) AuditLog(ctx context.Context, org principal.OrgID, f AuditFilter) ([]AuditEntry, int64, error) {
	return s.store.audit(ctx, org, f)
}
