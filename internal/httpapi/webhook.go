package httpapi

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Webhook is a type of event that the document describes under its webhooks.
type Webhook struct {
	Says string // when it happens
	// Actions are those that the audit log shows for it.
	Actions []string
	// Resource is the type of resource that it is about, and Schema what shows one.
	Resource, Schema string
}

// webhookBody is an event as CloudEvents 1.0 has it. It names what happened to which resource
// and brings nothing of the content: whoever may read the resource reads it.
type webhookBody struct {
	SpecVersion string      `json:"specversion" doc:"Version of CloudEvents, which is 1.0."`
	ID          string      `json:"id" doc:"Id of the event. An event that is sent again has the same id."`
	Source      string      `json:"source" doc:"URI of the organization that the event belongs to."`
	Type        string      `json:"type" doc:"Type of the event, for example evaluation.run.completed."`
	Subject     string      `json:"subject" doc:"Type and id of the resource, for example run/17."`
	Time        Time        `json:"time" doc:"When the event happened."`
	Data        webhookData `json:"data" doc:"The resource that the event is about."`
}

type webhookData struct {
	ResourceType string  `json:"resource_type" doc:"Type of the resource, as the audit log has it."`
	ResourceID   string  `json:"resource_id" doc:"Id of the resource."`
	AfterDigest  *string `json:"after_digest" doc:"Digest of the resource after the event, as the audit log has it; null if it no longer exists."`
}

// describeWebhooks puts the types of events into the document.
func describeWebhooks(doc *huma.OpenAPI, all map[string]Webhook) {
	if len(all) == 0 {
		return
	}
	body := doc.Components.Schemas.Schema(reflect.TypeFor[webhookBody](), true, "WebhookEvent")
	doc.Webhooks = make(map[string]*huma.PathItem, len(all))
	for name, w := range all {
		doc.Webhooks[name] = &huma.PathItem{Post: &huma.Operation{
			Summary: name,
			Description: fmt.Sprintf("%s This release does not send webhooks yet: look for the event in the audit log, under the action %s.",
				w.Says, strings.Join(w.Actions, " or ")),
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/cloudevents+json": {Schema: body}}},
			Responses:   map[string]*huma.Response{"2XX": {Description: "The event was received."}},
			Extensions:  map[string]any{"x-audit-actions": w.Actions, "x-resource-type": w.Resource, "x-resource-schema": w.Schema},
		}}
	}
}
