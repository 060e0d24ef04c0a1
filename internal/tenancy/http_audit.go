package tenancy

import (
	"context"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/principal"
)

func (s *Service) registerAudit(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listAuditLogs", Method: http.MethodGet, Path: "/api/audit-logs", Tag: "Audit log", Scope: principal.AdminOrg, Status: 200,
		Summary:     "Who did what",
		Description: "One entry for every write, newest first. Contents are never in the log; digests tell whether they changed.",
	}, s.getAuditLogs)
}

type listAuditInput struct {
	httpapi.CursorPage
	Action        string    `query:"action" maxLength:"100" doc:"For example dataset.created."`
	ResourceType  string    `query:"resourceType" maxLength:"100"`
	ResourceID    string    `query:"resourceId" maxLength:"200"`
	UserID        string    `query:"userId" maxLength:"64"`
	CreatedAfter  time.Time `query:"createdAfter"`
	CreatedBefore time.Time `query:"createdBefore"`
}

type listAuditOutput struct{ Body listAuditBody }

type listAuditBody struct {
	AuditLogs []auditBody `json:"audit_logs"`
	httpapi.CursorPaging
}

type auditBody struct {
	ID           int64        `json:"id"`
	At           httpapi.Time `json:"at"`
	Actor        actorBody    `json:"actor"`
	Action       string       `json:"action"`
	ResourceType string       `json:"resource_type"`
	ResourceID   string       `json:"resource_id"`
	RequestID    string       `json:"request_id"`
	IP           string       `json:"ip"`
	BeforeDigest *string      `json:"before_digest" nullable:"true"`
	AfterDigest  *string      `json:"after_digest" nullable:"true"`
}

type actorBody struct {
	Type     string  `json:"type" enum:"user,api_key,system"`
	UserID   *string `json:"user_id" format:"uuid" nullable:"true"`
	APIKeyID *int64  `json:"api_key_id" nullable:"true"`
	Asserted bool    `json:"asserted" doc:"The key only said that it spoke for the user."`
}

func (s *Service) getAuditLogs(ctx context.Context, in *listAuditInput) (*listAuditOutput, error) {
	below, err := in.After()
	if err != nil {
		return nil, err
	}
	f := AuditFilter{
		Action: in.Action, ResourceType: in.ResourceType, ResourceID: in.ResourceID,
		Below: below, Limit: in.Limit + 1, Offset: in.Offset, Total: in.IncludeTotal,
	}
	if in.UserID != "" {
		id, err := uuid.Parse(in.UserID)
		if err != nil {
			return nil, fault.Invalid("query", "userId", "format", "must be a UUID")
		}
		f.User = &id
	}
	if !in.CreatedAfter.IsZero() {
		f.CreatedAfter = &in.CreatedAfter
	}
	if !in.CreatedBefore.IsZero() {
		f.CreatedBefore = &in.CreatedBefore
	}
	entries, total, err := s.AuditLog(ctx, principal.From(ctx).Org, f)
	if err != nil {
		return nil, err
	}
	var out listAuditOutput
	entries, out.Body.CursorPaging = httpapi.Cut(in.CursorPage, entries, total, func(e AuditEntry) int64 { return e.ID })
	out.Body.AuditLogs = make([]auditBody, len(entries))
	for i, e := range entries {
		out.Body.AuditLogs[i] = toAuditBody(e)
	}
	return &out, nil
}

func toAuditBody(e AuditEntry) auditBody {
	b := auditBody{
		ID: e.ID, At: httpapi.Time(e.At), Actor: actorBody{Type: e.ActorType, APIKeyID: e.Key, Asserted: e.Asserted},
		Action: e.Action, ResourceType: e.ResourceType, ResourceID: e.ResourceID, RequestID: e.RequestID, IP: e.IP,
		BeforeDigest: toDigest(e.Before), AfterDigest: toDigest(e.After),
	}
	if e.User != nil {
		id := e.User.String()
		b.Actor.UserID = &id
	}
	return b
}

func toDigest(sum []byte) *string {
	if sum == nil {
		return nil
	}
	text := "sha256:" + hex.EncodeToString(sum)
	return &text
}
