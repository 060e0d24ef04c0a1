package streamdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
)

// ErrUnclear says that it is not known whether records will be stored: they may be on
// their way.
var ErrUnclear = errors.New("what was sent may still arrive")

// DB keeps records in ClickHouse. Requests that come together share a write.
type DB struct {
	ch    *clickhouse.DB
	group *clickhouse.Group[*block]
}

// WriteTimeout bounds one write.
const WriteTimeout = 10 * time.Second

// New makes the store.
func New(ch *clickhouse.DB, inserter *clickhouse.Inserter) DB {
	return DB{ch: ch, group: clickhouse.NewGroup(clickhouse.GroupConfig{
		Lanes: 2, Interval: 25 * time.Millisecond,
		EnoughRows: 1_000, EnoughBytes: 8 << 20, MaxBytes: 64 << 20, WriteTimeout: WriteTimeout,
	}, newBlock, func(ctx context.Context, b *block, token string) (bool, error) {
		return false, inserter.Insert(ctx, "evidence", token, b.input)
	})}
}

// block is rows of the stream, in columns.
type block struct {
	org                                                              proto.ColUUID
	kind, origin, actor, state                                       *proto.ColLowCardinality[string]
	runtimeKey, connectorKey, primitive, class                       *proto.ColLowCardinality[string]
	id, version, runtimeID, connectorID, runID, event, step, decided proto.ColInt64
	replaces                                                         proto.ColUInt64
	key, trace                                                       proto.ColFixedStr
	name, invocation, body                                           proto.ColStr
	occurred, created, updated                                       *proto.ColDateTime64
	retention                                                        proto.ColUInt16
	input                                                            proto.Input
	size                                                             int
}

func newBlock() *block {
	label := func() *proto.ColLowCardinality[string] { return new(proto.ColStr).LowCardinality() }
	milli := func() *proto.ColDateTime64 { return new(proto.ColDateTime64).WithPrecision(proto.PrecisionMilli) }
	b := &block{
		kind: label(), origin: label(), actor: label(), state: label(), runtimeKey: label(), connectorKey: label(), primitive: label(), class: label(),
		occurred: milli(), created: milli(), updated: milli(),
	}
	b.key.SetSize(len(record.Key{}))
	b.trace.SetSize(16)
	b.input = proto.Input{
		{Name: "org_id", Data: &b.org},
		{Name: "kind", Data: b.kind},
		{Name: "id", Data: &b.id},
		{Name: "replaces", Data: &b.replaces},
		{Name: "key", Data: &b.key},
		{Name: "version", Data: &b.version},
		{Name: "idempotency_key", Data: &b.name},
		{Name: "origin", Data: b.origin},
		{Name: "actor", Data: b.actor},
		{Name: "state", Data: b.state},
		{Name: "runtime_id", Data: &b.runtimeID},
		{Name: "runtime_key", Data: b.runtimeKey},
		{Name: "connector_id", Data: &b.connectorID},
		{Name: "connector_key", Data: b.connectorKey},
		{Name: "trace_id", Data: &b.trace},
		{Name: "evaluation_run_id", Data: &b.runID},
		{Name: "raw_event_id", Data: &b.event},
		{Name: "step_id", Data: &b.step},
		{Name: "invocation_id", Data: &b.invocation},
		{Name: "decision_id", Data: &b.decided},
		{Name: "primitive_type", Data: b.primitive},
		{Name: "side_effect_class", Data: b.class},
		{Name: "occurred_at", Data: b.occurred},
		{Name: "created_at", Data: b.created},
		{Name: "updated_at", Data: b.updated},
		{Name: "body", Data: &b.body},
		{Name: "retention_days", Data: &b.retention},
	}
	return b
}

// Rows implements clickhouse.Block.
func (b *block) Rows() int { return b.org.Rows() }

// Bytes implements clickhouse.Block.
func (b *block) Bytes() int { return b.size }

// Reset implements clickhouse.Block.
func (b *block) Reset() {
	b.input.Reset()
	b.size = 0
}

// rowBytes is about what a row takes without its texts.
const rowBytes = 220

// versionBits is where the version begins in what a row replaces; below it is the time.
const versionBits = 43

func (b *block) add(org principal.OrgID, r *record.Record, body []byte, retention uint16) {
	c := r.Filters()
	replaces := uint64(r.Version)<<versionBits | uint64(r.UpdatedAt.UnixMilli())
	b.org.Append(uuid.UUID(org))
	b.kind.Append(string(r.Kind.Name))
	b.id.Append(r.ID)
	b.replaces.Append(replaces)
	b.key.Append(r.Key[:])
	b.version.Append(r.Version)
	b.name.Append(r.IdempotencyKey)
	b.origin.Append(string(r.Origin))
	b.actor.Append(r.Actor.String())
	b.state.Append(c.State)
	b.runtimeID.Append(r.RuntimeID)
	b.runtimeKey.Append(r.RuntimeKey)
	b.connectorID.Append(r.ConnectorID)
	b.connectorKey.Append(r.ConnectorKey)
	b.trace.Append(r.Trace[:])
	b.runID.Append(r.EvaluationRunID)
	b.event.Append(r.RawEventID)
	b.step.Append(c.Step)
	b.invocation.Append(c.Invocation)
	b.decided.Append(c.DecisionID)
	b.primitive.Append(c.Primitive)
	b.class.Append(c.Class)
	b.occurred.Append(r.OccurredAt)
	b.created.Append(r.CreatedAt)
	b.updated.Append(r.UpdatedAt)
	b.body.AppendBytes(body)
	b.retention.Append(retention)
	b.size += rowBytes + len(body) + len(c.Invocation) + len(r.IdempotencyKey)
}

// Append stores records of the stream. When it returns they can be read.
func (s DB) Append(ctx context.Context, org principal.OrgID, records []*record.Record, retention uint16) error {
	if len(records) == 0 {
		return nil
	}
	bodies := make([][]byte, len(records))
	for i, r := range records {
		bodies[i] = r.Values.JSON()
	}
	_, err := s.group.Add(ctx, func(b *block) error {
		for i, r := range records {
			b.add(org, r, bodies[i], retention)
		}
		return nil
	})
	if err == nil {
		return nil
	}
	err = fmt.Errorf("insert evidence: %w", err)
	if !ch.IsException(err) || errors.Is(err, clickhouse.ErrUnderway) {
		err = fmt.Errorf("%w: %w", ErrUnclear, err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", clickhouse.ErrUnavailable, err)
	}
	return clickhouse.Translate(err)
}
