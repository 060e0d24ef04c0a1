package tenancy

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestOneHand(t *testing.T) {
	t.Parallel()
	ann, bob, carol := uuid.New(), uuid.New(), uuid.New()
	const (
		root, anns, pipeline, agent, bobs, helper, anew, rotated, mine, byRoot, carols, carolsAgent int64 = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
	)
	l := Lineage{
		root:     {},
		anns:     {madeWith: root, owner: &ann},
		pipeline: {madeWith: anns, creator: &ann},
		agent:    {madeWith: pipeline},
		bobs:     {madeWith: pipeline, owner: &bob},
		helper:   {madeWith: agent},
		anew:     {madeWith: anns, succeeds: agent, creator: &ann}, // the agent's key, rotated by ann
		rotated:  {madeWith: root, succeeds: root},
		mine:     {madeWith: anns, owner: &bob, creator: &ann},
		byRoot:   {madeWith: rotated, owner: &bob},

		carols:      {madeWith: pipeline, owner: &carol},
		carolsAgent: {madeWith: carols, creator: &carol},
	}
	for name, c := range map[string]struct {
		asks, approves int64
		want           bool
	}{
		"a key that was made with the one that asks":            {pipeline, bobs, true},
		"keys that a service key made":                          {agent, bobs, true},
		"one that was made with such a key":                     {helper, bobs, true},
		"one that was rotated":                                  {anew, bobs, true},
		"the service key itself, on behalf of somebody":         {agent, pipeline, true},
		"keys that a person made":                               {agent, mine, false},
		"people who have their keys from one service":           {carols, bobs, false},
		"the agent of one of them":                              {carolsAgent, bobs, false},
		"the key of whoever made the agent's":                   {agent, anns, false},
		"the first key, which asks":                             {root, anns, true},
		"the first key, which asks after it was rotated":        {rotated, anns, true},
		"the first key, which asks before its successor's keys": {root, byRoot, true},
		"keys from the first key":                               {anns, byRoot, false},
		"a key that does not exist":                             {99, bobs, false},
		"no key":                                                {0, bobs, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, l.OneHand(c.asks, c.approves))
		})
	}
	require.ElementsMatch(t, []uuid.UUID{ann, bob}, l.People(bobs))
	require.Equal(t, []uuid.UUID{ann}, l.People(anew))
	require.Empty(t, l.People(rotated))

	loop := Lineage{1: {madeWith: 1, succeeds: 1}}
	require.True(t, loop.OneHand(1, 1), "a cycle ends")
}
