package fault_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/fault"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"exact_match", "contains", "pass_rate", "f1"}
	for name, want := range map[string]string{
		"exactmatch": "exact_match", "passrate": "pass_rate", "contians": "contains", "f2": "f1", "charm": "", "": "", "zz": "",
	} {
		require.Equal(t, want, fault.Nearest(name, known), name)
	}
	require.Empty(t, fault.Nearest("contains", nil))
}
