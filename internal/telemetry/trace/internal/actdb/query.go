package actdb

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// evaluation is the name of an event that tells a score.
const evaluation = "gen_ai.evaluation.result"

// rowsOf is the clause that finds the rows of traces.
func rowsOf(of spandb.Scope) string { return of.SQL() + " AND org_id = @org" }

// agents finds those of the traces that have a step of an agent. It looks at one narrow
// column, so that all other traces cost next to nothing.
func agents(of spandb.Scope) string {
	return "SELECT DISTINCT trace_id\nFROM spans\n" + rowsOf(of) + " AND primitive_type != ''"
}

// acts finds the calls of tools, the changes of memories, the steps that failed and the
// spans that tell a score, each in its newest version: which ones they are is found with
// narrow columns first.
func acts(of spandb.Scope, after place) string {
	place := rowsOf(of)
	told := "SELECT trace_id, span_id FROM span_payloads WHERE org_id = @org AND trace_id IN (" + traces(of) + ") AND position(events, '" + evaluation + "') > 0"
	chosen := "SELECT trace_id, span_id, newest FROM (\n    SELECT trace_id, span_id, max(version) AS newest, argMax(start_time, version) AS at,\n" +
		"      argMax(primitive_type, version) AS primitive, argMax(status, version) AS outcome\n    FROM spans\n  " + place +
		"\n    GROUP BY trace_id, span_id\n    HAVING (primitive IN ('tool_call', 'memory_write') OR primitive != '' AND outcome = 'error' OR (trace_id, span_id) IN (" + told + "))\n" +
		"      AND (trace_id, toUnixTimestamp64Micro(at), span_id) > (" + literal(after.trace[:]) + ", " + strconv.FormatInt(after.start, 10) + ", " + literal(after.span[:]) + "))\n" +
		"    ORDER BY trace_id, at, span_id\n    LIMIT @limit"
	return "SELECT trace_id, span_id, toUnixTimestamp64Micro(start_time), duration_us, toInt8(state), toInt8(status), status_message, primitive_type, name, service_name,\n" +
		"  provider, tool_name, conversation_id, user_id, attrs, attrs_json, version\nFROM spans\n" + place +
		"\n  AND (trace_id, span_id, version) IN (\n    " + chosen + ")\nORDER BY trace_id, start_time, span_id\nLIMIT 1 BY trace_id, span_id\nLIMIT @limit"
}

// payloads finds what went in and came out of spans, in their order.
func payloads(of []act) string {
	keys := make([]string, len(of))
	for i := range of {
		r := &of[i].Record
		keys[i] = "(" + literal(r.TraceID[:]) + ", fromUnixTimestamp64Micro(" + strconv.FormatInt(r.Start, 10) + ", 'UTC'), " + literal(r.ID[:]) + ")"
	}
	return "SELECT trace_id, span_id, version, input, output, events\nFROM span_payloads\nWHERE org_id = @org AND (trace_id, start_time, span_id) IN (" + strings.Join(keys, ", ") +
		")\nORDER BY trace_id, start_time, span_id"
}

// traces writes the ids of traces as literals.
func traces(of spandb.Scope) string {
	ids := make([]string, len(of))
	for i := range of {
		ids[i] = literal(of[i].ID[:])
	}
	return strings.Join(ids, ", ")
}

// literal writes bytes as a string.
func literal(b []byte) string {
	digits := hex.EncodeToString(b)
	var t strings.Builder
	for i := 0; i < len(digits); i += 2 {
		t.WriteString(`\x` + digits[i:i+2])
	}
	return "'" + t.String() + "'"
}

// place is one in the order in which spans are read.
type place struct {
	trace span.TraceID
	start int64 // microseconds since 1970
	span  span.ID
}
