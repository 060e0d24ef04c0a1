package evidence

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/assayhq/assay/internal/evidence/internal/db"
	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// Stores are where evidence is kept.
type Stores struct {
	Postgres   *postgres.DB
	ClickHouse *clickhouse.DB
	Inserter   *clickhouse.Inserter
}

// store is PostgreSQL, which knows keys and what lasts, and the stream in ClickHouse.
type store struct {
	db *postgres.DB
	stream
}

func newStore(s Stores) store {
	return store{db: s.Postgres, stream: newStream(s.ClickHouse, s.Inserter)}
}

// claim is whose a key is.
type claim struct {
	id      int64
	content []byte
	// fresh is true if the key was not claimed before.
	fresh bool
}

// ids are some that no other record has.
func (s store) ids(ctx context.Context, q db.DBTX, n int) ([]int64, error) {
	out, err := db.New(q).NewIDs(ctx, int32(n))
	if err != nil {
		return nil, fmt.Errorf("get ids: %w", err)
	}
	return out, nil
}

// claim claims the keys of records, and finds out which ids they have.
func (s store) claim(ctx context.Context, q db.DBTX, org principal.OrgID, wanted map[key][]byte) (map[key]claim, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	ids, err := s.ids(ctx, q, len(wanted))
	if err != nil {
		return nil, err
	}
	p := db.ClaimKeysParams{OrgID: org, Ids: ids}
	for k := range wanted {
		p.Keys = append(p.Keys, bytes.Clone(k[:]))
	}
	slices.SortFunc(p.Keys, bytes.Compare) // everybody locks in the same order
	offered := make(map[key]int64, len(ids))
	for i, k := range p.Keys {
		content := wanted[key(k)]
		if content == nil {
			content = []byte{}
		}
		p.Contents = append(p.Contents, content)
		offered[key(k)] = ids[i]
	}
	rows, err := db.New(q).ClaimKeys(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("claim keys: %w", err)
	}
	out := make(map[key]claim, len(rows))
	for _, r := range rows {
		k := key(r.Key)
		out[k] = claim{id: r.ID, content: r.Content, fresh: r.ID == offered[k]}
	}
	return out, nil
}

// lockTx keeps others from changing records of the stream, and returns those that were
// claimed more than once: others may have stored something of them.
func (s store) lockTx(ctx context.Context, tx postgres.Tx, keys []key) (shared map[key]bool, err error) {
	p := db.LockKeysParams{OrgID: tx.Org}
	for _, k := range keys {
		p.Keys = append(p.Keys, bytes.Clone(k[:]))
	}
	rows, err := db.New(tx).LockKeys(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("lock records: %w", err)
	}
	shared = map[key]bool{}
	for _, r := range rows {
		if r.Shared {
			shared[key(r.Key)] = true
		}
	}
	return shared, nil
}

func (s store) insertTx(ctx context.Context, tx postgres.Tx, r Record) error {
	body, err := r.body()
	if err != nil {
		return err
	}
	c := filtersOf(&r)
	err = db.New(tx).InsertRecord(ctx, db.InsertRecordParams{
		OrgID: tx.Org, Kind: string(r.Kind.Name), ID: r.ID, Name: postgres.OrNull(r.Values.Text(r.Kind.KeyField)), IdempotencyKey: postgres.OrNull(r.IdempotencyKey),
		Origin: string(r.Origin), Actor: r.Actor.String(), State: postgres.OrNull(c.state), Decision: postgres.OrNull(c.decision),
		RuntimeID: postgres.OrNull(r.RuntimeID), RuntimeKey: postgres.OrNull(r.RuntimeKey), ConnectorID: postgres.OrNull(r.ConnectorID), ConnectorKey: postgres.OrNull(r.ConnectorKey),
		TraceID: traceOrNil(r.Trace), EvaluationRunID: postgres.OrNull(r.EvaluationRunID), RawEventID: postgres.OrNull(r.RawEventID),
		StepID: postgres.OrNull(c.step), ToolID: postgres.OrNull(c.tool), InvocationID: postgres.OrNull(c.invocation), DecisionID: postgres.OrNull(c.decisionID),
		EffectID: postgres.OrNull(c.effect), ExplanationID: postgres.OrNull(c.explanation), ReportID: postgres.OrNull(c.report),
		FailureKey: postgres.OrNull(c.failureKey), FailureMode: postgres.OrNull(c.failureMode), SideEffectClass: postgres.OrNull(c.class),
		Body: body, OccurredAt: r.OccurredAt, CreatedAt: r.CreatedAt,
	})
	if err != nil {
		return fmt.Errorf("insert %s: %w", r.Kind.One, err)
	}
	return nil
}

func traceOrNil(id span.TraceID) []byte {
	if id == (span.TraceID{}) {
		return nil
	}
	return id[:]
}

// filterColumns are the values of a record that filters ask for.
type filterColumns struct {
	state, decision                                       string
	step, tool, decisionID, effect, explanation, report   int64
	invocation, failureKey, failureMode, class, primitive string
}

