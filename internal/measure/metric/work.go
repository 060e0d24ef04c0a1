package metric

import (
	"errors"

	"github.com/assayhq/assay/internal/core/schema"
)

// work is what one score may still spend.
type work struct{ schema.Work }

// What a byte costs, in units of work; reading it costs schema.CostDecode.
const (
	costWrite     = 150
	costNormalize = 40
	costScan      = 2
	costCompile   = 2_000
)

// unread is the score of a case with a value that is not read. part names the
// value.
func unread(part string, err error) Score {
	switch {
	case errors.Is(err, schema.ErrTooCostly):
		return tooCostly()
	case errors.Is(err, schema.ErrTooLarge):
		return Missing(ReasonTooLarge, "The "+part+" is larger than 4 MiB, deeper than 200 levels, or has more than 500,000 values.")
	default:
		return Missing(ReasonBadValue, "The "+part+" is not JSON.")
	}
}

func tooCostly() Score {
	return Missing(ReasonTooCostly, "Computing the score takes more work than one score may; the texts are too long for this comparison, or the pattern or schema is too complex for them.")
}
