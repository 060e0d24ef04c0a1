package main

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

func TestBaseInterface(t *testing.T) { //nolint:paralleltest // it changes the working directory
	t.Chdir("../../..") // the tool runs at the root of the checkout
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
		t.Run(seeded, func(t *testing.T) {
			var d openAPI
			require.NoError(t, json.Unmarshal(doc, &d))
			require.Contains(t, string(base), c.old)
			problems, _, _ := d.against(strings.Replace(string(base), c.old, c.new, 1))
			require.Contains(t, strings.Join(problems, "\n"), c.says)
		})
	}

	t.Run("an error response that is not declared", func(t *testing.T) {
		broken := strings.ReplaceAll(string(doc), `"$ref": "#/components/responses/Conflict"`, `"description": "none"`)
		require.NotEqual(t, string(doc), broken)
		_, err := conforms([]byte(broken))
		require.ErrorContains(t, err, `declares "" for 409`)
	})

	t.Run("a field of another type", func(t *testing.T) {
		broken := strings.Replace(string(doc), `"total"`, `"grand_total"`, -1)
		_, err := conforms([]byte(broken))
		require.ErrorContains(t, err, "GET /api/evaluations 200 total is optional, and the base says integer")
	})

	t.Run("an operation that disappears", func(t *testing.T) {
		broken := strings.Replace(string(doc), `"/api/traces/{id}/spans": {`, `"/api/traces/{id}/span": {`, 1)
		require.NotEqual(t, string(doc), broken)
		_, err := conforms([]byte(broken))
		require.ErrorContains(t, err, "does not list what is missing")
	})
}
