package specimen

var evaluation = area{
	operations: []Operation{
		{
			ID: "createEvaluation", Route: "POST /api/evaluations", Audit: "evaluation.created evaluation",
			Body:    `{"name":"{label}","datasetId":"{dataset}","metrics":["exact_match"],"externalMetrics":[{"name":"politeness","source":"judge"}],"target":{"type":"client"},"tags":["support"],"metadata":{"Team":"care"}}`,
			Refused: `{"name":"","datasetId":"{dataset}","metrics":["exact_match"]}`, At: "/name", Conflict: `{"name":"{label}","datasetId":"later","metrics":["exact_match"]}`, ConflictQuery: "?strict=true",
		},
		{
			ID: "updateEvaluation", Route: "PATCH /api/evaluations/{id}", Body: `{"description":"{label}","passRule":{"minOverall":0.8}}`, Audit: "evaluation.updated evaluation",
			Refused: `{"name":""}`, At: "/name", Conflict: `{"name":"{label}","expectedVersion":4711}`,
		},
		{ID: "deleteEvaluation", Route: "DELETE /api/evaluations/{id}", Audit: "evaluation.deleted evaluation"},
		{
			ID: "startEvaluationRun", Route: "POST /api/evaluations/{id}/runs", Body: `{"seed":#,"repetitions":2}`, Audit: "run.started run",
			Refused: `{"repetitions":0}`, At: "/repetitions",
		},
		{ID: "cancelEvaluationRun", Route: "POST /api/evaluations/{id}/runs/{runId}/cancel", Audit: "run.cancelled run"},
		{
			// The run waits for its client, and is final with these results.
			ID: "addEvaluationRunResults", Route: "POST /api/evaluations/{id}/runs/{runId}/results", Body: `{"results":[{"testCaseId":"{item}","output":"{label}"}],"final":true}`,
			Audit: "run.final run", Refused: `{"results":[{"testCaseId":"{item}","epoch":"one"}]}`, At: "/results/0/epoch", Conflict: `{"results":[{"testCaseId":"4711000","output":"x"}]}`,
		},
		{
			// And so with these scores.
			ID: "addEvaluationRunScores", Route: "POST /api/evaluations/{id}/runs/{runId}/results/{testCaseId}/scores", Body: `{"scores":{"politeness":1},"final":true}`,
			Audit: "run.final run", Refused: `{"scores":{"politeness":"high"}}`, At: "/scores/politeness", Conflict: `{"scores":{"charm":1}}`,
		},
		{
			ID: "decideEvaluationRun", Route: "POST /api/evaluations/{id}/runs/{runId}/decisions", Body: `{"requirements":["pass_rate>=0.9"]}`, Audit: "run.decided decision", Appends: true,
			Refused: `{"requirements":[]}`, At: "/requirements", Conflict: `{"requirements":["pass_rate is good"]}`,
		},
		{ID: "planEvaluation", Route: "GET /api/evaluations/{id}/plan", Query: "?difference=0.02"},
		{ID: "compareEvaluationRuns", Route: "GET /api/evaluations/{id}/runs/compare", Query: "?baselineRunId={run}&candidateRunId={run}"},
	},
	nouns: []Noun{
		{Name: "evaluation", Paths: []string{"/api/evaluations/{id}"}, Made: "createEvaluation", ID: "id", Named: []string{"resourceId"}},
		{
			Name: "run", Paths: []string{"/api/evaluations/{id}/runs/{runId}"}, Made: "startEvaluationRun", ID: "run_id",
			Named: []string{"baselineRunId", "candidateRunId", "evaluationRunId", "resumeRunId", "runId", "resourceId"},
		},
		{Name: "artifact", Paths: []string{"/api/evaluations/{id}/artifacts/{artifactId}"}, Row: "evaluation_artifacts"},
		// A run that nobody started, so that no worker touches it.
		{Name: "quiet run", Row: "evaluation_runs"},
	},
	rows: []Row{
		{"evaluation_runs", `INSERT INTO evaluation_runs (org_id, evaluation_id, status, phase, request, created_by, started_at, updated_at, completed_at)
			VALUES ($1, {evaluation}, 'completed', 'done', '{}', 'key/1', now(), now(), now()) RETURNING id`},
		{"gate_decisions", `INSERT INTO gate_decisions (org_id, evaluation_id, run_id, verdict, asked, decided, created_by, created_at)
			VALUES ($1, {evaluation}, {run}, 'PASS', '{}', '{"rulings":[{"requirement":"{label}"}]}', 'key/1', now()) RETURNING id`},
		{"evaluation_run_items", "INSERT INTO evaluation_run_items (org_id, run_id, page, items) VALUES ($1, {run}, 0, '{1}')"},
		{"evaluation_run_chunks", `INSERT INTO evaluation_run_chunks (org_id, run_id, chunk, size, done, passed, failed, errored, skipped, calls, input_tokens, output_tokens, cost_nano_usd, overall_sum, overall_sum2, scored, updated_at)
			VALUES ($1, {run}, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, now())`},
		{"evaluation_run_notes", "INSERT INTO evaluation_run_notes (org_id, run_id, subject, at, level, message) VALUES ($1, {run}, 'begun', now(), 'info', '{label}')"},
		{"evaluation_artifacts", `INSERT INTO evaluation_artifacts (org_id, evaluation_id, run_id, kind, name, content_type, size_bytes, sha256, object, created_at)
			VALUES ($1, {evaluation}, {run}, 'report', '{label}', 'text/html', 1, decode(repeat('00', 32), 'hex'), 'x', now()) RETURNING id`},
	},
}
