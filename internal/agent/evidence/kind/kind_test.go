package kind_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// fixed are fields that no change of a record sets.
var fixed = []string{
	"id", "idempotency_key", "origin", "occurred_at", "runtime_key", "connector_key", "trace_id", "otel_trace_id", "span_id", "failure_key", "side_effect_class",
	"failure_mode", "effect_key", "invocation_id", "target", "reversibility", "manifest_digest", "latest_readiness_report_id", "first_seen_at", "last_seen_at",
}

func TestTable(t *testing.T) {
	t.Parallel()
	require.Len(t, kind.Kinds, 16)
	actions := []string{"ingest", "replay", "simulate", "templates", "timeline", "policy", "connector", "quality-case", "audit-pack"}
	for i := range kind.Kinds {
		k := &kind.Kinds[i]
		states := k.States()
		for from, to := range k.Moves {
			require.Contains(t, states, from, k.Name)
			require.Subset(t, states, to, k.Name)
		}
		for _, s := range k.Born {
			require.Contains(t, states, s, k.Name)
		}
		names := map[string]bool{}
		for _, f := range k.Fields {
			require.False(t, names[f.Name], "%s has %s twice", k.Name, f.Name)
			names[f.Name] = true
			require.NotEmpty(t, f.Doc, "%s.%s", k.Name, f.Name)
			if f.Type == kind.Ref {
				require.NotNil(t, kind.Must(f.Of))
			}
			require.Equal(t, f.Type == kind.Enum, len(f.Enum) > 0, "%s.%s", k.Name, f.Name)
		}
		for _, n := range k.Mutable {
			f := k.Field(n)
			require.NotNil(t, f, "%s.%s", k.Name, n)
			require.NotEqual(t, kind.Nobody, k.Changes, "%s.%s", k.Name, n)
			require.True(t, k.Changeable(n))
			// What names a record, what it refers to and what lists select by stays.
			require.NotEqual(t, kind.Ref, f.Type, "%s.%s", k.Name, n)
			require.NotContains(t, slices.Concat(k.Natural, fixed), n, "%s.%s", k.Name, n)
			require.NotContains(t, k.Selects(), kind.Camel(n), "%s.%s", k.Name, n)
		}
		if k.Lifecycle != "" {
			require.True(t, k.Changeable(k.Lifecycle), k.Name)
		}
		require.False(t, k.Changeable(""))
		for _, n := range fixed {
			require.False(t, k.Changeable(n), "%s.%s", k.Name, n)
		}
		for _, n := range k.Natural {
			require.NotNil(t, k.Field(n), "%s.%s", k.Name, n)
		}
		// Paths of actions win over names of kinds.
		found, ok := kind.Find(string(k.Name))
		require.True(t, ok)
		require.Equal(t, k.Name, found.Name)
		require.NotContains(t, actions, string(k.Name))
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]kind.Name{
		"runtimes": "runtimes", "Runtime": "runtimes", "TOOL_INVOCATIONS": "tool-invocation-evidence", "tool-invocation": "tool-invocation-evidence",
		"side_effect": "side-effect-ledger", "policy_decision": "policy-decisions", "eval-explanation": "eval-explanations", "Benchmarks": "benchmarks",
	} {
		k, ok := kind.Find(name)
		require.True(t, ok, name)
		require.Equal(t, want, k.Name)
	}
	for _, name := range []string{"", "s", "runtimess", "runtimes-", "audit_pack_export", "side effects", "tool-invocations-evidence", "eval-explanationes"} {
		_, ok := kind.Find(name)
		require.False(t, ok, name)
	}
	// What begins the path of an action names no kind, however it is spelled.
	for _, name := range []string{"ingest", "replay", "simulate", "templates", "policy", "connector", "quality-case", "audit-pack", "Connector", "QUALITY_CASE", "audit_pack"} {
		_, ok := kind.Find(name)
		require.False(t, ok, name)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]kind.Name{
		"connector": "connectors", "quality-case": "quality-cases", "tool-invocatons": "tool-invocation-evidence", "sideefects": "side-effect-ledger", "polcy_decision": "policy-decisions",
	} {
		got, ok := kind.Nearest(name)
		require.True(t, ok, name)
		require.Equal(t, want, got)
	}
	for _, name := range []string{"", "x", "spreadsheets"} {
		_, ok := kind.Nearest(name)
		require.False(t, ok, name)
	}
}

