package stat

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Where nearly all draws have the same value, both ends of an interval fall on it. An
// interval that is a point would be certainty.
func TestAnIntervalIsNoPoint(t *testing.T) {
	t.Parallel()
	rarely := func(draw []int) float64 { return one(draw[0] > 1 || draw[1] > 1) }
	for _, method := range []Method{MethodBCa, MethodPercentile} {
		o, err := Options{Method: method}.Checked()
		require.NoError(t, err)
		e := o.Estimate("mean")
		require.Nil(t, bootstrap(&e, 50, rarely, func() []float64 { return make([]float64, 50) }, o))
		require.Nil(t, e.CI)
		require.Equal(t, StatusDegenerate, e.Status)
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
