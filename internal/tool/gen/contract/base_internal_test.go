package main

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

func TestBaseInterface(t *testing.T) { //nolint:paralleltest // it changes the working directory
	t.Chdir("../../../..") // the tool runs at the root of the checkout
	doc, err := os.ReadFile(document)
	require.NoError(t, err)
	report, err := conforms(doc)
	require.NoError(t, err)
	require.Regexp(t, `^base \d+ of 53 operations`, report)

	base, err := os.ReadFile(baseOperations)
	require.NoError(t, err)
	// Each departure from the base is found.
	for seeded, c := range map[string]struct{ old, new, says string }{
		"another scope":    {"/api/traces\ttraces:read", "/api/traces\tadmin:org", "GET /api/traces needs [map[apiKey:[traces:read]]], and the base says admin:org"},
		"another status":   {"/api/traces\ttraces:write\t201", "/api/traces\ttraces:write\t202", "POST /api/traces does not answer 202"},
		"a line cut short": {"GET\t/api/traces\ttraces:read\t200", "GET\t/api/traces", "is not method, path, scope and status"},
	} {
		var d openAPI
		require.NoError(t, json.Unmarshal(doc, &d))
		require.Contains(t, string(base), c.old)
		problems, _, _ := d.against(strings.Replace(string(base), c.old, c.new, 1))
		require.Contains(t, strings.Join(problems, "\n"), c.says, seeded)
	}

	for seeded, c := range map[string]struct{ old, new, says string }{
		"an undeclared error":       {`"$ref": "#/components/responses/Conflict"`, `"description": "none"`, `declares "" for 409`},
		"a field of another type":   {`"total"`, `"grand_total"`, "GET /api/evaluations 200 total is optional, and the base says integer"},
		"an operation that is gone": {`"/api/traces/{id}/spans": {`, `"/api/traces/{id}/span": {`, "does not list what is missing"},
	} {
		broken := strings.ReplaceAll(string(doc), c.old, c.new)
		require.NotEqual(t, string(doc), broken)
		_, err := conforms([]byte(broken))
		require.ErrorContains(t, err, c.says, seeded)
	}
}
