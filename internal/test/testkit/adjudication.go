package testkit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
)

type (
	// AdjudicationItem is an item of the queue.
	AdjudicationItem = api.AdjudicationItem
	// GroundTruth is what is right about an answer.
	GroundTruth = api.GroundTruth
)

// AnsweredTrace sends a trace with an input and an output, and returns its id.
func (c *Client) AnsweredTrace(t testing.TB, input, output any) string {
	t.Helper()
	made, err := c.CreateTrace(t.Context(), map[string]any{"name": "answer", "input": input, "output": output})
	require.NoError(t, err)
	return made.ID
}
