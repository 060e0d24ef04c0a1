package judging_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/testkit"
)

const verdict = `{"type":"object","properties":{"reason":{"type":"string","maxLength":200},"points":{"type":"integer","minimum":1,"maximum":5},"verdict":{"enum":["pass","fail","abstain"]}},
	"required":["reason","points","verdict"],"additionalProperties":false}`

// modelAt prepares to ask a model of a simulated provider with a key of its own.
func modelAt(t testing.TB, k *testkit.Kit, us *testkit.Client, s *simulated.Server, vendor, model string) *provider.Model {
	t.Helper()
	vendor, path, more := strings.Cut(vendor, "/")
	base := s.URL
	if more {
		base += "/" + path
	}
	made, err := us.CreateProviderKey(t.Context(), map[string]any{"provider": vendor, "name": t.Name() + path, "baseUrl": base, "secret": "sk-abcdefghijklmnopqrst"})
	require.NoError(t, err)
	m, err := k.App.Provider.Model(t.Context(), us.Org, provider.ModelConfig{KeyID: made.ID, Model: model})
	require.NoError(t, err)
	return m
}

func ask(text string) provider.Question {
	return provider.Question{System: "Judge.", Messages: []llm.Message{{Role: llm.RoleUser, Content: text}}, IdempotencyKey: "unit-" + text}
}

func failedWith(t testing.TB, err error, code string) *provider.Failure {
	t.Helper()
	var f *provider.Failure
	require.ErrorAs(t, err, &f)
	require.Equal(t, code, f.Code, f.Message)
	return f
}

func TestAskObject(t *testing.T) {
	t.Parallel()
	shape, err := provider.NewShape(jsontext.Value(verdict))
	require.NoError(t, err)
	s := simulated.Start(t, simulated.Options{})
	k := testkit.Shared(t)
	us := k.Org(t)
	_, err = us.UpdateOrganization(t.Context(), map[string]any{"priceOverrides": map[string]any{"judge": map[string]any{"inputPerMillion": 1, "outputPerMillion": 2}}})
	require.NoError(t, err)

	for _, vendor := range []string{"openai", "openai/responses", "anthropic", "google"} {
		t.Run(vendor, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			m := modelAt(t, k, us, s, vendor, "judge")
			plain, err := m.AskObject(ctx, ask("[[score:0.75]] "+vendor), shape)
			require.NoError(t, err)
			require.JSONEq(t, `{"reason":"The prompt says so.","points":4,"verdict":"pass"}`, string(plain.Value))
			require.False(t, plain.Repaired)
			require.Equal(t, 1, plain.Calls)
			require.NotEmpty(t, plain.ReplyID)
			require.Equal(t, "judge", plain.Model)

			abstains, err := m.AskObject(ctx, ask("[[choice:abstain]][[score:0.2]] "+vendor), shape)
			require.NoError(t, err)
			require.Contains(t, string(abstains.Value), `"verdict":"abstain"`)

			for _, way := range []string{"malformed", "schema", "empty"} {
				got, err := m.AskObject(ctx, ask("[[score:0.75]][[answer:"+way+",once]] "+vendor), shape)
				require.NoError(t, err, way)
				require.True(t, got.Repaired, way)
				require.JSONEq(t, string(plain.Value), string(got.Value), way)
				require.Equal(t, 2, got.Calls, way)
				require.Greater(t, got.Usage.Input, 2*plain.Usage.Input, "both calls, and the second shows the first answer")
				require.Equal(t, uint64(got.Usage.Input)*1000+uint64(got.Usage.Output)*2000, *got.CostNanoUSD)
			}
			fenced, err := m.AskObject(ctx, ask("[[score:0.75]][[answer:fenced]] "+vendor), shape)
			require.NoError(t, err)
			require.JSONEq(t, string(plain.Value), string(fenced.Value))
			require.Equal(t, 1, fenced.Calls)

			for way, want := range map[string]struct {
				code  string
				calls int
			}{
				"malformed": {provider.CodeNotJSON, 2}, "schema": {provider.CodeWrongSchema, 2}, "empty": {provider.CodeEmpty, 2},
				"truncated": {provider.CodeTruncated, 1}, "refused": {"refused", 1}, "filtered": {"refused", 1},
			} {
				got, err := m.AskObject(ctx, ask("[[score:0.75]][[answer:"+way+"]] "+vendor), shape)
				f := failedWith(t, err, want.code)
				require.False(t, f.Retry || f.Stop, way)
				require.Equal(t, want.calls, got.Calls, way)
				require.NotNil(t, got.CostNanoUSD, way)
				require.Nil(t, got.Value, way)
				if way == "schema" {
					require.Contains(t, f.Message, "lacks reason, points, verdict")
				}
			}
		})
	}
}

func TestAskObjectTransport(t *testing.T) {
	t.Parallel()
	shape, err := provider.NewShape(jsontext.Value(verdict))
	require.NoError(t, err)
	s := simulated.Start(t, simulated.Options{Faults: simulated.Faults{Rules: []simulated.Rule{{Fault: simulated.FaultOverloaded, Contains: "previous_answer"}}}})
	k := testkit.Shared(t)
	m := modelAt(t, k, k.Org(t), s, "openai", "judge")

	got, err := m.AskObject(t.Context(), ask("[[answer:malformed,once]]"), shape)
	f := failedWith(t, err, "unavailable")
	require.True(t, f.Retry, "the repair may be tried again with its question")
	require.Equal(t, 2, got.Calls)
	require.NotZero(t, got.Usage.Input, "the first answer is paid")
}

func TestShapes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `[]`, `{"type":`, `{"$ref":"https://example.com/x"}`, `{"type":"nothing"}`} {
		_, err := provider.NewShape(jsontext.Value(text))
		require.Error(t, err, text)
	}
}
