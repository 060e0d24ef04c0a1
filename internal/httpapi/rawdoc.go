package httpapi

import (
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// document adds the operation to the OpenAPI document.
func (o *rawOp) document() {
	doc := o.edge.api.OpenAPI()
	declareRawErrors(doc)
	d := &huma.Operation{
		OperationID: o.ID,
		Method:      o.Method,
		Path:        o.Path,
		Summary:     o.Summary,
		Description: o.Description,
		Tags:        []string{o.Tag},
		Security:    o.security(),
		RequestBody: &huma.RequestBody{Required: true, Content: o.content("Request")},
		Responses: map[string]*huma.Response{
			strconv.Itoa(o.Status): {Description: "Stored. The body has the encoding of the request.", Content: o.content("Response")},
		},
	}
	if o.RPC != "" {
		d.Extensions = map[string]any{"x-grpc-method": o.RPC}
	}
	doc.AddOperation(d)
	referToErrors(d, otlpPrefix)
}

// content names the message that a body is, in each encoding.
func (o *rawOp) content(direction string) map[string]*huma.MediaType {
	content := map[string]*huma.MediaType{}
	registry := o.edge.api.OpenAPI().Components.Schemas
	for _, media := range o.ContentTypes {
		content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		if media == mediaJSON {
			content[media].Schema = Named(registry, o.Message+direction, &huma.Schema{
				Type: huma.TypeObject, AdditionalProperties: true,
				Description: "The OpenTelemetry message " + o.Message + direction + ", in its JSON encoding.",
			})
		}
	}
	return content
}

// otlpPrefix is before the names of the errors of raw operations.
const otlpPrefix = "Otlp"

// declareRawErrors adds the errors of raw operations to the document. Without
// such operations the document does not have them.
func declareRawErrors(doc *huma.OpenAPI) {
	schema := doc.Components.Schemas.Schema(reflect.TypeFor[otlpEnvelope](), true, "OtlpError")
	for _, e := range declaredErrors {
		doc.Components.Responses[otlpPrefix+e.name] = &huma.Response{
			Description: e.description,
			Content: map[string]*huma.MediaType{
				mediaJSON:     {Schema: schema},
				mediaProtobuf: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary", Description: "A google.rpc.Status."}},
			},
		}
	}
}
