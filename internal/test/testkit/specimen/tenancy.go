package specimen

var tenancy = area{
	operations: []Operation{
		{
			ID: "createApiKey", Route: "POST /api/developer/api-keys", Body: `{"name":"{label}","scopes":["admin:org"],"mode":"test"}`, Grants: "admin:org", Audit: "api_key.created api_key",
			Refused: `{"name":"","scopes":["eval:read"]}`, At: "/name", Conflict: `{"name":"everything","scopes":["eval:read"]}`,
		},
		{
			ID: "updateApiKey", Route: "PATCH /api/developer/api-keys/{id}", Body: `{"name":"{label}"}`, Audit: "api_key.updated api_key",
			Refused: `{"scopes":[]}`, At: "/scopes", Conflict: `{"name":"everything"}`,
		},
		{
			ID: "rotateApiKey", Route: "POST /api/developer/api-keys/{id}/rotate", Body: `{"graceSeconds":60}`, Audit: "api_key.rotated api_key",
			Refused: `{"graceSeconds":-1}`, At: "/graceSeconds",
		},
		{ID: "deleteApiKey", Route: "DELETE /api/developer/api-keys/{id}", Audit: "api_key.revoked api_key"},
		{
			ID: "createMyApiKey", Route: "POST /api/me/api-keys", Body: `{"name":"{label}","scopes":["eval:read"]}`, Grants: "eval:read", Person: true, Audit: "api_key.created api_key",
			Refused: `{"name":"","scopes":["eval:read"]}`, At: "/name",
		},
		{ID: "listMyApiKeys", Route: "GET /api/me/api-keys", Person: true},
		{ID: "getMyApiKey", Route: "GET /api/me/api-keys/{id}", Person: true},
		{ID: "deleteMyApiKey", Route: "DELETE /api/me/api-keys/{id}", Person: true, Audit: "api_key.revoked api_key"},
		{
			ID: "updateOrganization", Route: "PATCH /api/organizations/current", Body: `{"name":"{label}"}`, Audit: "organization.updated organization",
			Refused: `{"name":""}`, At: "/name", Conflict: `{"name":"Other","expectedVersion":4711}`,
		},
		{ID: "deleteOrganization", Route: "DELETE /api/organizations/current", Query: "?confirm={organization}", Audit: "organization.deleted organization", ConflictQuery: "?confirm=yes"},
		{
			ID: "inviteMember", Route: "POST /api/organizations/current/members", Body: `{"email":"member#@example.com","name":"{label}","role":"member"}`, Audit: "member.added member",
			Refused: `{"email":"nobody","role":"viewer"}`, At: "/email", Conflict: `{"email":"OWNER@example.com","role":"viewer"}`,
		},
		{
			ID: "updateMember", Route: "PATCH /api/organizations/current/members/{userId}", Body: `{"name":"{label}","role":"viewer"}`, Audit: "member.updated member",
			Refused: `{"role":"king"}`, At: "/role", Conflict: `{"role":"viewer","expectedVersion":4711}`,
		},
		{
			ID: "createInvitation", Route: "POST /api/organizations/current/members/{userId}/invitation",
			Audit: "member.invited member", InPerson: true,
		},
		{ID: "removeMember", Route: "DELETE /api/organizations/current/members/{userId}", Audit: "member.removed member"},
	},
	nouns: []Noun{
		{Name: "api key", Paths: []string{"/api/developer/api-keys/{id}"}, Made: "createApiKey", ID: "id", Named: []string{"resourceId"}},
		{Name: "personal key", Paths: []string{"/api/me/api-keys/{id}"}, Made: "createMyApiKey", ID: "id", Named: []string{"resourceId"}},
		{
			Name: "member", Paths: []string{"/api/organizations/current/members/{userId}"}, Made: "inviteMember", ID: "id", Named: []string{"annotatorId", "assigneeId", "resourceId", "userId"},
			Absent: "018f2f6e-7c4e-7cc0-8000-0123456789ab",
		},
	},
	rows: []Row{
		{"accounts", "INSERT INTO accounts (org_id, user_id, password, created_at, updated_at) SELECT org_id, user_id, '{label}', now(), now() FROM members WHERE org_id = $1 LIMIT 1"},
		{"invitations", "INSERT INTO invitations (org_id, user_id, hash, created_at, expires_at) SELECT org_id, user_id, sha256('{label}'), now(), now() FROM members WHERE org_id = $1 LIMIT 1"},
		{"sessions", "INSERT INTO sessions (org_id, hash, user_id, created_at, used_at) SELECT org_id, sha256('{label}'), user_id, now(), now() FROM members WHERE org_id = $1 LIMIT 1"},
		// No dispatcher serves this topic, so the message stays.
		{"outbox", "INSERT INTO outbox (org_id, topic, subject, payload, due_at, created_at) VALUES ($1, 'unserved', '1', '', now(), now())"},
		{"deletion_certificates", "INSERT INTO deletion_certificates (org_id, requested_at, requested_by) VALUES ($1, now(), '{label}')"},
	},
}
