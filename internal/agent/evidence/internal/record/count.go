package record

import "time"

const (
	// MaxCounted is how many records of a kind are counted exactly.
	MaxCounted = 100_000
	// MaxAttention is how many records in a state are counted that need attention.
	MaxAttention = 10_000
)

// Precision says how far a number can be relied on.
type Precision string

// The precisions.
const (
	Exact   Precision = "exact"
	AtLeast Precision = "at_least" // counting stopped there
	About   Precision = "about"    // reports of the same record may be among them
)

// Count is how many records of a kind there are.
type Count struct {
	Records, Recent int64
	Latest          time.Time
	Precision       Precision
}
