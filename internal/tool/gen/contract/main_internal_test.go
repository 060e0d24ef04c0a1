package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorded is a change that explains every operation of a document.
func recorded(t *testing.T, doc []byte) change {
	t.Helper()
	now, err := hashes(doc)
	require.NoError(t, err)
	return change{name: "2026-01-01-all.md", text: "# All\n\nEverything.\n", operations: now}
}

func TestEveryChangeOfTheContractIsExplained(t *testing.T) { //nolint:paralleltest // it changes the working directory
	t.Chdir("../../../..") // the tool runs at the root of the checkout
	doc, err := os.ReadFile(document)
	require.NoError(t, err)
	all := []change{recorded(t, doc)}
	require.NoError(t, explained(doc, all))
	hash := all[0].operations["GET /api/datasets"]

	// Each departure from what the changes record is found.
	for seeded, c := range map[string]struct{ old, new, says string }{
		"a changed operation": {hash, "0123456789abcdef", "GET /api/datasets 0123456789abcdef, last explained in 2026-01-01-all.md"},
		"a new operation":     {`"/api/datasets": {`, `"/api/sets": {`, "GET /api/sets " + hash + "\n"},
		"a removed operation": {`"/api/datasets": {`, `"/api/sets": {`, "GET /api/datasets removed"},
		"no hash":             {`"x-contract-hash"`, `"x-hash"`, "has no contract hash"},
	} {
		changed := strings.Replace(string(doc), c.old, c.new, 1)
		require.NotEqual(t, string(doc), changed)
		require.ErrorContains(t, explained([]byte(changed), all), c.says, seeded)
	}

	// A later change explains it; an earlier one does not, and neither does one
	// about another operation.
	changed := []byte(strings.Replace(string(doc), hash, "0123456789abcdef", 1))
	of := func(name, op, hash string) change { return change{name: name, operations: map[string]string{op: hash}} }
	later := of("2026-01-02-later.md", "GET /api/datasets", "0123456789abcdef")
	require.NoError(t, explained(changed, append(all, later)))
	require.Error(t, explained(changed, append([]change{later}, all...)))
	require.Error(t, explained(changed, append(all, of(later.name, "GET /api/traces", "0123456789abcdef"))))
	// Two branches that change one operation do not agree on its hash.
	require.Error(t, explained(changed, append(all, later, of("2026-01-03-too.md", "GET /api/datasets", "fedcba9876543210"))))
}

func TestChangesAreReadAndWritten(t *testing.T) { //nolint:paralleltest // it changes the working directory
	doc, err := os.ReadFile("../../../../" + document)
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll(changes, 0o755))
	const name = "2026-01-02-first-contract.md"

	require.NoError(t, explain(doc, nil, "2026-01-02-first-contract"))
	_, err = readChanges()
	require.NoError(t, err, "what is new describes itself")

	text, err := os.ReadFile(changes + "/" + name)
	require.NoError(t, err)
	require.Contains(t, string(text), "* `POST /api/datasets`: ")
	described := strings.Replace(string(text), "# First contract\n", "# First contract\n\nEverything is new.\n", 1)
	require.NoError(t, os.WriteFile(changes+"/"+name, []byte(described), 0o600))
	all, err := readChanges()
	require.NoError(t, err)
	require.NoError(t, explained(doc, all))

	// Later it is brought up to date, and keeps its words.
	changed := []byte(strings.Replace(string(doc), all[0].operations["GET /api/datasets"], "0123456789abcdef", 1))
	require.NoError(t, explain(changed, all, name))
	again, err := readChanges()
	require.NoError(t, err)
	require.NoError(t, explained(changed, again))
	require.Contains(t, again[0].text, "Everything is new.")

	for seeded, c := range map[string]struct{ name, text, says string }{
		"a name without a date": {"views.md", "# A\n\nB.\n", "by date"},
		"no description":        {"2026-01-02-a.md", "# A\n" + heading + "\n    GET /x 0123456789abcdef\n", "description"},
		"a line without a hash": {"2026-01-02-a.md", "# A\n\nB.\n" + heading + "\n    GET /x\n", "is not an indented operation"},
	} {
		_, err := parseChange(c.name, c.text)
		require.ErrorContains(t, err, c.says, seeded)
	}
	require.Error(t, explain(doc, nil, "saved-views"), "a name without a date")
}

func TestBreakingChangesAreArgued(t *testing.T) { //nolint:paralleltest // it changes the working directory
	t.Chdir("../../../..") // the tool runs at the root of the checkout
	doc, err := os.ReadFile(document)
	require.NoError(t, err)

	// A tightened bound is found, and so is an operation that is gone.
	for seeded, c := range map[string]struct{ old, new string }{
		"a tightened bound":   {`"maximum": 1000`, `"maximum": 10`},
		"a removed operation": {`"/api/traces/{id}/spans": {`, `"/api/traces/{id}/span": {`},
	} {
		after := strings.Replace(string(doc), c.old, c.new, 1)
		require.NotEqual(t, string(doc), after)
		broken, err := breaking(t.Context(), doc, []byte(after))
		require.NoError(t, err)
		require.NotEmpty(t, broken, seeded)

		silent := change{name: "2026-01-02-a.md", text: "# A\n\nSomething.\n", operations: map[string]string{broken[0].operation: removed}}
		require.ErrorContains(t, argued(broken, silent), "breaks clients", seeded)
		loud := silent
		loud.text = "# A\n\n**Breaking** Ask for fewer.\n"
		require.NoError(t, argued(broken, loud), seeded)
		other := silent
		other.operations = map[string]string{"GET /api/other": removed}
		require.NoError(t, argued(broken, other), "another change's operation")
	}

	same, err := breaking(t.Context(), doc, doc)
	require.NoError(t, err)
	require.Empty(t, same)
}
