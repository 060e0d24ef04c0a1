package specimen

// things are events that say which runtimes and connectors there are.
const things = `{"id":"runtime {label}","source":"https://tools.example","type":"agent-evidence.runtimes","data":{"runtimeKey":"{label}","name":"{label}"}},` +
	`{"id":"{label}","source":"https://tools.example/{label}","type":"agent-evidence.connectors","time":"{recently}","data":{"connectorKey":"{label}","type":"mcp_server"}}`

var evidence = area{
	operations: []Operation{
		{
			ID: "createEvidence", Route: "POST /api/agent-evidence/{resource}", Body: `{"failureKey":"{label}","failureMode":"tool_timeout","severity":"high","title":"{label}"}`, Appends: true,
			Audit: "evidence_failure.created evidence_failure", Refused: `{"failureMode":"charming","severity":"high"}`, At: "/failureMode",
		},
		{
			ID: "updateEvidence", Route: "PATCH /api/agent-evidence/{resource}/{id}", Body: `{"title":"{label}"}`, Audit: "evidence_failure.updated evidence_failure",
			Refused: `{"severity":"charming"}`, At: "/severity", Conflict: `{"title":"{label}","expectedVersion":4711}`,
		},
		{
			ID: "updateRuntime", Route: "PATCH /api/agent-evidence/runtimes/{id}", Body: `{"owner":"{label}"}`, Audit: "evidence_runtime.updated evidence_runtime",
			Refused: `{"type":"charming"}`, At: "/type", Conflict: `{"owner":"{label}","expectedVersion":4711}`,
		},
		{
			ID: "updateConnector", Route: "PATCH /api/agent-evidence/connectors/{id}", Body: `{"owner":"{label}"}`, Audit: "evidence_connector.updated evidence_connector",
			Refused: `{"state":"charming"}`, At: "/state", Conflict: `{"owner":"{label}","expectedVersion":4711}`,
		},
		{
			ID: "ingestEvidence", Route: "POST /api/agent-evidence/ingest", Body: `{"producer":{"runtimeKey":"{label}"},"events":[` + things + `]}`, Telemetry: true,
			Refused: `{"producer":{"runtimeKey":"{label}"},"events":[]}`, At: "/events",
		},
		{
			ID: "createNormalization", Route: "POST /api/agent-evidence/normalizations", Body: `{"events":"all"}`, Audit: "evidence_normalization.created evidence_normalization",
			Refused: `{"events":"charming"}`, At: "/events",
		},
		{ID: "getEvidenceTimeline", Route: "GET /api/agent-evidence/timeline", Query: "?traceId={trace}", ConflictQuery: "?traceId=4711"},
	},
	nouns: []Noun{
		{Name: "evidence record", Paths: []string{"/api/agent-evidence/{resource}/{id}"}, Made: "createEvidence", ID: "id", Named: []string{
			"batchId", "rawEventId", "primitiveStepRunId", "toolInvocationEvidenceId", "invocationId", "policyDecisionId", "sideEffectLedgerId", "evalExplanationId", "connectorReadinessReportId",
		}},
		{Name: "evidence normalization", Paths: []string{"/api/agent-evidence/normalizations/{id}"}, Made: "createNormalization", ID: "id"},
		{Name: "connector", Paths: []string{"/api/agent-evidence/connectors/{id}"}, Made: "ingestEvidence", ID: "results.1.records.0.id", Named: []string{"connectorId"}},
		{Name: "runtime", Paths: []string{"/api/agent-evidence/runtimes/{id}"}, Made: "ingestEvidence", ID: "results.0.records.0.id", Named: []string{"runtimeId"}},
	},
	rows: []Row{
		{"evidence_records", "INSERT INTO evidence_records (org_id, kind, name, origin, actor, state, body, occurred_at, created_at, updated_at) VALUES ($1, 'runtimes', '{label}', 'reported', 'system', 'active', json_build_object('runtime_key', '{label}', 'state', 'active'), now(), now(), now()) RETURNING id"},
		{"evidence_keys", "INSERT INTO evidence_keys (org_id, key) VALUES ($1, decode(md5('{label}'), 'hex'))"},
		{"evidence_leases", "INSERT INTO evidence_leases (org_id, id, until) VALUES ($1, 1, now())"},
		{"evidence_cursors", "INSERT INTO evidence_cursors (org_id, at_ms, trace_id, holder, until) VALUES ($1, 0, decode(repeat('00', 16), 'hex'), 0, now()) ON CONFLICT DO NOTHING"},
		{"evidence_history", "INSERT INTO evidence_history (org_id, record_id, version, state, body, actor, replaced_at) VALUES ($1, {evidence record}, 1, 'open', '{}', 'system', now())"},
	},
}
