package approval

import "github.com/assayhq/assay/internal/agent/evidence"

// Money is the amount of an action, if it can be read; otherwise it is empty.
func (a Action) Money() string {
	if _, ok := evidence.Amount(a.Amount); !ok {
		return ""
	}
	return a.Amount
}
