package specimen

var provider = area{
	operations: []Operation{
		{
			ID: "createProviderKey", Route: "POST /api/developer/provider-keys", Body: `{"provider":"openai","name":"{label}","secret":"sk-specimen-#-0123456789","baseUrl":"{provider}","monthlyCapUsd":100}`,
			Audit: "provider_key.created provider_key", Refused: `{"provider":"openai","name":"","secret":"sk-specimen"}`, At: "/name",
			Conflict: `{"provider":"openai","name":"{label}","secret":"sk-specimen","baseUrl":"http://10.0.0.1/"}`,
		},
		{
			ID: "updateProviderKey", Route: "PATCH /api/developer/provider-keys/{id}", Body: `{"name":"{label}","monthlyCapUsd":200}`, Audit: "provider_key.updated provider_key",
			Refused: `{"name":""}`, At: "/name", Conflict: `{"name":"{label}","expectedVersion":4711}`,
		},
		{ID: "deleteProviderKey", Route: "DELETE /api/developer/provider-keys/{id}", Audit: "provider_key.deleted provider_key"},
		// The entry is there if the answer of the provider changes the key's status.
		{ID: "testProviderKey", Route: "POST /api/developer/provider-keys/{id}/test", Audit: "provider_key.updated provider_key"},
	},
	nouns: []Noun{
		{Name: "provider key", Paths: []string{"/api/developer/provider-keys/{id}"}, Made: "createProviderKey", ID: "id", Named: []string{"resourceId", "providerKeyId"}},
	},
	rows: []Row{
		{"model_answers", `INSERT INTO model_answers (org_id, digest, answer, bytes, created_at, expires_at)
			VALUES ($1, decode(repeat('00', 32), 'hex'), '{"text":"{label}"}', 20, now(), now() + interval '1 day')`},
		{"model_spends", `INSERT INTO model_spends (org_id, kind, id, period, spent_nano_usd) VALUES ($1, 'organization', '', '2026-11', 1000)`},
	},
}
