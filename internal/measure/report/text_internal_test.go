package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAShareIsWholeOnlyIfItIs(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{1: "100.0%", 0.9996: "99.96%", 0.99999: "99.999%", 0.5: "50.0%", 0.0004: "0.04%", 0: "0.0%", 0.1: "10.0%", 0.01: "1.0%"} {
		require.Equal(t, want, share(v))
	}
}
