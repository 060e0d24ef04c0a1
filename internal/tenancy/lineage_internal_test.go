package tenancy

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestPeopleBehindAKey(t *testing.T) {
	t.Parallel()
	ann, bob := uuid.New(), uuid.New()
	const (
		root, anns, pipeline, agent, bobs, anew, rotated int64 = 1, 2, 3, 4, 5, 6, 7
	)
	l := Lineage{
		root:     {},
		anns:     {owner: &ann, creator: &ann},
		pipeline: {madeWith: anns, creator: &ann},
		agent:    {madeWith: pipeline},
		bobs:     {madeWith: pipeline, owner: &bob},
		anew:     {madeWith: anns, succeeds: agent, creator: &ann}, // the agent's key, rotated by ann
		rotated:  {madeWith: root, succeeds: root},
	}
	require.Equal(t, []uuid.UUID{ann}, l.People(agent))
	require.ElementsMatch(t, []uuid.UUID{ann, bob}, l.People(bobs))
	require.Equal(t, []uuid.UUID{ann}, l.People(anew))
	require.Empty(t, l.People(rotated))
	require.Empty(t, l.People(99))

	loop := Lineage{1: {madeWith: 1, succeeds: 1}}
	require.Empty(t, loop.People(1), "a cycle ends")
}
