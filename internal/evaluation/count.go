package evaluation

import (
	"time"

	"github.com/assayhq/assay/internal/score"
)

// Count is what became of some units of a run.
type Count struct {
	// Size is how many units there are to be, Done how many have an outcome.
	Size, Done int

	// Failed contains Errored. Skipped is beside both.
	Passed, Failed, Errored, Skipped int

	Calls, InputTokens, OutputTokens int64
	CostNanoUSD                      int64

	// Of the overall scores.
	Scored                  int
	OverallSum, OverallSum2 float64

	UpdatedAt time.Time
}

// add counts one outcome.
func (c *Count) add(b score.Brief) {
	c.Done++
	switch b.Status {
	case score.StatusPassed:
		c.Passed++
	case score.StatusFailed:
		c.Failed++
	case score.StatusErrored:
		c.Failed++
		c.Errored++
	case score.StatusSkipped:
		c.Skipped++
	}
	c.Calls += int64(b.Calls)
	c.InputTokens += int64(b.InputTokens)
	c.OutputTokens += int64(b.OutputTokens)
	c.CostNanoUSD += int64(b.CostNanoUSD)
	if b.Overall != nil {
		c.Scored++
		c.OverallSum += *b.Overall
		c.OverallSum2 += *b.Overall * *b.Overall
	}
}

// plus adds what another stretch of units counted.
func (c Count) plus(o Count) Count {
	c.Size, c.Done = c.Size+o.Size, c.Done+o.Done
	c.Passed, c.Failed, c.Errored, c.Skipped = c.Passed+o.Passed, c.Failed+o.Failed, c.Errored+o.Errored, c.Skipped+o.Skipped
	c.Calls, c.InputTokens, c.OutputTokens, c.CostNanoUSD = c.Calls+o.Calls, c.InputTokens+o.InputTokens, c.OutputTokens+o.OutputTokens, c.CostNanoUSD+o.CostNanoUSD
	c.Scored, c.OverallSum, c.OverallSum2 = c.Scored+o.Scored, c.OverallSum+o.OverallSum, c.OverallSum2+o.OverallSum2
	if o.UpdatedAt.After(c.UpdatedAt) {
		c.UpdatedAt = o.UpdatedAt
	}
	return c
}
