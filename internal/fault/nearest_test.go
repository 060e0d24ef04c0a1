package fault_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/fault"
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
}
