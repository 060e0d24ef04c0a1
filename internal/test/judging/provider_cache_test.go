package judging_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/testkit"
)

//nolint:paralleltest // it moves the clock
func TestAnswersAreUsedAgain(t *testing.T) {
	shape, err := provider.NewShape(jsontext.Value(verdict))
	require.NoError(t, err)
	s := simulated.Start(t, simulated.Options{})
	k := testkit.Moving(t)
	us, them := k.Org(t), k.Org(t)
	priced(t, us, nil)
	prepare := func(of *testkit.Client, key int64, c provider.ModelConfig) *provider.Model {
		t.Helper()
		c.KeyID = key
		m, err := k.App.Provider.Model(t.Context(), of.Org, c)
		require.NoError(t, err)
		return m
	}
	ours, theirs := aKey(t, us, s, nil).ID, aKey(t, them, s, nil).ID
	calls := func() int64 { return s.Calls().Total }

	m := prepare(us, ours, provider.ModelConfig{Model: "upper", CacheFor: time.Hour})
	first, err := m.Ask(t.Context(), ask("hello"))
	require.NoError(t, err)
	require.False(t, first.FromCache)
	require.NotZero(t, *first.CostNanoUSD)
	again, err := m.Ask(t.Context(), provider.Question{System: "Judge.", Messages: ask("hello").Messages, IdempotencyKey: "another", Trace: [16]byte{1}})
	require.NoError(t, err)
	require.True(t, again.FromCache)
	require.Equal(t, first.Output, again.Output)
	require.Equal(t, first.ReplyID, again.ReplyID)
	require.Zero(t, *again.CostNanoUSD)
	require.Zero(t, again.Calls)
	require.EqualValues(t, 1, calls())

	// Whatever differs is asked.
	other := ask("hello")
	other.CacheSalt = "2"
	half := jsontext.Value(`{"temperature":0.5}`)
	for n, one := range []struct {
		m *provider.Model
		q provider.Question
	}{
		{m, ask("hello!")},
		{m, other},
		{prepare(us, ours, provider.ModelConfig{Model: "upper"}), ask("hello")},
		{prepare(us, ours, provider.ModelConfig{Model: "echo", CacheFor: time.Hour}), ask("hello")},
		{prepare(us, ours, provider.ModelConfig{Model: "upper", Params: half, CacheFor: time.Hour}), ask("hello")},
		{prepare(us, aKey(t, us, s, map[string]any{"name": "second"}).ID, provider.ModelConfig{Model: "upper", CacheFor: time.Hour}), ask("hello")},
		{prepare(them, theirs, provider.ModelConfig{Model: "upper", CacheFor: time.Hour}), ask("hello")},
	} {
		a, err := one.m.Ask(t.Context(), one.q)
		require.NoError(t, err)
		require.False(t, a.FromCache, n)
		require.EqualValues(t, n+2, calls())
	}

	// A judgement is kept when it can be used, also after a repair, and a failed
	// one never.
	judge := prepare(us, ours, provider.ModelConfig{Model: "judge", CacheFor: time.Hour})
	before := calls()
	mended, err := judge.AskObject(t.Context(), ask("[[score:0.75]][[answer:malformed,once]]"), shape)
	require.NoError(t, err)
	require.True(t, mended.Repaired)
	kept, err := judge.AskObject(t.Context(), ask("[[score:0.75]][[answer:malformed,once]]"), shape)
	require.NoError(t, err)
	require.True(t, kept.FromCache)
	require.Equal(t, mended.Value, kept.Value)
	require.EqualValues(t, 2, calls()-before)
	for range 2 {
		_, err = judge.AskObject(t.Context(), ask("[[answer:schema]]"), shape)
		require.Error(t, err)
	}
	require.EqualValues(t, 6, calls()-before)

	k.Clock.Advance(61 * time.Minute)
	late, err := m.Ask(t.Context(), ask("hello"))
	require.NoError(t, err)
	require.False(t, late.FromCache, "its time is over")
	gone, err := k.App.Provider.SweepAnswers(t.Context())
	require.NoError(t, err)
	require.Positive(t, gone)
	require.Equal(t, 1, scalar[int](t, k.Runtime(t, us.Org), "SELECT count(*) FROM model_answers"), "the one that was asked anew")
}

func TestKeptAnswersAreBounded(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)
	ours, theirs := k.Runtime(t, us.Org), k.Runtime(t, them.Org)
	for n := range 10 {
		_, err := ours.Exec(t.Context(), `INSERT INTO model_answers (org_id, digest, answer, bytes, created_at, expires_at)
			VALUES ($1, decode($2, 'hex'), '{}', 16777216, now() + $3 * interval '1 second', now() + interval '1 day')`, us.Org.String(), strings.Repeat(fmt.Sprintf("%02d", n), 32), n)
		require.NoError(t, err)
	}
	_, err := theirs.Exec(t.Context(), `INSERT INTO model_answers (org_id, digest, answer, bytes, created_at, expires_at)
		VALUES ($1, decode(repeat('00', 32), 'hex'), '{}', 16777216, now() - interval '1 hour', now() + interval '1 day')`, them.Org.String())
	require.NoError(t, err)
	gone, err := k.App.Provider.SweepAnswers(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 6, gone)
	require.Equal(t, "06 07 08 09", scalar[string](t, ours, "SELECT string_agg(left(encode(digest, 'hex'), 2), ' ' ORDER BY digest) FROM model_answers"), "the newest stay")
	require.Equal(t, 1, scalar[int](t, theirs, "SELECT count(*) FROM model_answers"))
}
