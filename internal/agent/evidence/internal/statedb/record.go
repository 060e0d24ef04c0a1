package statedb

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/internal/db"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// DB is the store in PostgreSQL.
type DB struct{ db *postgres.DB }

// New makes the store.
func New(db *postgres.DB) DB { return DB{db} }

// Target is what a record can be referred to by: its kind, and its key in the
// organization if it has one.
type Target struct {
	Kind kind.Name
	Name string
}

// InsertTx makes a record.
func (s DB) InsertTx(ctx context.Context, tx postgres.Tx, r record.Record) error {
	c, trace, body := r.Filters(), traceOrNil(r.Trace), bodyOf(r)
	err := db.New(tx.Later()).InsertRecord(ctx, db.InsertRecordParams{
		OrgID: tx.Org, Kind: string(r.Kind.Name), ID: r.ID, Name: postgres.OrNull(c.Name), IdempotencyKey: postgres.OrNull(r.IdempotencyKey),
		Origin: string(r.Origin), Actor: r.Actor.String(), State: postgres.OrNull(c.State), Decision: postgres.OrNull(c.Decision),
		RuntimeID: postgres.OrNull(r.RuntimeID), RuntimeKey: postgres.OrNull(r.RuntimeKey), ConnectorID: postgres.OrNull(r.ConnectorID), ConnectorKey: postgres.OrNull(r.ConnectorKey),
		TraceID: trace, EvaluationRunID: postgres.OrNull(r.EvaluationRunID), RawEventID: postgres.OrNull(r.RawEventID),
		StepID: postgres.OrNull(c.Step), ToolID: postgres.OrNull(c.Tool), InvocationID: postgres.OrNull(c.Invocation), DecisionID: postgres.OrNull(c.DecisionID),
		EffectID: postgres.OrNull(c.Effect), ExplanationID: postgres.OrNull(c.Explanation), ReportID: postgres.OrNull(c.Report),
		FailureKey: postgres.OrNull(c.FailureKey), FailureMode: postgres.OrNull(c.FailureMode), SideEffectClass: postgres.OrNull(c.Class),
		Body: body, OccurredAt: r.OccurredAt, CreatedAt: r.CreatedAt,
	})
	if err != nil {
		return fmt.Errorf("insert %s: %w", r.Kind.One, err)
	}
	return nil
}

// bodyOf is what a record says, as PostgreSQL can read it again.
func bodyOf(r record.Record) []byte { return kind.WithoutNUL(r.Values.JSON()) }

func traceOrNil(id span.TraceID) []byte {
	if id == (span.TraceID{}) {
		return nil
	}
	return id[:]
}

// Find returns a record.
func (s DB) Find(ctx context.Context, q db.DBTX, org principal.OrgID, k *kind.Kind, id int64) (record.Record, error) {
	r, err := db.New(q).FindRecord(ctx, db.FindRecordParams{OrgID: org, Kind: string(k.Name), ID: id})
	if postgres.NoRows(err) {
		return record.Record{}, record.ErrNotFound
	}
	if err != nil {
		return record.Record{}, fmt.Errorf("find %s: %w", k.One, err)
	}
	return fromRow(r)
}

// LockAllTx keeps records of a kind from changing until the transaction ends, and returns
// those that exist by their ids.
func (s DB) LockAllTx(ctx context.Context, tx postgres.Tx, k *kind.Kind, ids []int64) (map[int64]record.Record, error) {
	out := make(map[int64]record.Record, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	rows, err := db.New(tx).LockRecords(ctx, db.LockRecordsParams{OrgID: tx.Org, Kind: string(k.Name), Ids: ids})
	if err != nil {
		return nil, fmt.Errorf("lock records of %s: %w", k.Name, err)
	}
	all, err := fromRows(rows)
	for _, r := range all {
		out[r.ID] = r
	}
	return out, err
}

// Targets returns the kinds and keys of those of the records that exist.
func (s DB) Targets(ctx context.Context, org principal.OrgID, ids []int64) (map[int64]Target, error) {
	rows, err := db.New(s.db.Org(org)).FindTargets(ctx, db.FindTargetsParams{OrgID: org, Ids: ids})
	if err != nil {
		return nil, fmt.Errorf("find records: %w", err)
	}
	out := make(map[int64]Target, len(rows))
	for _, r := range rows {
		out[r.ID] = Target{kind.Name(r.Kind), postgres.OrZero(r.Name)}
	}
	return out, nil
}

// FindAll returns those of the records that exist.
func (s DB) FindAll(ctx context.Context, org principal.OrgID, ids []int64) ([]record.Record, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.New(s.db.Org(org)).FindRecords(ctx, db.FindRecordsParams{OrgID: org, Ids: ids})
	if err != nil {
		return nil, fmt.Errorf("find records: %w", err)
	}
	return fromRows(rows)
}

// Things returns those of the records of a kind that exist, by their keys.
func (s DB) Things(ctx context.Context, q db.DBTX, org principal.OrgID, k kind.Name, names []string) (map[string]record.Record, error) {
	rows, err := db.New(q).FindThings(ctx, db.FindThingsParams{OrgID: org, Kind: string(k), Names: names})
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", k, err)
	}
	all, err := fromRows(rows)
	if err != nil {
		return nil, err
	}
	out := make(map[string]record.Record, len(all))
	for _, r := range all {
		out[r.Values.Text(r.Kind.KeyField)] = r
	}
	return out, nil
}

