package trace

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/db"
)

// nextFeedbackTx returns a number for feedback.
func (s store) nextFeedbackTx(ctx context.Context, tx postgres.Tx) (int64, error) {
	id, err := db.New(tx).NextFeedback(ctx)
	if err != nil {
		return 0, fmt.Errorf("number feedback: %w", err)
	}
	return id, nil
}
