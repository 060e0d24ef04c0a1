package otlp

import (
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi"
)

// schemas are the public names of the protocol's own types.
var schemas = httpapi.Schemas{"OtlpError": envelope{}}

// Describe adds bodies, responses and errors to the OpenAPI document.
func (o *operation) Describe(registry huma.Registry, d *huma.Operation) {
	d.RequestBody = &huma.RequestBody{Required: true, Content: o.content(registry, "Request")}
	d.Responses[strconv.Itoa(o.Status)] = &huma.Response{
		Description: "Stored. The body has the encoding of the request.", Content: o.content(registry, "Response"),
	}
	if o.RPC != "" {
		d.Extensions = map[string]any{"x-grpc-method": o.RPC}
	}
	o.edge.DeclareErrors(d, "Otlp", map[string]*huma.MediaType{
		mediaJSON:     {Schema: registry.Schema(reflect.TypeFor[envelope](), true, "OtlpError")},
		mediaProtobuf: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary", Description: "A google.rpc.Status."}},
	})
}

// content names the message that a body is, in each encoding.
func (o *operation) content(registry huma.Registry, direction string) map[string]*huma.MediaType {
	content := map[string]*huma.MediaType{}
	for _, media := range o.ContentTypes {
		content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		if media == mediaJSON {
			content[media].Schema = httpapi.Named(registry, o.Message+direction, &huma.Schema{
				Type: huma.TypeObject, AdditionalProperties: true,
				Description: "The OpenTelemetry message " + o.Message + direction + ", in its JSON encoding.",
			})
		}
	}
	return content
}
