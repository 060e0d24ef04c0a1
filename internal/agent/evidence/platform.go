package evidence

import (
	"bytes"
	"context"
	"maps"

	"github.com/assayhq/assay/internal/agent/evidence/internal/clean"
	"github.com/assayhq/assay/internal/agent/evidence/internal/effect"
	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/internal/review"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/change"
	catalogue "github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/tenancy/redact"
)

// Parties are the runtime and the connector of an action, as they are at this moment.
// One that was never heard of is the zero record.
type Parties struct {
	Runtime, Connector Record
}

// PartiesTx reads the runtime and the connector of an action, either of which may be
// empty. What nobody has heard of is added, as a report that mentions it does. The other
// reads need no round trip of their own.
func (s *Service) PartiesTx(ctx context.Context, tx postgres.Tx, runtime, connector string, others ...func(postgres.Querier) error) (Parties, error) {
	tx.Lookups() // from here on, an action asks for what it needs by keys
	var found []Record
	err := tx.Together(ctx, append(others, func(q postgres.Querier) (err error) {
		found, err = s.store.Parties(ctx, q, tx.Org, runtime, connector)
		return err
	})...)
	if err != nil {
		return Parties{}, err
	}
	var p Parties
	for _, r := range found {
		p.set(r)
	}
	var unknown []*report
	if runtime != "" && p.Runtime.ID == 0 {
		unknown = append(unknown, mentionOf(kind.Must(kind.Runtimes), runtime))
	}
	if connector != "" && p.Connector.ID == 0 {
		unknown = append(unknown, mentionOf(kind.Must(kind.Connectors), connector))
	}
	if len(unknown) == 0 {
		return p, nil
	}
	made, err := s.putTx(ctx, tx, unknown)
	for _, r := range made {
		p.set(r.Record)
	}
	return p, err
}

func (p *Parties) set(r Record) {
	if r.Kind.Name == kind.Runtimes {
		p.Runtime = r
	} else {
		p.Connector = r
	}
}

// Tool is what people and the connector say about one of its tools: what a call does to
// the world, and whether that can be undone.
func (p Parties) Tool(name string) (class, reversibility string) {
	return review.Tool(p.Connector.Values, name)
}

// Paged reports whether a connector lists its tools page by page, and Believed whether people have
// reviewed what it says about itself. Amount reads an amount of money exactly.
var (
	Paged    = normal.Paged
	Believed = review.Believed
	Amount   = effect.Amount
)

// Link returns the number of a trace that a record mentions.
func (s *Service) Link(ctx context.Context, org principal.OrgID, id span.TraceID) (int64, error) {
	if id == (span.TraceID{}) {
		return 0, nil
	}
	numbers, err := s.traces.Mention(ctx, org, []span.TraceID{id})
	return numbers[id], err
}

// NewID is a read that gives a record without a name that is about to be made its id.
func (s *Service) NewID(ctx context.Context, id *int64) func(postgres.Querier) error {
	return func(q postgres.Querier) error {
		ids, err := s.store.IDs(ctx, q, 1)
		if err == nil {
			*id = ids[0]
		}
		return err
	}
}

// ReserveTx gives a record with a name that is about to be made its id. If the name was
// used before for the same content, it returns the record that has it instead, and
// ErrKeyReused if the content was another one. Whoever uses the same name meanwhile waits.
func (s *Service) ReserveTx(ctx context.Context, tx postgres.Tx, name kind.Name, idempotencyKey string, content []byte) (id int64, made *Record, err error) {
	k := record.Hashed(string(name), "name", idempotencyKey)
	claims, err := s.store.ClaimTx(ctx, tx, map[key]want{k: {Content: content, Lasts: true}}, s.expiry())
	if err != nil {
		return 0, nil, err
	}
	c := claims[k]
	if !bytes.Equal(c.Content, content) {
		return 0, nil, ErrKeyReused
	}
	if c.Fresh {
		return c.ID, nil, nil
	}
	r, err := s.LockTx(ctx, tx, name, c.ID)
	return c.ID, &r, err
}

