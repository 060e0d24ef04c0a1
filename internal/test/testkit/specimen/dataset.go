package specimen

var dataset = area{
	operations: []Operation{
		{
			ID: "createDataset", Route: "POST /api/datasets", Body: `{"name":"{label}","description":"Questions of customers","tags":["support"],"metadata":{"Team":"care"}}`, Audit: "dataset.created dataset",
			Refused: `{"name":""}`, At: "/name",
		},
		{
			ID: "updateDataset", Route: "PATCH /api/datasets/{id}", Body: `{"description":"{label}","metadata":{"Team":"care"}}`, Audit: "dataset.updated dataset",
			Refused: `{"name":""}`, At: "/name", Conflict: `{"name":"{label}","expectedVersion":4711}`,
		},
		{ID: "deleteDataset", Route: "DELETE /api/datasets/{id}", Audit: "dataset.deleted dataset"},
		{
			ID: "addDatasetItems", Route: "POST /api/datasets/{id}/items", Body: `{"items":[{"input":{"question":"{label}"},"expectedOutput":"Because.","weight":2}]}`, Audit: "dataset.items_added dataset",
			Refused: `{"items":[{"input":"Why?","weight":-1}]}`, At: "/items/0/weight",
		},
		{
			ID: "updateDatasetItem", Route: "PATCH /api/datasets/{id}/items/{itemId}", Body: `{"expectedOutput":{"text":"{label}"}}`, Audit: "dataset.item_updated dataset",
			Refused: `{"weight":-1}`, At: "/weight",
		},
		{ID: "deleteDatasetItem", Route: "DELETE /api/datasets/{id}/items/{itemId}", Audit: "dataset.item_deleted dataset"},
		{
			ID: "updateDatasetItems", Route: "PATCH /api/datasets/{id}/items", Body: `{"itemIds":["{item}"],"labels":{"topic":"{label}"}}`, Audit: "dataset.items_updated dataset",
			Refused: `{"itemIds":["{item}"],"weight":-1}`, At: "/weight",
		},
		{
			ID: "deleteDatasetItems", Route: "POST /api/datasets/{id}/items/delete", Body: `{"itemIds":["{item}"]}`, Audit: "dataset.items_deleted dataset",
			Refused: `{"itemIds":[]}`, At: "/itemIds",
		},
		{
			ID: "freezeDatasetVersion", Route: "POST /api/datasets/{id}/versions", Body: `{"note":"{label}"}`, Audit: "dataset.version_frozen dataset",
			Refused: `{"note":1}`, At: "/note",
		},
	},
	nouns: []Noun{
		{Name: "dataset", Paths: []string{"/api/datasets/{id}"}, Made: "createDataset", ID: "id", Named: []string{"calibrationSetId", "datasetId", "resourceId"}},
		{Name: "item", Paths: []string{"/api/datasets/{id}/items/{itemId}", "/api/evaluations/{id}/runs/{runId}/results/{testCaseId}"}, Made: "addDatasetItems", ID: "items.0.id", Named: []string{"datasetItemId", "testCaseId", "resourceId"}},
		{Name: "dataset version", Paths: []string{"/api/datasets/{id}/versions/{datasetVersion}"}, Made: "freezeDatasetVersion", ID: "dataset_version"},
	},
	rows: []Row{
		{"dataset_holds", "INSERT INTO dataset_holds (org_id, dataset_id, holder, created_at) VALUES ($1, {dataset}, 'run 1', now())"},
	},
}
