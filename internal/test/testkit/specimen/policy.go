package specimen

// question asks about a call of a tool.
const question = `{"runtimeKey":"{label}","toolInvocation":{"toolName":"look_up"}}`

var policy = area{
	operations: []Operation{
		{
			ID: "createPolicy", Route: "POST /api/policies", Body: `{"policyKey":"p-#","name":"{label}","source":"permit (principal, action, resource);"}`, Appends: true,
			Audit: "policy.created policy", Refused: `{"policyKey":"p-#","source":"permit (principal, action, resource);","mode":"charming"}`, At: "/mode",
			Conflict: `{"policyKey":"baseline","source":"permit (principal, action, resource);"}`,
		},
		{
			ID: "updatePolicy", Route: "PATCH /api/policies/{id}", Body: `{"name":"{label}"}`, Audit: "policy.updated policy",
			Refused: `{"mode":"charming"}`, At: "/mode", Conflict: `{"name":"{label}","expectedVersion":4711}`,
		},
		{ID: "deletePolicy", Route: "DELETE /api/policies/{id}", Audit: "policy.deleted policy"},
		{
			ID: "testPolicy", Route: "POST /api/policies/{id}/test", Body: `{"tests":[{"name":"{label}","input":` + question + `,"expect":"allow"}]}`, Telemetry: true,
			Refused: `{"tests":[{"name":"{label}","input":` + question + `,"expect":"charm"}]}`, At: "/tests/0/expect",
		},
		{
			ID: "backtestPolicy", Route: "POST /api/policies/{id}/backtest", Body: `{"limit":10}`, Telemetry: true,
			Refused: `{"limit":0}`, At: "/limit", Conflict: `{"version":4711}`,
		},
		{
			ID: "evaluatePolicy", Route: "POST /api/agent-evidence/policy/evaluate", Body: question, Audit: "evidence_policy_decision.created evidence_policy_decision",
			Refused: `{"runtimeKey":"{label}"}`, At: "/toolInvocation",
		},
		{
			ID: "evaluateAccess", Route: "POST /access/v1/evaluation", Body: `{"subject":{"type":"user","id":"{label}"},"action":{"name":"read"},"resource":{"type":"page","id":"{label}"}}`,
			Audit: "evidence_policy_decision.created evidence_policy_decision", Refused: `{"subject":{"type":"user"},"action":{"name":"read"},"resource":{"type":"page","id":"{label}"}}`, At: "/subject/id",
		},
		{
			ID: "updateApproval", Route: "PATCH /api/agent-evidence/approvals/{id}", Body: `{"expiresAt":"2026-01-01T00:00:00Z"}`, Audit: "evidence_approval.updated evidence_approval",
			Refused: `{"decision":"charmed"}`, At: "/decision", Conflict: `{"expiresAt":"2026-01-01T00:00:00Z","expectedVersion":4711}`,
		},
	},
	nouns: []Noun{
		{Name: "policy", Paths: []string{"/api/policies/{id}"}, Made: "createPolicy", ID: "id"},
		{Name: "approval", Paths: []string{"/api/agent-evidence/approvals/{id}"}, Row: "approval_votes", Named: []string{"approvalId"}},
	},
	rows: []Row{
		// A vote, with the approval that it is about.
		{"approval_votes", `WITH r AS (
				INSERT INTO evidence_records (org_id, kind, name, origin, actor, state, body, occurred_at, created_at, updated_at)
				VALUES ($1, 'approvals', '{label}', 'platform', 'system', 'pending', json_build_object('title', '{label}', 'reason', '{label}', 'state', 'pending', 'min_approvals', 2, 'max_uses', 1, 'uses', 0, 'expires_at', '2099-01-01T00:00:00Z'), now(), now(), now())
				RETURNING org_id, id
			)
			INSERT INTO approval_votes (org_id, approval_id, user_id, decision, people, separation, created_at)
			SELECT org_id, id, gen_random_uuid(), 'approved', '{}', 'requester', now() FROM r RETURNING approval_id`},
		{"policy_actions", "INSERT INTO policy_actions (org_id, decision_id, actor, connector, tool, numbers, at) VALUES ($1, #, 'runtime/{label}', 'payments', 'refund', '{}', now())"},
	},
}
