package annotation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryStatusOfAnItemCanBeReached settles items with all counts of up to three
// people, one step apart, and asks the table for each step.
func TestEveryStatusOfAnItemCanBeReached(t *testing.T) {
	t.Parallel()
	agree, differ := 1.0, 0.0
	reached := map[ItemStatus]bool{}
	for required := 1; required <= 3; required++ {
		for submitted := range required + 1 {
			for held := range required - submitted + 1 {
				for skipped := range required + 1 {
					for _, agreement := range []*float64{nil, &agree, &differ} {
						if (submitted < required || required == 1) && agreement != nil {
							continue
						}
						i := Item{Required: required, Submitted: submitted, Held: held, Skipped: skipped, Agreement: agreement}
						from := i.statusAt(0.67)
						reached[from] = true
						if submitted > 0 && !from.Complete() {
							require.Equal(t, ItemInProgress, from)
						}
						if from.Complete() {
							i.Adjudication = 1
							require.NoError(t, itemMoves.Check(ErrItemTransition, from, i.statusAt(0.67)))
							require.NoError(t, itemMoves.Check(ErrItemTransition, i.statusAt(0.67), from))
							i.Adjudication = 0
						}
						if from == ItemAnnotated || from == ItemConflicted {
							i.Submitted, i.Agreement = i.Submitted-1, nil
							if to := i.statusAt(0.67); to != ItemSkipped {
								require.NoError(t, itemMoves.Check(ErrItemTransition, from, to), "%s to %s", from, to)
							}
						}
					}
				}
			}
		}
	}
	require.Equal(t, map[ItemStatus]bool{ItemPending: true, ItemInProgress: true, ItemAnnotated: true, ItemConflicted: true, ItemSkipped: true}, reached)
}
