package httpapi

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/core/principal"
)

// documents describe the interface.
type documents struct{ openAPI, reference []byte }

type bytesOutput struct {
	ContentType string `header:"Content-Type" doc:"The media type."`
	Policy      string `header:"Content-Security-Policy" doc:"What a browser may load for the page."`
	Body        []byte
}

func (e *Edge) registerDocuments() {
	Register(e, Op{
		ID: "getOpenAPI", Method: http.MethodGet, Path: "/api/openapi.json", Tag: tagOperations, Scope: principal.Public, Status: 200,
		Summary: "Get the OpenAPI document", Description: "The machine-readable description of this interface, OpenAPI 3.1.", ContentType: "application/openapi+json",
	}, e.getOpenAPI)
	Register(e, Op{
		ID: "getReference", Method: http.MethodGet, Path: "/api/reference", Tag: tagOperations, Scope: principal.Public, Status: 200,
		Summary: "Read the reference", Description: "The description of this interface as a web page.", ContentType: "text/html",
	}, e.getReference)
}

func (e *Edge) getOpenAPI(context.Context, *struct{}) (*bytesOutput, error) {
	return &bytesOutput{ContentType: "application/openapi+json", Body: e.OpenAPI()}, nil
}

func (e *Edge) getReference(context.Context, *struct{}) (*bytesOutput, error) {
	return &bytesOutput{
		ContentType: "text/html; charset=utf-8",
		// The page needs its own style sheet and nothing else.
		Policy: "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		Body:   e.documents().reference,
	}, nil
}

// root leads a person who opens the address of the server to its reference.
func (e *Edge) root(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/api/reference", http.StatusSeeOther)
}
