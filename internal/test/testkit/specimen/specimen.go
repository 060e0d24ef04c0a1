// Package specimen has one valid call of each operation that needs contents, one
// that is refused, and what must exist before; and a row for each table that no
// call fills. The access matrix, the audit walk, the contract test and the
// erasure test all read it, so that a new operation is described once.
//
// Texts are templates: {dataset} is the id of a dataset of the organization,
// made when there is none, {new dataset} that of one that nothing else has, {label} a name that nothing else has, and # a number
// that nothing else has.
package specimen

import (
	"slices"
	"strings"
)

// Operation is a call of one operation.
type Operation struct {
	ID    string // as in the document: createDataset
	Route string // POST /api/datasets
	Query string // with its question mark
	Body  string

	// Refused is a body that breaks the schema, and At the place that the
	// refusal names.
	Refused, At string
	// Conflict is a body, and ConflictQuery a query, that only the organization's
	// rows refuse: inside the transaction, if there is one. Without either, an
	// operation with a path parameter is refused for an id that names nothing.
	Conflict, ConflictQuery string

	// Audit is the action and the type of resource of an entry that a success
	// leaves; Telemetry leaves none.
	Audit     string
	Telemetry bool

	// Appends says that each call adds an entry to the list at the same path.
	Appends bool

	Person bool // only a member can call it, or a key that acts for one
	// InPerson says that only a member can call it, with a key of their own.
	InPerson bool
	Grants   string // a scope that the body gives away, and the caller must have
}

// Method and path of the operation.
func (o Operation) split() (method, path string) {
	method, path, _ = strings.Cut(o.Route, " ")
	return method, path
}

// Noun is a kind of object that calls name.
type Noun struct {
	Name  string   // dataset
	Paths []string // the paths that end with its parameter: /api/datasets/{id}
	// Made is the operation that makes one, and ID where its response has the id:
	// names and indexes, joined by dots.
	Made, ID string
	// Row is the table whose row is one, where no operation makes one.
	Row string
	// Named are the query parameters and fields of bodies that may name one.
	Named []string
	// Absent is an id that names nothing and never did.
	Absent string
}

// Row is an insert into a table: $1 is the organization.
type Row struct{ Table, Insert string }

// area is what one domain contributes.
type area struct {
	operations []Operation
	nouns      []Noun
	rows       []Row
}

var areas = []area{tenancy, provider, dataset, trace, judge, evaluation, annotation, adjudication, evidence, policy}

// written are the operations of all areas.
func written() (all []Operation) {
	for _, a := range areas {
		all = append(all, a.operations...)
	}
	return all
}

// Operations are the operations of all areas, and those of nouns that no area has.
func Operations() []Operation { return append(written(), standard().operations...) }

// Nouns are the nouns of all areas, those that others need first, and those that no area has.
func Nouns() (all []Noun) {
	for _, a := range areas {
		all = append(all, a.nouns...)
	}
	return append(all, standard().nouns...)
}

// Rows are the rows of all areas, those that others refer to first.
func Rows() (all []Row) {
	for _, a := range areas {
		all = append(all, a.rows...)
	}
	return all
}

// Find is the operation with an id, or one without contents.
func Find(id string) Operation {
	for _, o := range Operations() {
		if o.ID == id {
			return o
		}
	}
	return Operation{ID: id}
}

// OfRoute is the operation of a method and path, or one without contents.
func OfRoute(route string) Operation {
	for _, o := range Operations() {
		if o.Route == route {
			return o
		}
	}
	return Operation{Route: route}
}

// NounOf is the noun that the last parameter of a path names.
func NounOf(path string) (Noun, bool) {
	for _, n := range Nouns() {
		if slices.Contains(n.Paths, path) {
			return n, true
		}
	}
	return Noun{}, false
}

// NamedBy are the nouns that a query parameter or a field of a body may name.
func NamedBy(name string) (found []string) {
	for _, n := range Nouns() {
		if slices.Contains(n.Named, name) {
			found = append(found, n.Name)
		}
	}
	return found
}

// Absent is an id of a noun that names nothing and never did.
func Absent(noun string) string {
	for _, n := range Nouns() {
		if n.Name == noun && n.Absent != "" {
			return n.Absent
		}
	}
	return "9007199254740000"
}
