package resource

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

// Routes makes rows of the route table for the operations that most nouns have. An operation
// takes its id, and in words what a caller must know beyond its types.
type Routes struct {
	// One and Many are what documents call the noun: view, views.
	One, Many string
	Tag       string
	// Path is that of the list; the path of a resource is below it.
	Path string
	// Read is the scope for looking, Write the one for changing. To create and to update
	// needs the scope Also as well, if there is one.
	Read, Write, Also principal.Scope
	// Strict refuses unknown fields of bodies.
	Strict bool
}

// List is the operation that lists resources.
func (r Routes) List(id, text string) httpapi.Op {
	return httpapi.Op{
		ID: id, Method: http.MethodGet, Path: r.Path, Tag: r.Tag, Scope: r.Read, Status: http.StatusOK,
		Summary: "List " + r.Many, Description: text,
	}
}

// Create is the operation that makes a resource.
func (r Routes) Create(id, text string) httpapi.Op {
	return httpapi.Op{
		ID: id, Method: http.MethodPost, Path: r.Path, Tag: r.Tag, Scope: r.Write, Also: r.Also, Status: http.StatusCreated, Strict: r.Strict,
		Summary: "Create " + r.a(), Description: text,
	}
}

// Get is the operation that returns a resource.
func (r Routes) Get(id, text string) httpapi.Op {
	return httpapi.Op{
		ID: id, Method: http.MethodGet, Path: r.Path + "/{id}", Tag: r.Tag, Scope: r.Read, Status: http.StatusOK,
		Summary: "Get " + r.a(), Description: text,
	}
}

// Update is the operation that changes the fields of a resource that are sent.
func (r Routes) Update(id, text string) httpapi.Op {
	return httpapi.Op{
		ID: id, Method: http.MethodPatch, Path: r.Path + "/{id}", Tag: r.Tag, Scope: r.Write, Also: r.Also, Status: http.StatusOK,
		Strict: r.Strict, OptionalBody: true,
		Summary: "Update " + r.a(), Description: text,
	}
}

// Delete is the operation that removes a resource.
func (r Routes) Delete(id, text string) httpapi.Op {
	return httpapi.Op{
		ID: id, Method: http.MethodDelete, Path: r.Path + "/{id}", Tag: r.Tag, Scope: r.Write, Status: http.StatusOK,
		Summary: "Delete " + r.a(), Description: text,
	}
}

// At is the path of a resource.
func (r Routes) At(id int64) string { return r.Path + "/" + strconv.FormatInt(id, 10) }

// a is the noun with its article.
func (r Routes) a() string {
	if strings.ContainsAny(r.One[:1], "AEIOUaeiou") {
		return "an " + r.One
	}
	return "a " + r.One
}
