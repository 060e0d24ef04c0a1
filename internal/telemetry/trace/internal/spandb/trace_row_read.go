package spandb

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Extent is the time that a trace takes up, and when something of it arrived
// last.
type Extent struct {
	firstStart, lastStart int64 // microseconds since 1970
	LastIngest            time.Time
}

// Extent returns the extent of a trace; ok is false if nothing of it is
// stored.
func (s DB) Extent(ctx context.Context, org principal.OrgID, trace span.TraceID) (e Extent, ok bool, err error) {
	var rows uint64
	var last int64
	err = s.ch.Org(org).QueryRow(ctx, `
		SELECT count(), toUnixTimestamp64Micro(min(first_start)), toUnixTimestamp64Micro(max(last_start)), toUnixTimestamp64Milli(max(last_ingest))
		FROM traces WHERE org_id = ? AND trace_id = unhex(?)`, uuid.UUID(org), trace.String()).
		Scan(&rows, &e.firstStart, &e.lastStart, &last)
	if err != nil {
		return Extent{}, false, fmt.Errorf("read extent of trace: %w", clickhouse.Translate(err))
	}
	e.LastIngest = time.UnixMilli(last)
	return e, rows > 0, nil
}

// FindTraceRow returns the trace row as it was stored last, with its version,
// which is zero if there is none.
func (s DB) FindTraceRow(ctx context.Context, org principal.OrgID, trace span.TraceID) (o TraceRow, version uint64, err error) {
	in, ok, err := s.Extent(ctx, org, trace)
	if err != nil || !ok {
		return TraceRow{}, 0, err
	}
	rows, err := s.ch.Org(org).Query(ctx, `
		SELECT name, toInt8(state), toInt8(status), toUnixTimestamp64Micro(start_time), duration_us, conversation_id, user_id,
		       environment, service_name, agent_name, release_id, tags, attrs_json['assay.metadata'], version
		FROM spans
		WHERE org_id = ? AND start_time >= fromUnixTimestamp64Micro(?) AND start_time <= fromUnixTimestamp64Micro(?)
		  AND xxHash32(trace_id) = xxHash32(toFixedString(unhex(?), 16)) AND trace_id = unhex(?) AND span_id = toFixedString('', 8)
		ORDER BY version DESC LIMIT 1`,
		uuid.UUID(org), in.firstStart, in.lastStart, trace.String(), trace.String())
	if err != nil {
		return TraceRow{}, 0, fmt.Errorf("read trace row: %w", clickhouse.Translate(err))
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		return TraceRow{}, 0, clickhouse.Translate(rows.Err())
	}
	var state, status int8
	var start int64
	var duration uint64
	var metadata string
	o.TraceID = trace
	err = rows.Scan(&o.Name, &state, &status, &start, &duration, &o.ConversationID, &o.UserID,
		&o.Environment, &o.ServiceName, &o.AgentName, &o.ReleaseID, &o.Tags, &metadata, &version)
	if err != nil {
		return TraceRow{}, 0, fmt.Errorf("read trace row: %w", clickhouse.Translate(err))
	}
	o.Start = time.UnixMicro(start).UTC()
	o.Status = StatusRunning
	if state == span.StateEnded {
		o.Status, o.End = StatusCompleted, time.UnixMicro(start+int64(duration)).UTC()
		if status == span.StatusError {
			o.Status = StatusFailed
		}
	}
	if metadata != "" {
		o.Metadata = jsontext.Value(metadata)
	}
	o.Input, o.Output, err = s.traceRowPayload(ctx, org, trace, start, version)
	return o, version, err
}

// traceRowPayload returns what went in and came out of the trace as a whole.
func (s DB) traceRowPayload(ctx context.Context, org principal.OrgID, trace span.TraceID, start int64, version uint64) (input, output jsontext.Value, err error) {
	rows, err := s.ch.Org(org).Query(ctx, `
		SELECT input, output FROM span_payloads
		WHERE org_id = ? AND trace_id = unhex(?) AND start_time = fromUnixTimestamp64Micro(?) AND span_id = toFixedString('', 8) AND version = ?
		LIMIT 1`, uuid.UUID(org), trace.String(), start, version)
	if err != nil {
		return nil, nil, fmt.Errorf("read payload of trace row: %w", clickhouse.Translate(err))
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		return nil, nil, clickhouse.Translate(rows.Err())
	}
	var in, out string
	if err := rows.Scan(&in, &out); err != nil {
		return nil, nil, fmt.Errorf("read payload of trace row: %w", clickhouse.Translate(err))
	}
	if in != "" {
		input = jsontext.Value(in)
	}
	if out != "" {
		output = jsontext.Value(out)
	}
	return input, output, nil
}
