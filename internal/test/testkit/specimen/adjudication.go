package specimen

var adjudication = area{
	operations: []Operation{
		{
			ID: "createAdjudicationItem", Route: "POST /api/adjudication/items", Body: `{"title":"{label}","subject":{"judgeResultIds":["{new judge result}"]},"tags":["support"]}`, Audit: "adjudication.item.opened adjudication_item",
			Refused: `{"subject":{"traceId":"{trace}"},"priority":"utmost"}`, At: "/priority", Conflict: `{"subject":{"traceId":"4711000"}}`,
		},
		{
			ID: "updateAdjudicationItem", Route: "PATCH /api/adjudication/items/{id}", Body: `{"notes":"{label}"}`, Audit: "adjudication.item.updated adjudication_item",
			Refused: `{"status":"dismissed"}`, At: "/reason", Conflict: `{"notes":"{label}","expectedVersion":4711}`,
		},
		{
			ID: "assignAdjudicationItem", Route: "POST /api/adjudication/items/{id}/assign", Body: `{"assigneeId":"{member}"}`, Audit: "adjudication.item.assigned adjudication_item",
			Refused: `{}`, At: "/assigneeId", Conflict: `{"assigneeId":"01a1dd22-5818-79ee-b8af-64a7bb3bb5b5"}`,
		},
		{
			ID: "decideAdjudicationItem", Route: "POST /api/adjudication/items/{id}/decision", Body: `{"decision":"pass","rationale":"{label} is right."}`, Audit: "adjudication.item.decided adjudication_item", InPerson: true,
			Refused: `{"decision":"pass","rationale":"short"}`, At: "/rationale",
		},
		{
			ID: "createGroundTruth", Route: "POST /api/adjudication/items/{id}/ground-truth", Body: `{"rationale":"{label}"}`, Audit: "ground_truth.created ground_truth", InPerson: true,
			Refused: `{"score":2}`, At: "/score", Conflict: `{"supersedes":4711}`,
		},
		{
			ID: "addAdjudicationItemToCalibration", Route: "POST /api/adjudication/items/{id}/add-to-calibration", Body: `{"split":"test"}`, Audit: "adjudication.item.calibrated adjudication_item",
			Refused: `{"split":"all"}`, At: "/split", Conflict: `{"calibrationSetId":"4711"}`,
		},
		{
			ID: "promoteAdjudicationItemToGolden", Route: "POST /api/adjudication/items/{id}/promote-to-golden", Body: `{"justification":"{label}"}`, Audit: "adjudication.item.promoted adjudication_item",
			Refused: `{"weight":2}`, At: "/justification", Conflict: `{"datasetId":"4711","justification":"{label}"}`,
		},
	},
	nouns: []Noun{
		{Name: "adjudication item", Paths: []string{"/api/adjudication/items/{id}"}, Made: "createAdjudicationItem", ID: "id", Named: []string{"resourceId"}},
		{Name: "ground truth", Paths: []string{"/api/adjudication/ground-truths/{id}"}, Row: "ground_truths", Named: []string{"supersedes", "resourceId"}},
	},
	rows: []Row{
		// The item and the decision of a ground truth are rows of its own.
		{"ground_truths", `WITH i AS (
				INSERT INTO adjudication_items (org_id, source, status, priority, disagreement, rank_at, subject, subject_key, title, question, context, candidates, content_digest, notes, created_by, created_at, updated_at)
				VALUES ($1, 'manual', 'closed', 'normal', 0, now(), '{}', 'specimen/#', '{label}', '', '{}', '[]', decode(repeat('ab', 32), 'hex'), '', 'system', now(), now()) RETURNING org_id, id
			), c AS (
				INSERT INTO adjudication_contents (org_id, item_id, content) SELECT org_id, id, 'null' FROM i
			), d AS (
				INSERT INTO adjudication_decisions (org_id, item_id, decision, rationale, decided_by, decider_id, independent, override, separation, created_at)
				SELECT org_id, id, 'pass', '{label} is right.', 'system', gen_random_uuid(), true, false, 'off', now() FROM i RETURNING org_id, item_id, id
			)
			INSERT INTO ground_truths (org_id, item_id, decision_id, decision, label, rationale, decided_by, created_by, number, status, content_digest, created_at)
			SELECT org_id, item_id, id, 'pass', '{label}', '{label}', 'system', 'system', 1, 'active', decode(repeat('ab', 32), 'hex'), now() FROM d RETURNING id`},
		{"ground_truth_entries", `INSERT INTO ground_truth_entries (org_id, item_id, ground_truth_id, purpose, dataset_id, dataset_item_id, justification, created_by, created_at)
			SELECT org_id, item_id, id, 'golden', {dataset}, {item}, '{label}', 'system', now() FROM ground_truths WHERE org_id = $1 AND id = {ground truth}`},
		{"adjudication_sets", "INSERT INTO adjudication_sets (org_id, purpose, dataset_id, created_at) VALUES ($1, 'golden', {dataset}, now())"},
		{"assessed_contents", "INSERT INTO assessed_contents (org_id, digest, side) VALUES ($1, decode(repeat('ab', 32), 'hex'), 'golden')"},
	},
}
