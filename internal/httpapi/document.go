package httpapi

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/principal"
)

type bytesOutput struct {
	ContentType string `header:"Content-Type"`
	Policy      string `header:"Content-Security-Policy"`
	Body        []byte
}

func (e *Edge) registerDocuments() {
	Register(e, Op{
		ID: "getOpenAPI", Method: http.MethodGet, Path: "/api/openapi.json", Tag: "Operations", Scope: principal.Public, Status: 200,
		Summary: "This document", ContentType: "application/openapi+json",
	}, e.getOpenAPI)
	Register(e, Op{
		ID: "getReference", Method: http.MethodGet, Path: "/api/reference", Tag: "Operations", Scope: principal.Public, Status: 200,
		Summary: "The interface as a page for people", ContentType: "text/html",
	}, e.getReference)
}

func (e *Edge) getOpenAPI(context.Context, *struct{}) (*bytesOutput, error) {
	return &bytesOutput{ContentType: "application/openapi+json", Body: e.document}, nil
}

func (e *Edge) getReference(context.Context, *struct{}) (*bytesOutput, error) {
	return &bytesOutput{
		ContentType: "text/html; charset=utf-8",
		// The page needs its own style sheet and nothing else.
		Policy: "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		Body:   e.reference,
	}, nil
}
