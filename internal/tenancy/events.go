package tenancy

import "github.com/assayhq/assay/internal/change/event"

var (
	organizationNoun = event.Of("organization", "Organization")
	memberNoun       = event.Of("member", "Member")
	keyNoun          = event.Of("api_key", "ApiKey")
)

var (
	eventOrganizationCreated   = organizationNoun.Event("organization.created", "An organization was created.")
	eventOrganizationUpdated   = organizationNoun.Event("organization.updated", "The name or a setting of the organization was changed.")
	eventOrganizationPlan      = organizationNoun.Event("organization.plan_changed", "The operator changed the plan of the organization.")
	eventOrganizationSuspended = organizationNoun.Event("organization.suspended", "The operator suspended the organization.")
	eventOrganizationResumed   = organizationNoun.Event("organization.resumed", "The operator ended the suspension of the organization.")
	eventOrganizationDeleted   = organizationNoun.Event("organization.deleted", "The deletion of the organization began.")

	eventMemberAdded   = memberNoun.Event("member.added", "A member was invited, or created with the organization.")
	eventMemberUpdated = memberNoun.Event("member.updated", "The name or the role of a member was changed.")
	eventMemberRemoved = memberNoun.Event("member.removed", "A member was removed.")

	eventKeyCreated = keyNoun.Public("api_key.created", "api_key.created", "An API key was created.")
	eventKeyUpdated = keyNoun.Event("api_key.updated", "An API key was changed.")
	eventKeyRotated = keyNoun.Event("api_key.rotated", "An API key got a successor, and stops working after the grace period.")
	eventKeyRevoked = keyNoun.Public("api_key.revoked", "api_key.revoked", "An API key was revoked.")
)
