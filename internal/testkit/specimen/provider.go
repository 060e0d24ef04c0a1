package specimen

var provider = area{
	operations: []Operation{
		{
			ID: "createProviderKey", Route: "POST /api/developer/provider-keys", Body: `{"provider":"openai","name":"{label}","secret":"sk-specimen-#-0123456789","baseUrl":"{provider}"}`,
			Audit: "provider_key.created provider_key", Refused: `{"provider":"openai","name":"","secret":"sk-specimen"}`, At: "/name",
			Conflict: `{"provider":"openai","name":"{label}","secret":"sk-specimen","baseUrl":"http://10.0.0.1/"}`,
		},
		{
			ID: "updateProviderKey", Route: "PATCH /api/developer/provider-keys/{id}", Body: `{"name":"{label}"}`, Audit: "provider_key.updated provider_key",
			Refused: `{"name":""}`, At: "/name", Conflict: `{"name":"{label}","expectedVersion":4711}`,
		},
		{ID: "deleteProviderKey", Route: "DELETE /api/developer/provider-keys/{id}", Audit: "provider_key.deleted provider_key"},
		// The entry is there if the answer of the provider changes the key's status.
		{ID: "testProviderKey", Route: "POST /api/developer/provider-keys/{id}/test", Audit: "provider_key.updated provider_key"},
	},
	nouns: []Noun{
		{Name: "provider key", Paths: []string{"/api/developer/provider-keys/{id}"}, Made: "createProviderKey", ID: "id", Named: []string{"resourceId", "providerKeyId"}},
	},
}
