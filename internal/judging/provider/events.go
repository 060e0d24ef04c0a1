package provider

import "github.com/assayhq/assay/internal/change/event"

var keyNoun = event.Of("provider_key", "ProviderKey")

var (
	eventKeyCreated = keyNoun.Event("provider_key.created", "A provider key was stored.")
	eventKeyUpdated = keyNoun.Event("provider_key.updated", "A provider key was changed, by a request or by a test of the key.")
	eventKeyDeleted = keyNoun.Event("provider_key.deleted", "A provider key was deleted.")
)
