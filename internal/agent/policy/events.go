package policy

import "github.com/assayhq/assay/internal/change/event"

var policyNoun = event.Of("policy", "Policy")

var (
	eventCreated = policyNoun.Event("policy.created", "A policy was created.")
	eventUpdated = policyNoun.Event("policy.updated", "A policy was changed.")
	eventDeleted = policyNoun.Event("policy.deleted", "A policy was deleted.")
)
