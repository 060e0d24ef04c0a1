package clickhouse

import (
	"context"
	"errors"
	"fmt"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/assayhq/assay/internal/core/fault"
)

// ErrUnavailable is what a caller sees while ClickHouse cannot be reached.
var ErrUnavailable = fault.New(fault.Unavailable, "analytics_unavailable", "The analytics database cannot be reached right now. Retry in a moment.")

// Translate marks an error that means "the server is away" with a fault, so
// that the caller is told to retry. What the server itself said is returned as
// it is.
func Translate(err error) error {
	var said *clickhouse.Exception
	if err == nil || errors.As(err, &said) || ch.IsException(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
