package trace

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
	"github.com/assayhq/assay/internal/trace/internal/db"
)

func (s store) insertFeedbackTx(ctx context.Context, tx postgres.Tx, f Feedback) (Feedback, error) {
	p := db.InsertFeedbackParams{
		OrgID: tx.Org, TraceID: f.Trace[:], Type: string(f.Type), Value: f.Value,
		Comment: f.Comment, UserID: f.UserID, Creator: f.CreatedBy.String(), CreatedAt: f.CreatedAt,
	}
	if f.Span != (span.ID{}) {
		p.SpanID = f.Span[:]
	}
	var err error
	if f.ID, err = db.New(tx).InsertFeedback(ctx, p); err != nil {
		return Feedback{}, fmt.Errorf("insert feedback: %w", err)
	}
	return f, nil
}

// listFeedback returns what was said about a trace, newest first.
func (s store) listFeedback(ctx context.Context, org principal.OrgID, trace span.TraceID, limit int) ([]Feedback, error) {
	rows, err := db.New(s.db.Org(org)).ListFeedback(ctx, db.ListFeedbackParams{OrgID: org, TraceID: trace[:], RowLimit: int32(limit)})
	if err != nil {
		return nil, fmt.Errorf("list feedback: %w", err)
	}
	out := make([]Feedback, len(rows))
	for i, r := range rows {
		out[i] = Feedback{
			ID: r.ID, Trace: trace, Type: FeedbackType(r.Type), Value: r.Value,
			Comment: r.Comment, UserID: r.UserID, CreatedBy: principal.ParseActor(r.Creator), CreatedAt: r.CreatedAt,
		}
		copy(out[i].Span[:], r.SpanID)
	}
	return out, nil
}
