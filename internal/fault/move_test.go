package fault_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/fault"
)

func TestMoves(t *testing.T) {
	t.Parallel()
	type state string
	lamp := fault.Moves[state]{
		{From: "off", Event: "switch", To: "on"}, {From: "on", Event: "switch", To: "off"}, {From: "on", Event: "break", To: "broken"},
	}
	refusal := fault.New(fault.Conflict, "invalid_transition", "It cannot.")

	require.NoError(t, lamp.Check(refusal, "on", "broken"))

	f, ok := fault.From(lamp.Check(refusal, "off", "broken"))
	require.True(t, ok)
	require.Equal(t, map[string]any{"currentState": state("off"), "allowedTransitions": []state{"on"}}, f.Details)
	require.Empty(t, refusal.Details, "the refusal itself stays as it is")
	require.Equal(t, []state{}, lamp.In(refusal, "broken").Details["allowedTransitions"], "nowhere is an empty list")
}
