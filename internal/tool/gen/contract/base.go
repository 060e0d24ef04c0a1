package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// The base interface: operations that were fixed before this product was built.
// base-operations.tsv has a line for each (method, path, scope, success status),
// and base-missing.txt those that are not built yet.
const (
	baseOperations = "api/base-operations.tsv"
	baseMissing    = "api/base-missing.txt"
)

// baseErrors are the responses that every operation of the base declares.
var baseErrors = map[string]string{
	"400": "ValidationError", "401": "Unauthorized", "403": "Forbidden", "404": "NotFound", "409": "Conflict", "429": "RateLimited", "500": "InternalError",
}

// baseTypes are the types of the fields that the base fixes, by operation,
// status and path.
var baseTypes = map[string]string{
	"GET /api/evaluations 200 evaluations[].id":         "string",
	"GET /api/evaluations 200 evaluations[].name":       "string",
	"GET /api/evaluations 200 evaluations[].status":     "string",
	"GET /api/evaluations 200 evaluations[].overall":    "number",
	"GET /api/evaluations 200 evaluations[].created_at": "string",
	"GET /api/evaluations 200 total":                    "integer",
	"GET /api/evaluations 200 page":                     "integer",
	"POST /api/evaluations 201 id":                      "string",
	"POST /api/evaluations 201 name":                    "string",
	"POST /api/evaluations 201 status":                  "string",
	"POST /api/evaluations 201 created_at":              "string",
	"GET /api/evaluations/{id} 200 id":                  "string",
	"GET /api/evaluations/{id} 200 overall":             "number",
	"GET /api/evaluations/{id} 200 metrics":             "object",
	"GET /api/evaluations/{id} 200 items":               "integer",
	"GET /api/evaluations/{id} 200 passed":              "integer",
	"GET /api/evaluations/{id} 200 failed":              "integer",
	"POST /api/evaluations/{id}/runs 201 run_id":        "string",
	"POST /api/evaluations/{id}/runs 201 status":        "string",
	"POST /api/evaluations/{id}/runs 201 started_at":    "string",
}

type operation struct {
	Summary   string                `json:"summary"`
	Security  []map[string][]string `json:"security"`
	Responses map[string]struct {
		Ref     string `json:"$ref"`
		Content map[string]struct {
			Schema schema `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
	Source     string   `json:"x-source-hash"`
	Hash       string   `json:"x-contract-hash"`
	Validators []string `json:"x-request-validators"`
}

type schema struct {
	Ref        string            `json:"$ref"`
	Type       any               `json:"type"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
}

type openAPI struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

// conforms holds the document against the base interface and says how much of
// it is built. It fails for an operation that differs, and when what is missing
// is not what is listed as missing.
func conforms(doc []byte) (report string, err error) {
	var d openAPI
	if err := json.Unmarshal(doc, &d); err != nil {
		return "", fmt.Errorf("read %s: %w", document, err)
	}
	base, err := os.ReadFile(baseOperations)
	if err != nil {
		return "", err
	}
	listed, err := os.ReadFile(baseMissing)
	if err != nil {
		return "", err
	}
	problems, missing, total := d.against(string(base))
	if want := lines(string(listed)); !slices.Equal(missing, want) {
		problems = append(problems, fmt.Sprintf("%s does not list what is missing; it should be:\n  %s", baseMissing, strings.Join(missing, "\n  ")))
	}
	if len(problems) > 0 {
		return "", fmt.Errorf("the document departs from the base interface:\n  %s", strings.Join(problems, "\n  "))
	}
	return fmt.Sprintf("base %d of %d operations; missing:\n  %s", total-len(missing), total, strings.Join(missing, "\n  ")), nil
}

// against compares each line of the base with the document.
func (d openAPI) against(base string) (problems, missing []string, total int) {
	for _, line := range lines(base) {
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			problems = append(problems, fmt.Sprintf("%s: %q is not method, path, scope and status", baseOperations, line))
			continue
		}
		total++
		name := f[0] + " " + f[1]
		op, ok := d.Paths[f[1]][strings.ToLower(f[0])]
		if !ok {
			missing = append(missing, name)
			continue
		}
		problems = append(problems, op.departures(name, f[2], f[3])...)
	}
	for at, want := range baseTypes {
		f := strings.SplitN(at, " ", 4)
		if got := d.typeAt(f[0], f[1], f[2], f[3]); got != want {
			problems = append(problems, fmt.Sprintf("%s is %s, and the base says %s", at, got, want))
		}
	}
	slices.Sort(problems)
	slices.Sort(missing)
	return problems, missing, total
}

// departures says how an operation differs from the base.
func (op operation) departures(name, scope, status string) (found []string) {
	say := func(format string, args ...any) { found = append(found, name+" "+fmt.Sprintf(format, args...)) }
	if len(op.Security) != 1 || !slices.Equal(op.Security[0]["apiKey"], []string{scope}) {
		say("needs %v, and the base says %s", op.Security, scope)
	}
	if _, ok := op.Responses[status]; !ok {
		say("does not answer %s", status)
	}
	for code, response := range baseErrors {
		if want := "#/components/responses/" + response; op.Responses[code].Ref != want {
			say("declares %q for %s, and the base says %s", op.Responses[code].Ref, code, want)
		}
	}
	if op.Source == "" || op.Hash == "" || op.Validators == nil {
		say("lacks a source hash, a contract hash or the list of validators")
	}
	return found
}

// typeAt is the type of a field of a response, without null; a field that may
// be absent has none.
func (d openAPI) typeAt(method, path, status, field string) string {
	s := d.Paths[path][strings.ToLower(method)].Responses[status].Content["application/json"].Schema
	for name := range strings.SplitSeq(field, ".") {
		s = d.resolve(s)
		plain, list := strings.CutSuffix(name, "[]")
		if !slices.Contains(s.Required, plain) {
			return "optional"
		}
		s = d.resolve(s.Properties[plain])
		if list && s.Items != nil {
			s = d.resolve(*s.Items)
		}
	}
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if one != "null" {
				return fmt.Sprint(one)
			}
		}
	}
	return "of no type"
}

func (d openAPI) resolve(s schema) schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return d.Components.Schemas[name]
	}
	return s
}

// lines are the lines of a text that are not empty.
func lines(text string) (out []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			out = append(out, line)
		}
	}
	return out
}
