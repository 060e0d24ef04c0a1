package tenancy

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestOneHandOfPeople(t *testing.T) {
	t.Parallel()
	owner, ann, bob, carol, dave, eve, other := uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New()
	i := Inviters{ann: owner, bob: owner, carol: ann, dave: ann, eve: carol}
	for name, c := range map[string]struct {
		a, b uuid.UUID
		want bool
	}{
		"a person and themselves":                     {ann, ann, true},
		"an owner and whom they let in":               {owner, ann, true},
		"an owner and whom those let in":              {owner, eve, true},
		"two whom the owner let in":                   {ann, bob, false},
		"two whom the same admin let in":              {carol, dave, true},
		"one whom an admin let in, and one of theirs": {dave, eve, true},
		"one whom an admin let in, and another admin": {eve, bob, false},
		"two who came in through the operator":        {owner, other, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, i.OneHand(c.a, c.b))
			require.Equal(t, c.want, i.OneHand(c.b, c.a))
		})
	}
	loop := Inviters{ann: bob, bob: ann}
	require.True(t, loop.OneHand(ann, bob), "a circle ends")
}
