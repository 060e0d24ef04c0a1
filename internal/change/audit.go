package change

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/change/internal/db"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Entry is one thing that was done to one resource.
type Entry struct {
	Event event.Type
	ID    string
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
	// Public is the name of the event that callers know, which one action may have several of.
	Public string `json:"public_type,omitempty"`
}

// errNoEvent is a mistake of the caller's: what happened has to be in the catalogue.
var errNoEvent = errors.New("audit an entry without an event")

// RecordTx records what a change made of a resource with a number. Before is nil if it was
// created, and after if it was deleted.
func RecordTx[T Resource](ctx context.Context, l *Log, tx postgres.Tx, happened event.Type, id int64, before, after *T) error {
	e := Entry{Event: happened, ID: strconv.FormatInt(id, 10)}
	if before != nil {
		e.Before = *before
	}
	if after != nil {
		e.After = *after
	}
	return l.AuditTx(ctx, tx, e)
}

// AuditTx records what a change did, in the change's transaction: an entry of the
// audit log and an event for followers. Whoever changes state calls it; content
// never enters the log, only its digest.
func (l *Log) AuditTx(ctx context.Context, tx postgres.Tx, e Entry) error {
	action := e.Event.Action()
	if action == "" {
		return errNoEvent
	}
	caller, info := principal.From(ctx), request.From(ctx)
	before, err := digest(e.Before)
	if err != nil {
		return fmt.Errorf("digest of %s before: %w", action, err)
	}
	after, err := digest(e.After)
	if err != nil {
		return fmt.Errorf("digest of %s after: %w", action, err)
	}
	p := db.AuditParams{
		OrgID: tx.Org, At: l.now(), ActorType: "system", UserID: caller.User, Asserted: caller.Asserted,
		Action: action, ResourceType: e.Event.Resource(), ResourceID: e.ID,
		RequestID: info.ID, Ip: info.IP, BeforeDigest: before, AfterDigest: after, DigestFormat: DigestFormat,
	}
	if caller.Key != 0 {
		p.ActorType, p.ApiKeyID = "api_key", &caller.Key
	}
	if caller.User != nil {
		p.ActorType = "user"
	}
	d := details{RequestID: info.ID, UserID: caller.User, APIKeyID: p.ApiKeyID, Format: DigestFormat, Public: e.Event.Public()}
	if after != nil {
		d.After = fmt.Sprintf("sha256:%x", after)
	}
	if p.Payload, err = json.Marshal(d); err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	if err := db.New(tx.Later()).Audit(ctx, p); err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	tx.AfterCommit(func() { l.bell.ring(onEvent) })
	return nil
}
