package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/provider/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// answer finds a kept answer.
func (s store) answer(ctx context.Context, org principal.OrgID, digest []byte, now time.Time) (jsontext.Value, bool, error) {
	text, err := db.New(s.db.Org(org)).FindAnswer(ctx, db.FindAnswerParams{OrgID: org, Digest: digest, Now: now})
	return postgres.Optional(text, err, "find answer")
}

func (s store) putAnswer(ctx context.Context, org principal.OrgID, digest []byte, text jsontext.Value, now time.Time, keep time.Duration) error {
	err := db.New(s.db.Org(org)).PutAnswer(ctx, db.PutAnswerParams{
		OrgID: org, Digest: digest, Answer: text, Bytes: int32(len(text)), CreatedAt: now, ExpiresAt: now.Add(keep),
	})
	return postgres.Wrap(err, "put answer")
}

// sweepAnswers deletes what has expired, and what is above so many bytes of an
// organization.
func (s store) sweepAnswers(ctx context.Context, now time.Time, most int64) (int64, error) {
	q := db.New(s.db.Claim("app.sweep", "model_answers"))
	var gone int64
	for {
		n, err := q.DeleteExpiredAnswers(ctx, now)
		gone += n
		if err != nil {
			return gone, fmt.Errorf("delete expired answers: %w", err)
		}
		if n == 0 {
			break
		}
	}
	n, err := q.DeleteSurplusAnswers(ctx, most)
	if err != nil {
		return gone, fmt.Errorf("delete surplus answers: %w", err)
	}
	return gone + n, nil
}
