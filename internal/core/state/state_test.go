package state_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/state"
)

func TestMoves(t *testing.T) {
	t.Parallel()
	type position string
	lamp := state.Moves[position]{"off": {"on"}, "on": {"off", "broken"}}
	refusal := fault.New(fault.Conflict, "invalid_transition", "It cannot.")

	require.NoError(t, lamp.Check(refusal, "on", "broken"))

	f, ok := fault.From(lamp.Check(refusal, "off", "broken"))
	require.True(t, ok)
	require.Equal(t, map[string]any{"currentState": position("off"), "allowedTransitions": []position{"on"}}, f.Details)
	require.Empty(t, refusal.Details, "the refusal itself stays as it is")
	require.Equal(t, []position{}, lamp.In(refusal, "broken").Details["allowedTransitions"], "nowhere is an empty list")
}
