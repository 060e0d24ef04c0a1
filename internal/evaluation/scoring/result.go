package scoring

import (
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/result"
)

// Result is an outcome with the item that it is of.
type Result struct {
	result.Outcome
	Item dataset.Item
}
