package scoring_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/evaluation/scoring"
)

func TestAnItemMoreMovesNoOther(t *testing.T) {
	t.Parallel()
	few, more := make([]int64, 100), make([]int64, 101)
	for i := range more {
		if more[i] = int64(i + 1); i < len(few) {
			few[i] = int64(i + 1)
		}
	}
	scoring.Shuffle(few, 7)
	scoring.Shuffle(more, 7)
	require.Equal(t, few, slices.DeleteFunc(more, func(id int64) bool { return id == 101 }))
	again := slices.Clone(few)
	scoring.Shuffle(again, 8)
	require.NotEqual(t, few, again)
}
