package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// An agent does not choose which policies it is under: a policy for one environment holds for
// a runtime of that environment whatever the runtime reports, and restricts one of which the
// environment is not known.
func TestARuntimeDoesNotChooseItsEnvironment(t *testing.T) {
	t.Parallel()
	s := newScene(t, testkit.Shared(t))
	s.only(t, permitAll)
	create(t, s.Client, object{
		"policyKey": "frozen", "state": "active", "appliesTo": object{"environments": []string{"production"}},
		"source": `@id("frozen") forbid (principal, action, resource);`,
	})
	decision := func(more object) any { t.Helper(); return s.ask(t, call("look_up", "1", more))["decision"] }
	require.Equal(t, "deny", decision(nil), "where the environment is not known, the policy forbids")
	require.Equal(t, "allow", decision(object{"context": object{"environment": "staging"}}))
	runtime := s.things(t, "runtimes")[0]
	_, err := s.ann.UpdateEvidence(t.Context(), "runtimes", runtime.ID(), object{"environment": "production"})
	require.NoError(t, err)
	require.Equal(t, "deny", decision(object{"context": object{"environment": "staging"}}))

	_, err = s.PostEvidence(t.Context(), "runtimes", object{"runtimeKey": "refund-agent", "environment": "staging", "name": "Refunds"})
	require.NoError(t, err)
	_, err = s.IngestEvidence(t.Context(), object{"producer": object{"runtimeKey": "refund-agent", "environment": "staging", "version": "2"}, "events": []any{
		object{"id": "1", "source": "urn:test", "type": "com.example.beat", "data": object{}},
	}})
	require.NoError(t, err)

	runtime = s.things(t, "runtimes")[0]
	require.Equal(t, "production", runtime["environment"])
	require.Equal(t, []any{"Refunds", "2"}, []any{runtime["name"], runtime["agent_version"]}, "what no policy depends on is as it was reported last")
	require.Equal(t, "deny", decision(object{"context": object{"environment": "staging"}}))
	_, err = s.ann.UpdateEvidence(t.Context(), "runtimes", runtime.ID(), object{"environment": "staging"})
	require.NoError(t, err)
	require.Equal(t, "allow", decision(nil))
}