// MoveTx writes after over before, if before is still what is stored, and keeps what it
// was.
func (s DB) MoveTx(ctx context.Context, tx postgres.Tx, before, after record.Record, by principal.Actor) error {
	err := db.New(tx.Later()).KeepHistory(ctx, db.KeepHistoryParams{OrgID: tx.Org, Kind: string(before.Kind.Name), ID: before.ID, Version: before.Version, Actor: by.String(), ReplacedAt: after.UpdatedAt})
	if err != nil {
		return fmt.Errorf("keep history of %s: %w", before.Kind.One, err)
	}
	c := after.Filters()
	n, err := db.New(tx).MoveRecord(ctx, db.MoveRecordParams{
		OrgID: tx.Org, Kind: string(before.Kind.Name), ID: before.ID, ExpectedVersion: before.Version,
		State: postgres.OrNull(c.State), Decision: postgres.OrNull(c.Decision), DecisionID: postgres.OrNull(c.DecisionID), SideEffectClass: postgres.OrNull(c.Class),
		Body: bodyOf(after), UpdatedAt: after.UpdatedAt,
	})
	if err != nil {
		return fmt.Errorf("change %s: %w", before.Kind.One, err)
	}
	if n == 0 {
		return record.ErrVersionConflict
	}
	return nil
}

// TouchTx notes counters and times of records of a kind that are not a change.
func (s DB) TouchTx(ctx context.Context, tx postgres.Tx, k *kind.Kind, records ...record.Record) error {
	if len(records) == 0 {
		return nil
	}
	p := db.TouchRecordsParams{OrgID: tx.Org, Kind: string(k.Name)}
	for _, r := range records {
		p.Ids, p.Bodies = append(p.Ids, r.ID), append(p.Bodies, string(bodyOf(r)))
	}
	if err := db.New(tx.Later()).TouchRecords(ctx, p); err != nil {
		return fmt.Errorf("touch records of %s: %w", k.Name, err)
	}
	return nil
}

func fromRows(rows []db.EvidenceRecord) ([]record.Record, error) {
	out := make([]record.Record, len(rows))
	for i, r := range rows {
		var err error
		if out[i], err = fromRow(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func fromRow(r db.EvidenceRecord) (record.Record, error) {
	values, err := kind.ParseValues(r.Body)
	if err != nil {
		return record.Record{}, fmt.Errorf("record %d: %w", r.ID, err)
	}
	out := record.Record{
		Kind: kind.Must(kind.Name(r.Kind)), ID: r.ID, IdempotencyKey: postgres.OrZero(r.IdempotencyKey), Origin: record.Origin(r.Origin), Actor: principal.ParseActor(r.Actor),
		Values: values, OccurredAt: r.OccurredAt, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version,
		Links: record.Links{
			RuntimeID: postgres.OrZero(r.RuntimeID), RuntimeKey: postgres.OrZero(r.RuntimeKey), ConnectorID: postgres.OrZero(r.ConnectorID), ConnectorKey: postgres.OrZero(r.ConnectorKey),
			EvaluationRunID: postgres.OrZero(r.EvaluationRunID), RawEventID: postgres.OrZero(r.RawEventID),
		},
	}
	copy(out.Trace[:], r.TraceID)
	return out, nil
}

// Parties returns the runtime and the connector that are known by these keys.
func (s DB) Parties(ctx context.Context, q db.DBTX, org principal.OrgID, runtime, connector string) ([]record.Record, error) {
	rows, err := db.New(q).FindParties(ctx, db.FindPartiesParams{OrgID: org, Runtime: runtime, Connector: connector})
	if err != nil {
		return nil, fmt.Errorf("find runtime and connector: %w", err)
	}
	return fromRows(rows)
}

// PendingApprovalTx returns the approval of an action that is not decided yet; 0 if there
// is none.
func (s DB) PendingApprovalTx(ctx context.Context, tx postgres.Tx, digest string) (int64, error) {
	id, err := db.New(tx).FindPendingApproval(ctx, db.FindPendingApprovalParams{OrgID: tx.Org, Digest: digest})
	if err != nil && !postgres.NoRows(err) {
		return 0, fmt.Errorf("find pending approval: %w", err)
	}
	return id, nil
}

// maxAsked is how many approvals of an action are read to find out who asked for them.
const maxAsked = 10_000

// AskersTx returns everybody who asked for approvals of an action. If there are too many
// approvals or callers, it is not known who may approve it.
func (s DB) AskersTx(ctx context.Context, tx postgres.Tx, digest string) ([]jsontext.Value, error) {
	rows, err := db.New(tx).ListAskers(ctx, db.ListAskersParams{OrgID: tx.Org, Digest: digest, Most: maxAsked + 1, Askers: record.MaxRequesters + 1})
	if err != nil {
		return nil, fmt.Errorf("list who asked for approvals: %w", err)
	}
	if len(rows) > record.MaxRequesters {
		return nil, record.ErrTooManyRequesters
	}
	out := make([]jsontext.Value, len(rows))
	for i, r := range rows {
		if r.Approvals > maxAsked {
			return nil, record.ErrTooManyRequesters
		}
		out[i] = jsontext.Value(r.Asker)
	}
	return out, nil
}

// DecisionOfTx returns the platform's newest decision about a call of a runtime; 0 if there
// is none.
func (s DB) DecisionOfTx(ctx context.Context, tx postgres.Tx, runtime, invocation string) (int64, error) {
	id, err := db.New(tx).FindDecisionOf(ctx, db.FindDecisionOfParams{OrgID: tx.Org, InvocationID: invocation, RuntimeKey: runtime})
	if err != nil && !postgres.NoRows(err) {
		return 0, fmt.Errorf("find decision: %w", err)
	}
	return id, nil
}
