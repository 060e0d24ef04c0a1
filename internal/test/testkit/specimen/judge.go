package specimen

var judge = area{
	operations: []Operation{
		{
			ID: "createJudgeConfig", Route: "POST /api/llm-judge/configs", Body: `{"key":"j-#","name":"{label}","starter":"helpfulness","provider":"simulated","model":"judge"}`,
			Audit: "judge_config.created judge_config", Refused: `{"key":"Not a key","starter":"helpfulness","provider":"simulated","model":"judge"}`, At: "/key",
			Conflict: `{"key":"j-#","starter":"helpfulness","provider":"openai","model":"judge","providerKeyId":4711}`,
		},
		{
			ID: "updateJudgeConfig", Route: "PATCH /api/llm-judge/configs/{id}", Body: `{"name":"{label}"}`, Audit: "judge_config.updated judge_config",
			Refused: `{"name":""}`, At: "/name", Conflict: `{"name":"{label}","expectedVersion":4711}`,
		},
		{
			ID: "evaluateWithJudge", Route: "POST /api/llm-judge/evaluate", Body: `{"configId":"{judge}","input":"Question #","output":"Answer #"}`, Audit: "judge_result.created judge_result",
			Refused: `{"configId":"{judge}","input":"Question"}`, At: "/output", Conflict: `{"configId":"4711","input":"Question","output":"Answer"}`,
		},
		{
			ID: "probeJudgeConfig", Route: "POST /api/llm-judge/configs/{id}/probe", Body: `{"kinds":["verbosity"],"sampleSize":2}`, Audit: "judge_probe.created judge_probe",
			Refused: `{"kinds":["charm"]}`, At: "/kinds/0", Conflict: `{"kinds":["verbosity"],"datasetId":"4711"}`,
		},
		{ID: "cancelJudgeProbe", Route: "POST /api/llm-judge/probes/{id}/cancel", Audit: "judge_probe.cancelled judge_probe"},
		{
			ID: "createJudgeWatch", Route: "POST /api/llm-judge/configs/{id}/watches", Body: `{"datasetId":"{dataset}"}`, Audit: "judge_watch.started judge_watch", Appends: true,
			Refused: `{"datasetId":"{dataset}","tolerance":2}`, At: "/tolerance", Conflict: `{"datasetId":"4711"}`,
		},
		{ID: "checkJudgeWatch", Route: "POST /api/llm-judge/watches/{id}/check", Audit: "judge_watch.check_requested judge_watch"},
		{ID: "stopJudgeWatch", Route: "POST /api/llm-judge/watches/{id}/stop", Audit: "judge_watch.stopped judge_watch"},
		{
			ID: "createJudgeRule", Route: "POST /api/llm-judge/rules", Body: `{"key":"r-#","name":"{label}","configId":"{judge}","sampleRate":0.1,"status":"paused"}`, Audit: "judge_rule.created judge_rule",
			Refused: `{"key":"r-#","configId":"{judge}","sampleRate":2}`, At: "/sampleRate", Conflict: `{"key":"r-#","configId":"4711","sampleRate":0.1}`,
		},
		{
			ID: "updateJudgeRule", Route: "PATCH /api/llm-judge/rules/{id}", Body: `{"name":"{label}"}`, Audit: "judge_rule.updated judge_rule",
			Refused: `{"name":""}`, At: "/name", Conflict: `{"name":"{label}","expectedVersion":4711}`,
		},
		{ID: "deleteJudgeRule", Route: "DELETE /api/llm-judge/rules/{id}", Audit: "judge_rule.deleted judge_rule"},
		{
			ID: "previewJudgeRule", Route: "POST /api/llm-judge/rules/preview", Body: `{"configId":"{judge}","sampleRate":0.1}`, Telemetry: true,
			Refused: `{"configId":"{judge}","sampleRate":0}`, At: "/sampleRate", Conflict: `{"configId":"4711","sampleRate":0.1}`,
		},
		{
			ID: "startJudgeBackfill", Route: "POST /api/llm-judge/rules/{id}/backfills", Body: `{"from":"2026-01-01T00:00:00Z","maxTraces":10}`, Audit: "judge_backfill.created judge_backfill",
			Refused: `{"from":"yesterday"}`, At: "/from",
		},
		{ID: "cancelJudgeBackfill", Route: "POST /api/llm-judge/rules/{id}/backfills/{backfillId}/cancel", Audit: "judge_backfill.cancelled judge_backfill"},
		{ID: "listJudgeNextLabels", Route: "GET /api/llm-judge/configs/{id}/next-labels", Query: "?evaluationRunId={run}"},
	},
	nouns: []Noun{
		{Name: "judge", Paths: []string{"/api/llm-judge/configs/{id}"}, Made: "createJudgeConfig", ID: "id", Named: []string{"configId", "judgeConfigId", "resourceId"}},
		{Name: "judge watch", Paths: []string{"/api/llm-judge/watches/{id}"}, Made: "createJudgeWatch", ID: "id", Named: []string{"resourceId"}},
		{Name: "judge rule", Paths: []string{"/api/llm-judge/rules/{id}"}, Made: "createJudgeRule", ID: "id", Named: []string{"resourceId"}},
		{Name: "judge backfill", Paths: []string{"/api/llm-judge/rules/{id}/backfills/{backfillId}"}, Made: "startJudgeBackfill", ID: "id", Named: []string{"resourceId"}},
		{Name: "judge result", Paths: []string{"/api/llm-judge/results/{id}"}, Made: "evaluateWithJudge", ID: "id", Named: []string{"resourceId"}},
		// What no worker knows of, and so does not end.
		{Name: "quiet backfill", Row: "judge_rule_backfills"},
		{Name: "quiet probe", Row: "judge_probes"},
		{Name: "quiet watch", Row: "judge_watches"},
		{Name: "judge probe", Paths: []string{"/api/llm-judge/probes/{id}"}, Made: "probeJudgeConfig", ID: "id", Named: []string{"resourceId"}},
	},
	rows: []Row{
		{"judge_rule_backfills", `INSERT INTO judge_rule_backfills (org_id, rule_id, config_id, config_version, filter, sampling_key, sample_rate, from_at, to_at, status, matched, sampled, step, below_start, below_id, created_by, created_at, updated_at)
			VALUES ($1, {judge rule}, {judge}, 1, '{}', 'quiet', 0.1, now(), now(), 'running', 0, 0, 0, 0, '', 'key/1', now(), now()) RETURNING id`},
		{"judge_probes", `INSERT INTO judge_probes (org_id, config_id, config_version, status, request, created_by, created_at) VALUES ($1, {judge}, 1, 'running', '{}', 'key/1', now()) RETURNING id`},
		{"judge_watches", `INSERT INTO judge_watches (org_id, config_id, config_version, dataset_id, dataset_version, every_seconds, tolerance, status, next_at, created_by, created_at, updated_at)
			VALUES ($1, {judge}, 1, {dataset}, 1, 86400, 0.02, 'stopped', now(), 'key/1', now(), now()) RETURNING id`},
		{"judge_rule_tallies", "INSERT INTO judge_rule_tallies (org_id, rule_id, backfill_id, outcome, reason, traces, cost_nano) VALUES ($1, {judge rule}, 0, 'failed', '{label}', 1, 0)"},
		{"judge_rule_claims", `INSERT INTO judge_rule_claims (org_id, config_id, config_version, trace_id, rule_id, backfill_id, activation, claimed_at, reason, cost_nano)
			VALUES ($1, {judge}, 1, decode(repeat('ab', 16), 'hex'), {judge rule}, 0, 1, now(), '{label}', 0)`},
		{"judge_probe_verdicts", "INSERT INTO judge_probe_verdicts (org_id, probe_id, unit, verdict, created_at) VALUES ($1, {judge probe}, 0, 'null', now())"},
		{"judge_conditions", `INSERT INTO judge_conditions (org_id, config_id, number, message) VALUES ($1, {judge}, 1, '{label}')`},
		{"judge_watch_answers", `INSERT INTO judge_watch_answers (org_id, watch_id, number, item_id, repetition, passed, cost_nano) VALUES ($1, {judge watch}, 0, 1, 0, true, 0)`},
		{"judge_watch_checks", `INSERT INTO judge_watch_checks (org_id, watch_id, number, verdict, found, created_at) VALUES ($1, {judge watch}, #, 'failed', '{"problem":"{label}"}', now()) RETURNING id`},
	},
}
