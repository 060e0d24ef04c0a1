package tenancy

import (
	"context"
	"encoding/hex"
	"net/http"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

func (s *Service) registerAudit(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listAuditLogs", Method: http.MethodGet, Path: "/api/audit-logs", Tag: tagAudit, Scope: principal.AdminOrg, Status: 200,
		Summary:     "List the audit log",
		Description: "Returns one entry for every change, newest first. Content is never part of the log; digests show whether it changed. Filters are combined with AND.",
	}, s.getAuditLogs)
}

type listAuditInput struct {
	httpapi.CursorPage
	Action       string `query:"action" maxLength:"100" doc:"Only entries with this action, for example dataset.created."`
	ResourceType string `query:"resourceType" maxLength:"100" doc:"Only entries about this type of resource, for example dataset."`
	ResourceID   string `query:"resourceId" maxLength:"200" doc:"Only entries about the resource with this id."`
	UserID       string `query:"userId" maxLength:"64" doc:"Only entries whose actor is the member with this id."`
	httpapi.Created
}

type listAuditBody struct {
	AuditLogs []auditBody `json:"audit_logs" doc:"The entries of this page, newest first."`
	httpapi.CursorPaging
}

type auditBody struct {
	ID           int64         `json:"id" doc:"Id of the entry; later entries have higher ids."`
	At           httpapi.Time  `json:"at" doc:"When the change was made."`
	Actor        httpapi.Actor `json:"actor" doc:"Who made the change."`
	APIKeyID     *int64        `json:"api_key_id" doc:"Id of the API key that was used; null for a change by the system."`
	Action       string        `json:"action" doc:"What happened, for example dataset.created."`
	ResourceType string        `json:"resource_type" doc:"Type of the resource that changed."`
	ResourceID   string        `json:"resource_id" doc:"Id of the resource that changed."`
	RequestID    *string       `json:"request_id" doc:"Id of the request that made the change; null for a change by the system."`
	IP           *string       `json:"ip" doc:"IP address that the request came from; null for a change by the system."`
	BeforeDigest *string       `json:"before_digest" doc:"Digest of the resource before the change; null if it did not exist."`
	AfterDigest  *string       `json:"after_digest" doc:"Digest of the resource after the change, which is the next entry's digest before it; null if it no longer exists."`
	DigestFormat int           `json:"digest_format" doc:"How the digests were made. 2: the SHA-256 of the canonical JSON (RFC 8785) of the resource as GET returns it, without the fields that this document marks with x-volatile. 1: an earlier form that cannot be computed from a response."`
}

func (s *Service) getAuditLogs(ctx context.Context, in *listAuditInput) (*httpapi.Body[listAuditBody], error) {
	f := AuditFilter{Action: in.Action, ResourceType: in.ResourceType, ResourceID: in.ResourceID}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	log := resource.List[AuditEntry, auditBody]{
		Cursor: "audit log",
		ID:     func(e AuditEntry) int64 { return e.ID },
		Show:   resource.By(s, func(e AuditEntry) principal.Actor { return e.Actor }, toAuditBody),
	}
	shown, paging, err := log.Page(ctx, in.CursorPage, func(p postgres.Page) ([]AuditEntry, int64, error) {
		if in.UserID != "" {
			id, err := uuid.Parse(in.UserID)
			if err != nil {
				return nil, 0, fault.Invalid("query", "userId", "format", "must be a UUID")
			}
			f.User = &id
		}
		f.Page = p
		return s.AuditLog(ctx, principal.From(ctx).Org, f)
	})
	return httpapi.NewBody(listAuditBody{shown, paging}), err
}

func toAuditBody(e AuditEntry, actor httpapi.Actor) auditBody {
	return auditBody{
		ID: e.ID, At: httpapi.Time(e.At), Actor: actor, APIKeyID: e.Key,
		Action: e.Action, ResourceType: e.ResourceType, ResourceID: e.ResourceID, RequestID: httpapi.OrNull(e.RequestID), IP: httpapi.OrNull(e.IP),
		BeforeDigest: toDigest(e.Before), AfterDigest: toDigest(e.After), DigestFormat: e.DigestFormat,
	}
}

func toDigest(sum []byte) *string {
	if sum == nil {
		return nil
	}
	text := "sha256:" + hex.EncodeToString(sum)
	return &text
}
