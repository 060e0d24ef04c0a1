package tenancy

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi"
)

// Schema lists the modes.
func (Mode) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(ModeLive, ModeTest) }

// Schema lists the statuses of keys.
func (KeyStatus) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(KeyActive, KeyExpired, KeyRevoked)
}

// Schema lists the statuses of members.
func (MemberStatus) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(MemberInvited, MemberActive)
}

// Schema lists the plans.
func (Plan) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(PlanFree, PlanPro, PlanEnterprise, PlanSelfHosted)
}

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
	"SeparationProposal":  proposalBody{},
	"RateLimitWindow":     currentWindowBody{},
	"RedactionRule":       redactionRuleBody{},
	"RedactionRuleInput":  redactionRuleInput{},
	"RotateApiKey":        rotateBody{},
	"UpdateApiKey":        updateKeyBody{},
	"UpdateMember":        updateMemberBody{},
	"UpdateOrganization":  updateOrganizationBody{},
}