// MakeTx stores a record that the platform makes, under an id that NewID or ReserveTx gave, with
// its audit entry and the failures that it shows. It fills in what the record leaves open.
func (s *Service) MakeTx(ctx context.Context, tx postgres.Tx, r Record, name kind.Name) (Record, error) {
	r.Kind, r.Origin = kind.Must(name), record.Platform
	beginRecord(ctx, &r, s.now())
	if err := s.saveTx(ctx, tx, catalogue.Type{}, nil, &r); err != nil {
		return Record{}, err
	}
	_, err := s.putTx(ctx, tx, failures(nil, &r))
	return r, err
}

// LockTx is a record that stays as it is until the transaction ends.
func (s *Service) LockTx(ctx context.Context, tx postgres.Tx, name kind.Name, id int64) (Record, error) {
	r, there, err := s.lockTx(ctx, tx, kind.Must(name), id)
	if err == nil && !there {
		err = ErrNotFound
	}
	return r, err
}

// FindTx is a record as it is now.
func (s *Service) FindTx(ctx context.Context, tx postgres.Tx, name kind.Name, id int64) (Record, error) {
	return s.store.Find(ctx, tx, tx.Org, kind.Must(name), id)
}

// MoveTx changes a record that LockTx returned: fields with a value are set, fields with
// none are removed. The table of moves decides whether its state may change.
func (s *Service) MoveTx(ctx context.Context, tx postgres.Tx, before Record, set kind.Values) (Record, error) {
	after := before
	after.Values = maps.Clone(before.Values)
	for name, value := range set {
		if len(value) == 0 {
			delete(after.Values, name)
		} else {
			after.Values[name] = value
		}
	}
	if from, to := before.State(), after.State(); from != to {
		if err := before.Kind.Moves.Check(ErrTransition, from, to); err != nil {
			return Record{}, err
		}
	}
	if err := s.saveMoveTx(ctx, tx, before, &after, edit{}, principal.ActorOf(ctx)); err != nil {
		return Record{}, err
	}
	return after, change.RecordTx(ctx, s.log, tx, happened(&before, &after), after.ID, &before, &after)
}

// PendingTx is the approval of an action that is not decided yet, and stays so until the
// transaction ends. Digest is the action's.
func (s *Service) PendingTx(ctx context.Context, tx postgres.Tx, digest string) (Record, error) {
	id, err := s.store.PendingApprovalTx(ctx, tx, digest)
	if err != nil {
		return Record{}, err
	}
	r, err := s.LockTx(ctx, tx, kind.Approvals, id)
	if err == nil && r.State() != "pending" {
		err = ErrNotFound
	}
	return r, err
}

// RequestTx makes a request for an approval. Request has the values that say who asks.
func (s *Service) RequestTx(ctx context.Context, tx postgres.Tx, r Record, request kind.Values) (Record, error) {
	if named := request[namedMembers]; named != nil {
		r.Values[namedMembers] = named
	}
	return s.MakeTx(ctx, tx, r, kind.Approvals)
}

// Cleaner removes what an organization does not want to have stored.
type Cleaner struct{ red *redact.Redactor }

// Cleaner returns the organization's.
func (s *Service) Cleaner(ctx context.Context, org principal.OrgID) (Cleaner, error) {
	red, err := s.traces.Redactor(ctx, org)
	return Cleaner{red}, err
}

// Text is a text that can be stored.
func (c Cleaner) Text(text string) string { return clean.Text(c.red, text) }

// Values cleans fields of a record, and notes in them what was removed.
func (c Cleaner) Values(name kind.Name, v kind.Values) {
	clean.Draft(c.red, &kind.Draft{Kind: kind.Must(name), Values: v}, false)
}
