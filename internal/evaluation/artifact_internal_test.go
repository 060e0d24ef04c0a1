package evaluation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPagesFit(t *testing.T) {
	t.Parallel()
	const big = pageBytes / 2
	got := pages([]int64{1, 2, 3, 4, 5, 6, 7}, map[int64]int{1: 10, 3: big, 4: big, 5: 2 * pageBytes, 7: 10})
	require.Equal(t, [][]int64{{1, 3}, {4}, {5}, {7}}, got, "those without results are in none")
	require.Empty(t, pages([]int64{1, 2}, nil))
}
