package streamdb

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
)

// answerTime is how long a question may take.
const answerTime = 20 * time.Second

// readLimits bound what one question may take from the others, and let it end when it has
// what it wants: rows are read in their order, and not ahead. Looking at all indexes
// before reading is much cheaper than looking at each when its rows are read. On a
// cluster, all rows of a record are on one shard.
var readLimits = clickhouse.Settings{
	"max_memory_usage": 1 << 30, "max_bytes_to_read": 20_000_000_000, "distributed_product_mode": "local",
	"optimize_read_in_order": 1, "read_in_order_use_buffering": 0, "optimize_aggregation_in_order": 1, "use_skip_indexes_on_data_read": 0,
}

// each scans every row of a question.
func (s DB) each(ctx context.Context, org principal.OrgID, scan func(driver.Rows) error, text string, args ...any) error {
	if err := s.ch.Org(org).With(readLimits).Each(ctx, answerTime, scan, text, args...); err != nil {
		return fmt.Errorf("read evidence: %w", err)
	}
	return nil
}

// columnsBefore and streamColumns are what a record is read from; the body comes last.
const (
	columnsBefore = "kind, id, key, version, idempotency_key, origin, actor, runtime_id, runtime_key, connector_id, connector_key, trace_id, " +
		"evaluation_run_id, raw_event_id, occurred_at, created_at, updated_at, "
	streamColumns = columnsBefore + "body"
)

// newest keeps the row of each record that replaces the others.
const newest = " ORDER BY id DESC, replaces DESC LIMIT 1 BY id"

// Some returns those of the records of the stream that exist, newest first. Kinds are
// all that they can be of.
func (s DB) Some(ctx context.Context, org principal.OrgID, kinds []kind.Name, ids []int64) (all []record.Record, err error) {
	if len(ids) == 0 || len(kinds) == 0 {
		return nil, nil
	}
	err = s.each(ctx, org, func(rows driver.Rows) error {
		r, err := scanRecord(rows)
		all = append(all, r)
		return err
	}, "SELECT "+streamColumns+" FROM evidence WHERE org_id = ? AND kind IN (?) AND id IN (?)"+newest, uuid.UUID(org), kinds, ids)
	return all, err
}

func scanRecord(rows driver.Rows) (record.Record, error) {
	var name, origin, actor, id, trace, body string
	var r record.Record
	err := rows.Scan(&name, &r.ID, &id, &r.Version, &r.IdempotencyKey, &origin, &actor, &r.RuntimeID, &r.RuntimeKey, &r.ConnectorID, &r.ConnectorKey, &trace,
		&r.EvaluationRunID, &r.RawEventID, &r.OccurredAt, &r.CreatedAt, &r.UpdatedAt, &body)
	if err != nil {
		return record.Record{}, err
	}
	r.Kind, r.Origin, r.Actor = kind.Must(kind.Name(name)), record.Origin(origin), principal.ParseActor(actor)
	copy(r.Key[:], id)
	copy(r.Trace[:], trace)
	r.Values, err = kind.ParseValues([]byte(body))
	return r, err
}

// streamKinds are the kinds of the stream.
var streamKinds = func() (out []kind.Name) {
	for i := range kind.Kinds {
		if kind.Kinds[i].Class == kind.Stream {
			out = append(out, kind.Kinds[i].Name)
		}
	}
	return out
}()

// shown is a body without the members that a timeline does not show. The driver takes
// braces for parameters, so that they are given by their codes.
const shown = "concat(char(123), arrayStringConcat(arrayMap(m -> concat(toJSONString(m.1), ':', m.2), arrayFilter(m -> m.1 NOT IN (?), JSONExtractKeysAndValuesRaw(body))), ','), char(125))"

// OfTrace returns what happened in a trace, newest first, as a timeline needs it, and
// whether there is more than it may show.
func (s DB) OfTrace(ctx context.Context, org principal.OrgID, trace []byte) (all []record.Record, more bool, err error) {
	const of = " FROM evidence WHERE org_id = ? AND kind IN (?)"
	var found []picked
	err = s.each(ctx, org, func(rows driver.Rows) error {
		var p picked
		err := rows.Scan(&p.id, &p.bytes)
		found = append(found, p)
		return err
	}, "SELECT id, length("+shown+") FROM (SELECT id, body"+of+" AND trace_id = unhex(?)"+newest+" LIMIT ?)", record.Unshown, uuid.UUID(org), streamKinds, hex.EncodeToString(trace), record.MaxOfTrace+1)
	if err != nil || len(found) == 0 {
		return nil, false, err
	}
	ids, more := fitting(found, record.MaxOfTrace)
	err = s.each(ctx, org, func(rows driver.Rows) error {
		r, err := scanRecord(rows)
		all = append(all, r)
		return err
	}, "SELECT "+columnsBefore+shown+" FROM (SELECT "+streamColumns+of+" AND id IN (?)"+newest+")", record.Unshown, uuid.UUID(org), streamKinds, ids)
	return all, more, err
}

// Kinds returns the kinds of those of the records that exist.
func (s DB) Kinds(ctx context.Context, org principal.OrgID, kinds []kind.Name, ids []int64) (map[int64]kind.Name, error) {
	found := map[int64]kind.Name{}
	if len(kinds) == 0 || len(ids) == 0 {
		return found, nil
	}
	err := s.each(ctx, org, func(rows driver.Rows) error {
		var id int64
		var name string
		err := rows.Scan(&id, &name)
		found[id] = kind.Name(name)
		return err
	}, "SELECT DISTINCT id, kind FROM evidence WHERE org_id = ? AND kind IN (?) AND id IN (?)", uuid.UUID(org), kinds, ids)
	return found, err
}

// MadeFrom returns the records that those of the events made that are stored, as JSON.
func (s DB) MadeFrom(ctx context.Context, org principal.OrgID, events []int64) (map[int64][]byte, error) {
	out := map[int64][]byte{}
	if len(events) == 0 {
		return out, nil
	}
	err := s.each(ctx, org, func(rows driver.Rows) error {
		var id int64
		var records string
		err := rows.Scan(&id, &records)
		out[id] = []byte(records)
		return err
	}, "SELECT id, JSONExtractRaw(body, 'records') FROM evidence WHERE org_id = ? AND kind = 'raw-events' AND id IN (?)"+newest, uuid.UUID(org), events)
	return out, err
}
