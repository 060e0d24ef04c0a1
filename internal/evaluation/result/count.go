package result

import "time"

// Count is what became of some units of a run.
type Count struct {
	// Chunk is the number of the chunk whose units these are.
	Chunk int
	// Size is how many units there are to be, Done how many have an outcome.
	Size, Done int

	// Failed contains Errored. Skipped is beside both.
	Passed, Failed, Errored, Skipped int

	Calls, InputTokens, OutputTokens int64
	CostNanoUSD                      int64

	UpdatedAt time.Time
}

// Add counts one outcome.
func (c *Count) Add(b Brief) {
	c.AddAll(Tally{
		Status: b.Status, Outcomes: 1, CostNanoUSD: int64(b.CostNanoUSD),
		InputTokens: int64(b.InputTokens), OutputTokens: int64(b.OutputTokens), Calls: int64(b.Calls),
	})
}

// AddAll counts the outcomes of one status.
func (c *Count) AddAll(t Tally) {
	c.Done += t.Outcomes
	switch t.Status {
	case StatusPassed:
		c.Passed += t.Outcomes
	case StatusFailed:
		c.Failed += t.Outcomes
	case StatusErrored:
		c.Failed += t.Outcomes
		c.Errored += t.Outcomes
	case StatusSkipped:
		c.Skipped += t.Outcomes
	}
	c.Calls += t.Calls
	c.InputTokens += t.InputTokens
	c.OutputTokens += t.OutputTokens
	c.CostNanoUSD += t.CostNanoUSD
}

// Plus adds what another stretch of units counted.
func (c Count) Plus(o Count) Count {
	c.Size, c.Done = c.Size+o.Size, c.Done+o.Done
	c.Passed, c.Failed, c.Errored, c.Skipped = c.Passed+o.Passed, c.Failed+o.Failed, c.Errored+o.Errored, c.Skipped+o.Skipped
	c.Calls, c.InputTokens, c.OutputTokens, c.CostNanoUSD = c.Calls+o.Calls, c.InputTokens+o.InputTokens, c.OutputTokens+o.OutputTokens, c.CostNanoUSD+o.CostNanoUSD
	if o.UpdatedAt.After(c.UpdatedAt) {
		c.UpdatedAt = o.UpdatedAt
	}
	return c
}
