package specimen

var annotation = area{
	operations: []Operation{
		{
			ID: "createAnnotationTask", Route: "POST /api/annotations/tasks", Body: `{"name":"{label}","guidelines":"Rate what helps.","tags":["support"]}`, Audit: "annotation_task.created annotation_task",
			Refused: `{"name":""}`, At: "/name",
		},
		{
			ID: "updateAnnotationTask", Route: "PUT /api/annotations/tasks/{id}", Body: `{"description":"{label}"}`, Audit: "annotation_task.updated annotation_task",
			Refused: `{"name":""}`, At: "/name", Conflict: `{"description":"{label}","expectedVersion":4711}`,
		},
		{
			ID: "updateNamedAnnotationTask", Route: "PUT /api/annotations/tasks", Body: `{"id":"{annotation task}","description":"{label}"}`, Audit: "annotation_task.updated annotation_task",
			Refused: `{"id":"{annotation task}","name":""}`, At: "/name", Conflict: `{"id":"{annotation task}","description":"{label}","expectedVersion":4711}`,
		},
		{ID: "deleteAnnotationTask", Route: "DELETE /api/annotations/tasks/{id}", Audit: "annotation_task.deleted annotation_task"},
		{ID: "deleteNamedAnnotationTask", Route: "DELETE /api/annotations/tasks", Query: "?id={new annotation task}", ConflictQuery: "?id=4711", Audit: "annotation_task.deleted annotation_task"},
		{
			ID: "addAnnotationItems", Route: "POST /api/annotations/tasks/{id}/items", Body: `{"items":[{"content":{"question":"{label}"}}]}`, Audit: "annotation_task.items_added annotation_task", Appends: true,
			Refused: `{"items":[]}`, At: "/items",
		},
		{
			ID: "importAnnotationItems", Route: "POST /api/annotations/tasks/{id}/import", Body: `{"items":[{"content":{"question":"{label}"},"annotations":[{"annotator":"Ada","label":"billing"}]}]}`,
			Audit: "annotation_task.items_added annotation_task", Appends: true,
			Refused: `{"items":[]}`, At: "/items",
		},
		{
			ID: "updateAnnotationItem", Route: "PUT /api/annotations/tasks/{id}/items", Body: `{"itemId":"{annotation item}","content":{"question":"{label}"}}`, Audit: "annotation_item.updated annotation_item",
			Refused: `{"itemId":"{annotation item}","status":"charming"}`, At: "/status", Conflict: `{"itemId":"4711","content":"{label}"}`,
		},
		{
			ID: "takeAnnotationItem", Route: "POST /api/annotations/tasks/{id}/next", Body: `{"leaseSeconds":60}`, Telemetry: true, InPerson: true,
			Refused: `{"leaseSeconds":1}`, At: "/leaseSeconds",
		},
		{
			ID: "createAnnotation", Route: "POST /api/annotations", Body: `{"traceId":"{trace}","rating":4,"feedback":"{label}"}`, Audit: "annotation.created annotation", InPerson: true,
			Refused: `{"traceId":"{trace}","rating":4,"confidence":2}`, At: "/confidence", Conflict: `{"taskId":"{annotation task}","itemId":"4711","rating":4}`,
		},
		{
			ID: "updateAnnotation", Route: "PATCH /api/annotations/{id}", Body: `{"feedback":"{label}"}`, Audit: "annotation.updated annotation", InPerson: true,
			Refused: `{"confidence":2}`, At: "/confidence", Conflict: `{"feedback":"{label}","expectedVersion":4711}`,
		},
		{ID: "deleteAnnotation", Route: "DELETE /api/annotations/{id}", Audit: "annotation.deleted annotation", InPerson: true},
	},
	nouns: []Noun{
		{Name: "annotation task", Paths: []string{"/api/annotations/tasks/{id}"}, Made: "createAnnotationTask", ID: "id", Named: []string{"taskId", "resourceId"}},
		{Name: "annotation item", Made: "addAnnotationItems", ID: "items.0.id", Named: []string{"annotationItemId", "itemId"}},
		{Name: "annotation", Paths: []string{"/api/annotations/{id}"}, Made: "createAnnotation", ID: "id", Named: []string{"resourceId"}},
	},
	rows: []Row{
		{"annotation_places", "INSERT INTO annotation_places (org_id, task_id, person, queue) VALUES ($1, {annotation task}, gen_random_uuid(), 1)"},
		{"annotation_leases", "INSERT INTO annotation_leases (org_id, task_id, person, item_id, expires_at) VALUES ($1, {annotation task}, gen_random_uuid(), {annotation item}, now())"},
		{"annotation_imports", "INSERT INTO annotation_imports (org_id, item_id, answer, imported_by, created_at) VALUES ($1, {annotation item}, '{}', '{label}', now())"},
		{"annotation_skips", "INSERT INTO annotation_skips (org_id, item_id, person, reason, created_at) VALUES ($1, {annotation item}, gen_random_uuid(), '{label}', now())"},
		{"annotation_truths", "INSERT INTO annotation_truths (org_id, task_id, item_id, origin, label) VALUES ($1, {annotation task}, {annotation item}, 'gold', '{label}')"},
		{"annotation_revisions", "INSERT INTO annotation_revisions (org_id, annotation_id, version, status, answer, replaced_at) VALUES ($1, {annotation}, 1, 'submitted', '{}', now())"},
	},
}
