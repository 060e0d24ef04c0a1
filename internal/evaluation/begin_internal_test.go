package evaluation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTooMany(t *testing.T) {
	t.Parallel()
	require.Nil(t, tooMany(maxUnits, 1))
	require.Nil(t, tooMany(maxUnits/maxRepetitions, maxRepetitions))
	require.Equal(t, &RunError{
		Code:    "too_many_units",
		Message: "40001 items in 100 repetitions are 4000100 executions, and one run does 4000000 at most. Take a sample with sampleSize, or repeat less often.",
	}, tooMany(40_001, 100))
}
