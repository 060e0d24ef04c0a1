package tenancy

import (
	"github.com/assayhq/assay/internal/httpapi"
)

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"ApiKey":              KeyFields{},
	"ApiKeyList":          listKeysBody{},
	"ApiKeyUsage":         usageBody{},
	"ApiKeyUsageDay":      usageDayBody{},
	"ApiKeyUsageEndpoint": usageEndpointBody{},
	"ApiKeyUsageWindow":   usageWindow{},
	"AuditLog":            listAuditBody{},
	"AuditLogEntry":       auditBody{},
	"CreateApiKey":        createKeyBody{},
	"CreatedApiKey":       createdKeyBody{},
	"InviteMember":        inviteBody{},
	"Me":                  meBody{},
	"Member":              memberBody{},
	"MemberList":          listMembersBody{},
	"ModelPrice":          priceBody{},
	"ModelPriceInput":     priceInput{},
	"Organization":        organizationBody{},
	"RateLimitWindow":     currentWindowBody{},
	"RedactionRule":       redactionRuleBody{},
	"RedactionRuleInput":  redactionRuleInput{},
	"RotateApiKey":        rotateBody{},
	"UpdateApiKey":        updateKeyBody{},
	"UpdateMember":        updateMemberBody{},
	"UpdateOrganization":  updateOrganizationBody{},
}
