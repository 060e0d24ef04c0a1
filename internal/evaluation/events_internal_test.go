package evaluation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnEstimateOfTheTimeLeftIsNoNews(t *testing.T) {
	t.Parallel()
	sooner, later := 1.0, 2.0
	before := progressBody{Status: StatusRunning, ItemsDone: 1, ETASeconds: &later}
	after := before
	after.ETASeconds = &sooner
	require.Equal(t, progressNews(before), progressNews(after))
	after.ItemsDone = 2
	require.NotEqual(t, progressNews(before), progressNews(after))
}
