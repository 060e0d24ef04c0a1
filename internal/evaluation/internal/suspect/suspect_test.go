package suspect_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/evaluation/internal/suspect"
)

func TestOnlyDeathsInTheWorkOfAUnitAccuseIt(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	stored := map[string]int{}
	worker := func() *suspect.List {
		return suspect.New(maps.Clone(stored), func(_ context.Context, deaths map[string]int) error {
			stored = maps.Clone(deaths)
			return nil
		})
	}
	const deadly, harmless = "1/0", "2/0"
	die := errors.New("the worker dies here")
	for attempt := range suspect.MaxDeaths {
		next := worker()
		require.False(t, next.GaveUp(deadly), "attempt %d", attempt)
		require.NoError(t, next.With(ctx, harmless, func() error { return nil }))
		func() {
			defer func() { require.Equal(t, die, recover()) }()
			_ = next.With(ctx, deadly, func() error { panic(die) })
		}()
	}

	next := worker()
	require.True(t, next.GaveUp(deadly))
	require.False(t, next.GaveUp(harmless))
	require.Equal(t, map[string]int{deadly: suspect.MaxDeaths}, stored)
	failed := errors.New("cancelled")
	require.ErrorIs(t, next.With(ctx, harmless, func() error { return failed }), failed)
	require.Equal(t, map[string]int{deadly: suspect.MaxDeaths}, stored, "a unit that fails is alive")
	var none *suspect.List
	require.False(t, none.GaveUp(deadly))
	require.NoError(t, none.With(ctx, deadly, func() error { return nil }))
}
