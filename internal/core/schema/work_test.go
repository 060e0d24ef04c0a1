package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/schema"
)

func TestAnAllowanceIsSharedByTasks(t *testing.T) {
	t.Parallel()
	const (
		task  = 2_000_000_000
		tasks = 5
	)
	all := schema.NewAllowance()

	for range tasks {
		one := all.Task()
		require.False(t, one.Spend(task+1), "a task may spend so much and no more")
		require.False(t, one.Spend(1), "and nothing after that")
		all.Return(one)
	}
	require.False(t, all.Short(), "what was refused is not spent")

	for range tasks {
		one := all.Task()
		require.True(t, one.Spend(task))
		all.Return(one)
	}
	require.False(t, all.Short())
	last := all.Task()
	require.False(t, last.Spend(1))
	require.True(t, all.Short())
}
