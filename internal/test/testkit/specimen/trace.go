package specimen

import (
	"strconv"
	"time"
)

// recently is a time that telemetry may have, in the two forms that it takes;
// yesterday and tomorrow are around it.
var (
	moment       = time.Now().Add(-time.Minute).UTC()
	recently     = moment.Format(time.RFC3339)
	recentlyNano = strconv.FormatInt(moment.UnixNano(), 10)
	yesterday    = moment.Add(-24 * time.Hour).Format(time.RFC3339)
	tomorrow     = moment.Add(24 * time.Hour).Format(time.RFC3339)
)

var trace = area{
	operations: []Operation{
		{
			ID: "createTrace", Route: "POST /api/traces", Telemetry: true,
			Body:    `{"name":"{label}","conversationId":"{label}","userId":"{label}","releaseId":"{label}","input":"{label}","output":"{label}","tags":["support"],"metadata":{"Team":"care"}}`,
			Refused: `{"name":1}`, At: "/name",
		},
		{ID: "updateTrace", Route: "PATCH /api/traces/{id}", Telemetry: true, Body: `{"status":"completed","output":{"text":"{label}"}}`, Refused: `{"status":"lost"}`, At: "/status"},
		{ID: "deleteTrace", Route: "DELETE /api/traces/{id}", Audit: "trace.deleted trace"},
		{
			ID: "addTraceSpans", Route: "POST /api/traces/{id}/spans", Telemetry: true, Body: `{"name":"{label}","startTime":"{recently}","attributes":{"gen_ai.request.model":"gpt-4o"}}`,
			Refused: `{"name":"chat","startTime":"today"}`, At: "/startTime",
		},
		{
			ID: "addTraceFeedback", Route: "POST /api/traces/{id}/feedback", Body: `{"type":"comment","comment":"{label}"}`, Audit: "trace.feedback_created feedback",
			Refused: `{"type":"shrug"}`, At: "/type",
		},
		{
			ID: "addTracesToDataset", Route: "POST /api/traces/to-dataset", Body: `{"datasetId":"{dataset}","traceIds":["{trace}"]}`, Audit: "dataset.items_added dataset",
			Refused: `{"datasetId":"{dataset}","traceIds":[]}`, At: "/traceIds", Conflict: `{"datasetId":"{dataset}","traceIds":["4711000"]}`,
		},
		{ID: "listConversations", Route: "GET /api/conversations", Query: "?startAfter=" + yesterday + "&startBefore=" + tomorrow},
		{ID: "listEndUsers", Route: "GET /api/end-users", Query: "?startAfter=" + yesterday + "&startBefore=" + tomorrow},
		{ID: "getTraceMetrics", Route: "GET /api/traces/metrics", Query: "?startAfter=2026-01-01T00:00:00Z&startBefore=2026-02-01T00:00:00Z"},
		{
			ID: "sendTraces", Route: "POST /v1/traces", Telemetry: true,
			Body: `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"chat","startTimeUnixNano":"{recently nano}","kind":1}]}]}]}`,
		},
		{
			ID: "sendLangfuseTraces", Route: "POST /api/public/otel/v1/traces", Telemetry: true,
			Body: `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60d","spanId":"eee19b7ec3c1b175","name":"chat","startTimeUnixNano":"{recently nano}","kind":1}]}]}]}`,
		},
		{
			ID: "sendLogs", Route: "POST /v1/logs", Telemetry: true,
			Body: `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","timeUnixNano":"{recently nano}","body":{"stringValue":"x"}}]}]}]}`,
		},
		{ID: "sendMetrics", Route: "POST /v1/metrics", Telemetry: true, Body: `{"resourceMetrics":[{"resource":{}}]}`},
	},
	nouns: []Noun{
		// A trace is named by its number: an id of 32 digits that nothing is known of
		// may be anybody's next trace.
		{Name: "trace", Paths: []string{"/api/traces/{id}"}, Made: "createTrace", ID: "trace_ref", Named: []string{"otelTraceId", "parentSpanId", "spanId", "traceId"}},
		{
			Name: "conversation", Paths: []string{"/api/conversations/{conversationId}"}, Made: "createTrace", ID: "conversation_id", Named: []string{"conversationId", "releaseId"},
			Absent: "nobody spoke here",
		},
		{Name: "feedback", Made: "addTraceFeedback", ID: "id"},
	},
	rows: []Row{
		{"trace_deletions", "INSERT INTO trace_deletions (org_id, trace_id, requested_at) VALUES ($1, decode('00112233445566778899aabbccddeeff', 'hex'), now())"},
	},
}
