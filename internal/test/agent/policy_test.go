package agent_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/policy"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestPolicies(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("an organization begins with a baseline", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				_, err := c.Call(t.Context(), "GET", policies, nil, nil)
				require.NoError(t, err)
			})
		}
		wait.Wait()

		all := list(t, c, "")

		require.Len(t, all, 1)
		require.Equal(t, "baseline", all[0].PolicyKey)
		require.Equal(t, "active", all[0].State)
		require.Equal(t, "system", all[0].CreatedBy.Type)
		changed, err := patch(t, c, all[0], object{"mode": "shadow"})
		require.NoError(t, err)
		require.EqualValues(t, 2, changed.PolicyVersion)
	})

	t.Run("a policy is made, changed and listed", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		made := create(t, c, object{
			"policyKey": "payments", "source": large, "appliesTo": object{"connectorKeys": []string{"payments"}},
			"tests": []object{{"name": "large refunds", "input": policyRefund("240.00"), "expect": "require_approval", "ruleId": "large"}},
		})
		require.Equal(t, "payments", made.Name)
		require.Equal(t, "cedar", made.Engine)
		require.Equal(t, "draft", made.State)
		require.Equal(t, "enforce", made.Mode)
		require.Equal(t, []string{"payments"}, made.AppliesTo.ConnectorKeys)
		require.EqualValues(t, 1, made.PolicyVersion)
		require.Equal(t, policyRefund("240.00"), made.Tests[0].Input)

		var read policyView
		_, err := c.Call(t.Context(), "GET", policyPath(made), nil, &read)
		require.NoError(t, err)
		require.Len(t, made.Warnings, 1, "nobody has registered the connector")
		made.Warnings = []warning{}
		require.Equal(t, made, read)

		named, err := patch(t, c, made, object{"name": "Payments", "state": "active"})
		require.NoError(t, err)
		require.EqualValues(t, 1, named.PolicyVersion, "a name and a state make no version")
		require.EqualValues(t, 2, named.Version)
		same, err := patch(t, c, made, object{"appliesTo": object{"connectorKeys": []string{"payments"}}, "source": large})
		require.NoError(t, err)
		require.Equal(t, named, same)
		for i, change := range []object{{"mode": "shadow"}, {"source": large + "\n"}, {"appliesTo": object{}}, {"tests": []object{}}} {
			now, err := patch(t, c, made, change)
			require.NoError(t, err)
			require.EqualValues(t, i+2, now.PolicyVersion)
		}

		versions, err := c.ListPolicyVersions(t.Context(), made.ID, "limit=4")
		require.NoError(t, err)
		require.Len(t, versions.Versions, 4)
		require.NotNil(t, versions.NextCursor)
		require.EqualValues(t, 5, versions.Versions[0].PolicyVersion)
		versions, err = c.ListPolicyVersions(t.Context(), made.ID, "cursor="+*versions.NextCursor)
		require.NoError(t, err)
		require.Len(t, versions.Versions, 1)
		require.Equal(t, large, versions.Versions[0].Source)
		require.Equal(t, "enforce", versions.Versions[0].Mode, "an old version is what it was")

		require.Len(t, list(t, c, "state=active"), 2)
		require.Len(t, list(t, c, "policyKey=payments&mode=shadow"), 1)
		require.Empty(t, list(t, c, "state=retired"))
	})

	t.Run("a policy that cannot be read is refused with the places", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		_, err := c.Call(t.Context(), "POST", policies, object{"policyKey": "p", "source": "@effect(\"x\")\nforbid (principal, action, resource);\n\n  @id(\"?\") permit (principal, action, resource);"}, nil)
		f := refusal(t, err)
		require.Equal(t, "invalid_policy", f.Reason)
		require.Len(t, f.Fields, 2)
		require.Equal(t, "/source", f.Fields[0].Path)
		require.Contains(t, f.Fields[0].Message, "line 1, column 1: @effect")
		require.Contains(t, f.Fields[1].Message, "line 4, column 3: @id")
		_, err = c.Call(t.Context(), "POST", policies, object{"policyKey": "p", "engine": "rego", "source": permitAll}, nil)
		require.Equal(t, "/engine", refusal(t, err).Fields[0].Path)
		require.Contains(t, refusal(t, err).Fields[0].Message, "cedar")
		require.Len(t, list(t, c, ""), 1)
	})

	t.Run("a policy that fails its tests is refused with their names", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		tests := []object{
			{"name": "small refunds", "input": policyRefund("1.00"), "expect": "allow"},
			{"name": "large refunds", "input": policyRefund("240.00"), "expect": "allow"},
		}
		_, err := c.Call(t.Context(), "POST", policies, object{"policyKey": "p", "source": large, "tests": tests}, nil)
		f := refusal(t, err)
		require.Equal(t, "tests_failed", f.Reason)
		require.Len(t, f.Fields, 1)
		require.Equal(t, "/tests/1", f.Fields[0].Path)
		require.Contains(t, f.Fields[0].Message, `"large refunds": expected allow, decided require_approval`)

		p := create(t, c, object{"policyKey": "p", "source": permitAll, "tests": tests})
		_, err = patch(t, c, p, object{"source": large})
		require.Equal(t, "tests_failed", refusal(t, err).Reason, "the tests of the policy hold for its next version")

		for _, input := range []object{{"toolInvocation": object{"tool": "x"}}, {"runtimeKey": 7}, {"colour": "red"}, {"history": object{"n": object{}}}} {
			_, err := c.Call(t.Context(), "POST", policies, object{"policyKey": "q", "source": permitAll, "tests": []object{{"name": "t", "input": input, "expect": "allow"}}}, nil)
			require.Equal(t, "/tests/0/input", refusal(t, err).Fields[0].Path, "%v", input)
		}
	})

	t.Run("a policy is tested without saving", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		p := create(t, c, object{"policyKey": "p", "source": permitAll, "tests": []object{{"name": "large", "input": policyRefund("240.00"), "expect": "allow"}}})
		test := func(in any) api.PolicyTestReport {
			out, err := c.TestPolicy(t.Context(), p.ID, in)
			require.NoError(t, err)
			return out
		}
		require.True(t, test(nil).Passed)
		other := test(object{"source": large})
		require.False(t, other.Passed)
		require.Contains(t, *other.Results[0].Message, "expected allow, decided require_approval")
		history := object{"source": `@history("n = count(payments/refund, 1h)") forbid (principal, action, resource) when { context.history.n > 2 };` + permitAll, "tests": []object{
			{"name": "seldom", "input": object{"runtime_key": "r"}, "expect": "allow"},
			{"name": "often", "input": object{"runtime_key": "r", "history": object{"n": 3}}, "expect": "deny", "ruleId": "rule1"},
		}}
		require.True(t, test(history).Passed)
		_, err := c.Call(t.Context(), "POST", policyPath(p)+"/test", object{"source": "permit"}, nil)
		require.Equal(t, "invalid_policy", refusal(t, err).Reason)
		require.Equal(t, permitAll, list(t, c, "policyKey=p")[0].Source)
	})

	t.Run("states and versions are guarded", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		p := create(t, c, object{"policyKey": "p", "source": permitAll})
		_, err := c.Call(t.Context(), "POST", policies, object{"policyKey": "p", "source": permitAll}, nil)
		require.ErrorIs(t, err, policy.ErrKeyTaken)
		_, err = c.Call(t.Context(), "POST", policies, object{"policyKey": "q", "source": permitAll, "state": "retired"}, nil)
		require.Equal(t, "/state", refusal(t, err).Fields[0].Path)
		_, err = patch(t, c, p, object{"name": "x", "expectedVersion": 7})
		require.ErrorIs(t, err, policy.ErrConflict)
		for _, state := range []string{"active", "draft", "active", "retired"} {
			_, err = patch(t, c, p, object{"state": state})
			require.NoError(t, err, state)
		}
		_, err = patch(t, c, p, object{"state": "active"})
		require.ErrorIs(t, err, policy.ErrRetired)
		_, err = patch(t, c, p, object{"name": "x"})
		require.ErrorIs(t, err, policy.ErrRetired)
		_, err = c.Call(t.Context(), "DELETE", policyPath(p), nil, nil)
		require.ErrorIs(t, err, policy.ErrInUse)

		unused := create(t, c, object{"policyKey": "unused", "source": permitAll})
		_, err = patch(t, c, unused, object{"source": large})
		require.NoError(t, err)
		_, err = c.Call(t.Context(), "DELETE", policyPath(unused), nil, nil)
		require.NoError(t, err)
		_, err = c.Call(t.Context(), "GET", policyPath(unused), nil, nil)
		require.ErrorIs(t, err, policy.ErrNotFound)
		again := create(t, c, object{"policyKey": "was-draft", "source": permitAll})
		_, err = patch(t, c, again, object{"state": "retired"})
		require.NoError(t, err)
		_, err = c.Call(t.Context(), "DELETE", policyPath(again), nil, nil)
		require.NoError(t, err, "a draft that was retired was never active")
	})

	t.Run("another organization's policy is not found", func(t *testing.T) {
		t.Parallel()
		ours, theirs := k.Org(t), k.Org(t)
		p := create(t, theirs, object{"policyKey": "p", "source": permitAll})
		for _, call := range []string{"GET ", "PATCH ", "DELETE ", "GET /versions", "POST /test"} {
			method, rest, _ := strings.Cut(call, " ")
			_, err := ours.Call(t.Context(), method, policyPath(p)+rest, nil, nil)
			require.ErrorIs(t, err, policy.ErrNotFound, call)
		}
		reader := k.Key(t, theirs, principal.TracesRead)
		_, err := reader.Call(t.Context(), "POST", policies, object{"policyKey": "q", "source": permitAll}, nil)
		require.Error(t, err)
		require.Len(t, list(t, reader, ""), 2)
	})

	t.Run("active policies stay within their limits", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		long := permitAll + "//" + strings.Repeat("x", 10_240)
		var last policyView
		for i := range 40 {
			state := "active"
			if i == 39 {
				state = "draft"
			}
			last = create(t, c, object{"policyKey": fmt.Sprintf("p%d", i), "source": long[:10_240-i], "state": state})
		}
		_, err := patch(t, c, last, object{"state": "active"})
		require.ErrorIs(t, err, policy.ErrTooLarge)
		_, err = c.InPerson(t).Call(t.Context(), "POST", policies, object{"policyKey": "more", "source": long[:10_000], "state": "active"}, nil)
		require.ErrorIs(t, err, policy.ErrTooLarge)
		_, err = patch(t, c, last, object{"source": permitAll})
		require.NoError(t, err)
		_, err = patch(t, c, last, object{"state": "active"})
		require.NoError(t, err)
	})
}
