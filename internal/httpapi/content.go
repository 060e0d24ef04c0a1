package httpapi

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// MediaEvents is the content type of a stream of Server-Sent Events.
const MediaEvents = "text/event-stream"

// contentSchema is the schema of a response that is not plain JSON.
func contentSchema(r huma.Registry, media string) *huma.Schema {
	switch {
	case media == MediaEvents:
		return Named(r, "ServerSentEvent", &huma.Schema{
			Type: huma.TypeObject, Required: []string{"event", "data"}, Description: "One event of the stream.",
			Properties: map[string]*huma.Schema{
				"event": {Type: huma.TypeString, Description: "The kind of event; the operation lists them."},
				"data":  {Type: huma.TypeString, Description: "The event's JSON value."},
			},
		})
	case strings.HasSuffix(media, "+json"):
		return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
	}
	return &huma.Schema{Type: huma.TypeString}
}