// TestAKindIsAdded shows that everything about a kind is in its row of the table.
func TestAKindIsAdded(t *testing.T) {
	t.Parallel()
	k := kind.Kind{
		Name: "rehearsals", One: "rehearsal", About: "A rehearsal.", KeyField: "rehearsal_key", Lifecycle: "state", Initial: "planned", Born: []string{"planned"}, Changes: kind.Reporter,
		Fields: []kind.Field{
			{Name: "rehearsal_key", Type: kind.Text, Required: true, Doc: "Key."},
			{Name: "state", Type: kind.Enum, Enum: []string{"planned", "held"}, Doc: "State."},
			{Name: "of", Type: kind.Ref, Of: "runtimes", Doc: "Runtime."},
		},
	}
	d, fields := kind.Read(&k, jsontext.Value(`{"rehearsalKey":"r","of":"7","mood":"good","version":3}`), false)
	require.Empty(t, fields)
	require.Equal(t, kind.Values{"rehearsal_key": jsontext.Value(`"r"`), "of": jsontext.Value("7"), "attributes": jsontext.Value(`{"mood":"good"}`)}, d.Values)
	require.Equal(t, []string{"version"}, d.Ignored)
	require.True(t, slices.Contains(k.Selects(), "rehearsalKey"))
	_, fields = kind.Read(&k, jsontext.Value(`{"state":"held","of":0}`), false)
	require.Len(t, fields, 3)
}

// nested is a list of so many levels.
func nested(levels int) string {
	return strings.Repeat("[", levels) + `"]["` + strings.Repeat("]", levels)
}

func TestRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind kind.Name
		body string
		want []string // paths and codes
	}{
		"nothing":                      {"failures", `{}`, []string{"/failure_mode required", "/severity required"}},
		"not an object":                {"failures", `[]`, []string{" type"}},
		"a name twice":                 {"failures", `{"severity":"low","severity":"low"}`, []string{" format"}},
		"both casings":                 {"failures", `{"failureMode":"loop","failure_mode":"loop","severity":"low"}`, []string{"/failureMode ambiguous_field"}},
		"null is absent":               {"failures", `{"failureMode":null,"severity":"low"}`, []string{"/failure_mode required"}},
		"an unknown value":             {"failures", `{"failureMode":"charming","severity":"low"}`, []string{"/failureMode enum"}},
		"a time that is none":          {"failures", `{"failureMode":"loop","severity":"low","occurredAt":"yesterday"}`, []string{"/occurredAt format"}},
		"a digest that is none":        {"policy-decisions", `{"decision":"deny","engine":"x","inputDigest":"sha256:zz"}`, []string{"/inputDigest pattern"}},
		"a nested member":              {"side-effect-ledger", `{"operation":"o","sideEffectClass":"read","target":{"system":"s"}}`, []string{"/target/type required"}},
		"a state it cannot begin with": {"side-effect-ledger", `{"operation":"o","sideEffectClass":"read","target":{"system":"s","type":"t","id":"i"},"state":"verified"}`, []string{"/state enum"}},
		"as deep as can be":            {"failures", `{"failureMode":"loop","severity":"low","attributes":{"x":` + nested(kind.MaxDepth-2) + `}}`, nil},
		"deeper":                       {"failures", `{"failureMode":"loop","severity":"low","attributes":{"x":` + nested(kind.MaxDepth-1) + `}}`, []string{" length"}},
		"as deep as an attribute":      {"failures", `{"failureMode":"loop","severity":"low","x":` + nested(kind.MaxDepth-2) + `}`, nil},
		"deeper than an attribute":     {"failures", `{"failureMode":"loop","severity":"low","x":` + nested(kind.MaxDepth-1) + `}`, []string{"/x length"}},
		"good":                         {"failures", `{"failureMode":"loop","severity":"low","x":{"y":1}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, fields := kind.Read(kind.Must(c.kind), jsontext.Value(c.body), false)
			var got []string
			for _, f := range fields {
				got = append(got, f.Path+" "+f.Code)
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if name == "both casings" { // which of the two comes first is not settled
				require.Len(t, got, 1)
				return
			}
			require.Equal(t, c.want, got)
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(uint8(0), []byte(`{"eventId":"1","source":"s","payload":{"a":[1,2,{"b":null}]}}`))
	f.Add(uint8(2), []byte(`{"invocationId":"c","toolName":"t","status":"requested","error":{"type":"x"},"attempt":2}`))
	f.Add(uint8(5), []byte(`{"connectorKey":"k","type":"mcp_server","tools":[{"name":"t","sideEffectClass":"read"}]}`))
	f.Add(uint8(6), []byte(`{"failureMode":"loop","severity":"low","x":`+nested(kind.MaxDepth-2)+`}`))
	f.Add(uint8(6), []byte(`{"failureMode":"loop","severity":"low","x":`+nested(kind.MaxDepth-1)+`}`))
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		k := &kind.Kinds[int(which)%len(kind.Kinds)]
		d, fields := kind.Read(k, body, false)
		if len(fields) > 0 {
			return
		}
		// What was accepted is JSON, and is accepted again as it is.
		text, err := json.Marshal(map[string]jsontext.Value(d.Values), json.Deterministic(true))
		require.NoError(t, err)
		again, fields := kind.Read(k, text, false)
		require.Empty(t, fields, string(text))
		require.Equal(t, d.Values, again.Values)
	})
}
