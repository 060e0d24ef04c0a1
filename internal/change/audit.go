package change

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change/internal/db"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Entry is one thing that was done to one resource.
type Entry struct {
	// Action is the noun and what happened to it, such as dataset.created.
	Action   string
	Resource string
	ID       string
	// Before and After are the whole resource as GET shows it then; only their
	// digests are kept. Nil means that there was none. The state after one entry
	// of a resource is the state before the next.
	Before, After Resource
}

// details are what an event says besides what happened to which resource.
type details struct {
	RequestID string     `json:"request_id"`
	UserID    *uuid.UUID `json:"user_id,omitzero"`
	APIKeyID  *int64     `json:"api_key_id,omitzero"`
	After     string     `json:"after_digest,omitempty"`
	Format    int        `json:"digest_format"`
}

// AuditTx records what a change did, in the change's transaction: an entry of the
// audit log and an event for followers. Whoever changes state calls it; content
// never enters the log, only its digest.
func (l *Log) AuditTx(ctx context.Context, tx postgres.Tx, e Entry) error {
	caller, info := principal.From(ctx), request.From(ctx)
	before, err := digest(e.Before)
	if err != nil {
		return fmt.Errorf("digest of %s before: %w", e.Action, err)
	}
	after, err := digest(e.After)
	if err != nil {
		return fmt.Errorf("digest of %s after: %w", e.Action, err)
	}
	p := db.AuditParams{
		OrgID: tx.Org, At: l.now(), ActorType: "system", UserID: caller.User, Asserted: caller.Asserted,
		Action: e.Action, ResourceType: e.Resource, ResourceID: e.ID,
		RequestID: info.ID, Ip: info.IP, BeforeDigest: before, AfterDigest: after, DigestFormat: DigestFormat,
	}
	if caller.Key != 0 {
		p.ActorType, p.ApiKeyID = "api_key", &caller.Key
	}
	if caller.User != nil {
		p.ActorType = "user"
	}
	d := details{RequestID: info.ID, UserID: caller.User, APIKeyID: p.ApiKeyID, Format: DigestFormat}
	if after != nil {
		d.After = fmt.Sprintf("sha256:%x", after)
	}
	if p.Payload, err = json.Marshal(d); err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	if err := db.New(tx.Later()).Audit(ctx, p); err != nil {
		return fmt.Errorf("audit %s: %w", e.Action, err)
	}
	tx.AfterCommit(func() { l.bell.ring(onEvent) })
	return nil
}
