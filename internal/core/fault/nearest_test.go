package fault_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"pass_rate", "overall", "exact_match", "latency_ms", "contains", "bleu"}
	for name, want := range map[string]string{
		"passrate": "pass_rate", "PASS-RATE": "pass_rate", "pass_rat": "pass_rate", "exactmatch": "exact_match", "latency": "latency_ms", "overal": "overall",
		"contans": "contains", "faithfulness": "", "x": "", "": "", "rouge": "", "charm": "",
	} {
		require.Equal(t, want, fault.Nearest(name, known), name)
	}
	require.Empty(t, fault.Nearest("contains", nil))
	require.Equal(t, "bleu", fault.Nearest("belu", known), "letters that are swapped are one typo")
	require.Empty(t, fault.Nearest(strings.Repeat("x", 300), []string{strings.Repeat("x", 299)}), "long names are not compared")
}

func TestNearestWithin(t *testing.T) {
	t.Parallel()
	none := func(int) int { return 0 }
	one := func(int) int { return 1 }
	known := []string{"tool.call", "Tool"}
	require.Equal(t, "tool.call", fault.NearestWithin("ToolCall", known, none), "case and separators do not count")
	require.Empty(t, fault.NearestWithin("pool", known, none))
	require.Equal(t, "Tool", fault.NearestWithin("pool", known, one))
	fault.NearestWithin("é-b", known, func(letters int) int { require.Equal(t, 2, letters); return 0 })
}