func filtersOf(r *Record) filterColumns {
	v := r.Values
	c := filterColumns{
		decision: v.Text("decision"), step: v.Integer("primitive_step_run_id"), tool: v.Integer("tool_invocation_evidence_id"), decisionID: v.Integer("policy_decision_id"),
		effect: v.Integer("side_effect_ledger_id"), explanation: v.Integer("eval_explanation_id"), report: v.Integer("latest_readiness_report_id"),
		invocation: v.Text("invocation_id"), failureKey: v.Text("failure_key"), failureMode: v.Text("failure_mode"), class: v.Text("side_effect_class"),
		primitive: v.Text("primitive_type"),
	}
	if r.Kind.Lifecycle != "decision" {
		c.state = r.State()
	}
	if parent := v.Integer("parent_step_run_id"); parent != 0 {
		c.step = parent
	}
	if undone := v.Integer("compensates_id"); undone != 0 {
		c.effect = undone
	}
	return c
}

func (s store) find(ctx context.Context, q db.DBTX, org principal.OrgID, k *kind.Kind, id int64) (Record, error) {
	r, err := db.New(q).FindRecord(ctx, db.FindRecordParams{OrgID: org, Kind: string(k.Name), ID: id})
	if postgres.NoRows(err) {
		return Record{}, ErrNotFound
	}
	if err != nil {
		return Record{}, fmt.Errorf("find %s: %w", k.One, err)
	}
	return fromRow(r)
}

func (s store) lockRecordTx(ctx context.Context, tx postgres.Tx, k *kind.Kind, id int64) (Record, error) {
	r, err := db.New(tx).LockRecord(ctx, db.LockRecordParams{OrgID: tx.Org, Kind: string(k.Name), ID: id})
	if postgres.NoRows(err) {
		return Record{}, ErrNotFound
	}
	if err != nil {
		return Record{}, fmt.Errorf("lock %s: %w", k.One, err)
	}
	return fromRow(r)
}

// findAll returns those of the records that exist.
func (s store) findAll(ctx context.Context, org principal.OrgID, ids []int64) ([]Record, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.New(s.db.Org(org)).FindRecords(ctx, db.FindRecordsParams{OrgID: org, Ids: ids})
	if err != nil {
		return nil, fmt.Errorf("find records: %w", err)
	}
	return fromRows(rows)
}

// things returns those of the records of a kind that exist, by their keys.
func (s store) things(ctx context.Context, q db.DBTX, org principal.OrgID, k kind.Name, names []string) (map[string]Record, error) {
	rows, err := db.New(q).FindThings(ctx, db.FindThingsParams{OrgID: org, Kind: string(k), Names: names})
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", k, err)
	}
	all, err := fromRows(rows)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Record, len(all))
	for _, r := range all {
		out[r.Values.Text(r.Kind.KeyField)] = r
	}
	return out, nil
}

// moveTx writes after over before, if before is still what is stored, and keeps what it
// was.
func (s store) moveTx(ctx context.Context, tx postgres.Tx, before, after Record, by principal.Actor) error {
	body, err := after.body()
	if err != nil {
		return err
	}
	q := db.New(tx)
	err = q.KeepHistory(ctx, db.KeepHistoryParams{OrgID: tx.Org, Kind: string(before.Kind.Name), ID: before.ID, Version: before.Version, Actor: by.String(), ReplacedAt: after.UpdatedAt})
	if err != nil {
		return fmt.Errorf("keep history of %s: %w", before.Kind.One, err)
	}
	c := filtersOf(&after)
	n, err := q.MoveRecord(ctx, db.MoveRecordParams{
		OrgID: tx.Org, Kind: string(before.Kind.Name), ID: before.ID, ExpectedVersion: before.Version,
		State: postgres.OrNull(c.state), Decision: postgres.OrNull(c.decision), Body: body, UpdatedAt: after.UpdatedAt,
	})
	if err != nil {
		return fmt.Errorf("change %s: %w", before.Kind.One, err)
	}
	if n == 0 {
		return ErrVersionConflict
	}
	return nil
}

// touchTx notes counters and times that are not a change.
func (s store) touchTx(ctx context.Context, tx postgres.Tx, r Record) error {
	body, err := r.body()
	if err != nil {
		return err
	}
	err = db.New(tx).TouchRecord(ctx, db.TouchRecordParams{OrgID: tx.Org, Kind: string(r.Kind.Name), ID: r.ID, Body: body})
	if err != nil {
		return fmt.Errorf("touch %s: %w", r.Kind.One, err)
	}
	return nil
}

func fromRows(rows []db.EvidenceRecord) ([]Record, error) {
	out := make([]Record, len(rows))
	for i, r := range rows {
		var err error
		if out[i], err = fromRow(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func fromRow(r db.EvidenceRecord) (Record, error) {
	values, err := readBody(r.Body)
	if err != nil {
		return Record{}, fmt.Errorf("record %d: %w", r.ID, err)
	}
	out := Record{
		Kind: kind.Must(kind.Name(r.Kind)), ID: r.ID, IdempotencyKey: postgres.OrZero(r.IdempotencyKey), Origin: Origin(r.Origin), Actor: principal.ParseActor(r.Actor),
		Values: values, OccurredAt: r.OccurredAt, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version,
		Links: Links{
			RuntimeID: postgres.OrZero(r.RuntimeID), RuntimeKey: postgres.OrZero(r.RuntimeKey), ConnectorID: postgres.OrZero(r.ConnectorID), ConnectorKey: postgres.OrZero(r.ConnectorKey),
			EvaluationRunID: postgres.OrZero(r.EvaluationRunID), RawEventID: postgres.OrZero(r.RawEventID),
		},
	}
	copy(out.Trace[:], r.TraceID)
	return out, nil
}
