package main

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// kinds says which kind of object a path parameter names, by the path up to
// and including the parameter.
var kinds = map[string]string{
	"/api/conversations/{conversationId}":          "conversation",
	"/api/datasets/{id}":                           "dataset",
	"/api/datasets/{id}/items/{itemId}":            "item",
	"/api/datasets/{id}/versions/{datasetVersion}": "dataset version",
	"/api/developer/api-keys/{id}":                 "api key",
	"/api/developer/provider-keys/{id}":            "provider key",
	"/api/evaluations/{id}":                        "evaluation",
	"/api/evaluations/{id}/artifacts/{artifactId}": "artifact",
	"/api/evaluations/{id}/runs/{runId}":           "run",
	"/api/me/api-keys/{id}":                        "personal key",
	"/api/organizations/current/members/{userId}":  "member",
	"/api/traces/{id}":                             "trace",
}

// references says which kinds of objects a query parameter or a field of a
// body may name, by its name.
var references = map[string][]string{
	"baselineRunId":  {"run"},
	"candidateRunId": {"run"},
	"conversationId": {"conversation"},
	"datasetId":      {"dataset"},
	"otelTraceId":    {"trace"},
	"parentSpanId":   {"trace"},
	"providerKeyId":  {"provider key"},
	"releaseId":      {"conversation"},
	"resourceId":     {"dataset", "evaluation", "item", "run", "api key", "personal key", "provider key", "member"},
	"runId":          {"run"},
	"spanId":         {"trace"},
	"testCaseId":     {"item"},
	"traceId":        {"trace"},
	"userId":         {"member"},
}

// requests are valid contents of the operations that need some. They change
// nothing that matters: what they create is thrown away with the test. A # is
// a number that no other request has, {run} a run of the caller; grants is a scope that the body gives
// away, which the caller must have.
var requests = map[string]struct{ query, body, grants string }{
	"POST /api/datasets":                                {body: `{"name":"Made #"}`},
	"PATCH /api/datasets/{id}":                          {body: `{"description":"Changed #"}`},
	"POST /api/datasets/{id}/items":                     {body: `{"input":"Made #"}`},
	"PATCH /api/datasets/{id}/items/{itemId}":           {body: `{"input":"Changed #"}`},
	"POST /api/datasets/{id}/versions":                  {body: `{"note":"Frozen #"}`},
	"POST /api/developer/api-keys":                      {body: `{"name":"Made #","scopes":["admin:org"]}`, grants: "admin:org"},
	"POST /api/me/api-keys":                             {body: `{"name":"Mine #","scopes":["eval:read"]}`, grants: "eval:read"},
	"PATCH /api/developer/api-keys/{id}":                {body: `{"name":"Changed #"}`},
	"POST /api/developer/api-keys/{id}/rotate":          {body: `{"graceSeconds":5}`},
	"POST /api/developer/provider-keys":                 {body: `{"provider":"openai","name":"Made #","secret":"sk-made-0123456789"}`},
	"PATCH /api/developer/provider-keys/{id}":           {body: `{"name":"Changed #"}`},
	"POST /api/evaluations":                             {body: `{"name":"Made #","datasetId":"1","metrics":["exact_match"]}`},
	"PATCH /api/evaluations/{id}":                       {body: `{"description":"Changed #"}`},
	"POST /api/evaluations/{id}/runs":                   {body: `{"seed":#}`},
	"GET /api/evaluations/{id}/runs/compare":            {query: "?baselineRunId={run}&candidateRunId={run}"},
	"POST /api/evaluations/{id}/runs/{runId}/results":   {body: `{"results":[{"testCaseId":"1","output":"Made #"}]}`},
	"PATCH /api/organizations/current":                  {body: `{"name":"Renamed #"}`},
	"DELETE /api/organizations/current":                 {query: "?confirm=" + uuid.Nil.String()},
	"POST /api/organizations/current/members":           {body: `{"email":"made#@example.com","role":"viewer"}`},
	"PATCH /api/organizations/current/members/{userId}": {body: `{"name":"Changed #"}`},
	"POST /api/traces":                                  {body: `{"name":"Made #"}`},
	"PATCH /api/traces/{id}":                            {body: `{"name":"Changed #"}`},
	"POST /api/traces/{id}/spans":                       {body: `{"name":"Made #","startTime":"` + recently + `"}`},
	"POST /api/traces/{id}/feedback":                    {body: `{"type":"comment","comment":"Made #"}`},
	"POST /api/traces/to-dataset":                       {body: `{"datasetId":"1","traceIds":["1"]}`},
	"GET /api/conversations":                            {query: "?startAfter=" + around(-24*time.Hour) + "&startBefore=" + around(24*time.Hour)},
	"GET /api/traces/metrics":                           {query: "?startAfter=2026-01-01T00:00:00Z&startBefore=2026-02-01T00:00:00Z"},
	"POST /v1/traces":                                   {body: `{}`},
	"POST /v1/logs":                                     {body: `{}`},
	"POST /v1/metrics":                                  {body: `{}`},
}

// recently is a time that telemetry may have.
var recently = around(-time.Minute)

// around is a time near the present, the same for all of a test.
func around(offset time.Duration) string { return time.Now().Add(offset).UTC().Format(time.RFC3339) }

var param = regexp.MustCompile(`\{[^}]*\}`)

// params are the path parameters of a path, each as the path that ends with it.
func params(path string) []string {
	var out []string
	for _, at := range param.FindAllStringIndex(path, -1) {
		out = append(out, path[:at[1]])
	}
	return out
}

// request is a valid call of an operation; id gives each path parameter.
func (m *matrix) request(name string, id func(upTo string) string) call {
	method, path, _ := strings.Cut(name, " ")
	target, rest := "", path
	for _, upTo := range params(path) {
		at := param.FindStringIndex(rest)
		target, rest = target+rest[:at[0]]+id(upTo), rest[at[1]:]
	}
	m.made++
	content := requests[name]
	return call{
		method: method, target: target + rest + strings.ReplaceAll(content.query, "{run}", middle(m.world.own["run"])),
		body: strings.ReplaceAll(content.body, "#", strconv.Itoa(m.made)),
	}
}

// absent is an id that names nothing and never did.
func absent(kind string) string {
	switch kind {
	case "member":
		return "018f2f6e-7c4e-7cc0-8000-0123456789ab"
	case "conversation":
		return "nobody spoke here"
	}
	return "9007199254740000"
}
