package engine

import (
	"testing"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// FuzzParse shows that any text is either refused at a place inside it, or is a policy
// that answers every question in the same way with the index and without.
func FuzzParse(f *testing.F) {
	r := newRandom(1)
	for range 20 {
		f.Add(r.policy())
	}
	f.Add(`@id("a") @effect("require_approval") @approver_groups("admin,0190aaaa-0000-7000-8000-000000000017") @min_approvals("2") @expires_in("60") @obligations("limit(n=1),notify") forbid(principal,action,resource);`)
	f.Add(`@history("n = count(a/b, 1h); s = sum(a/b, amount, 30d)") permit(principal,action,resource) when { context.history.n > 1 };`)
	f.Fuzz(func(t *testing.T, text string) {
		policy, problems := Parse(text)
		for _, p := range problems {
			require.Positive(t, p.Line)
			require.Positive(t, p.Column)
			require.NotEmpty(t, p.Message)
		}
		if len(problems) > 0 {
			return
		}
		require.NotEmpty(t, policy.Statements)
		require.LessOrEqual(t, len(policy.Facts), MaxFacts)
		set, err := Compile([]Source{{Key: "p", Mode: Enforce, Text: text}})
		require.NoError(t, err)
		r := newRandom(uint64(len(text)))
		for range 3 {
			q := r.question()
			require.Equal(t, plain(set.everything(q)), plain(set.Evaluate(q)))
		}
	})
}

// FuzzRecord shows that any JSON is either refused or becomes a record that Cedar can
// write and read, within the bounds of a question.
func FuzzRecord(f *testing.F) {
	r := newRandom(2)
	for range 20 {
		f.Add(r.object())
	}
	f.Add(`{"a":1e5,"b":-0.00010,"c":[[[{}]]],"":"é","n":null,"big":123456789012345678901234567890}`)
	f.Fuzz(func(t *testing.T, text string) {
		var c converter
		m, err := c.record(jsontext.Value(text))
		if err != nil {
			return
		}
		require.LessOrEqual(t, c.values, maxValues)
		raw, err := types.NewRecord(m).MarshalJSON()
		require.NoError(t, err)
		require.True(t, jsontext.Value(raw).IsValid())
		q := Question{Arguments: jsontext.Value(text)}
		p, err := q.prepare()
		require.NoError(t, err)
		require.GreaterOrEqual(t, p.in(nil).Context.Len(), 9)
		_, said := cedar.Authorize(cedar.NewPolicySet(), p.entities, p.in(nil))
		require.Empty(t, said.Errors)
	})
}
