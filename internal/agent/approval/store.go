package approval

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/agent/approval/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// store keeps who voted. The approvals themselves are records of evidence.
type store struct{}

// cast is a vote as it is counted.
type cast struct {
	user     uuid.UUID
	approved bool
	// people are the voter and, if somebody else made the voter's key, those behind it.
	people []uuid.UUID
}

func (store) voteTx(ctx context.Context, tx postgres.Tx, approval int64, v cast, separation string, at time.Time) error {
	decision := rejected
	if v.approved {
		decision = approved
	}
	err := db.New(tx).InsertVote(ctx, db.InsertVoteParams{
		OrgID: tx.Org, ApprovalID: approval, UserID: v.user, Decision: decision, People: v.people, Separation: separation, CreatedAt: at,
	})
	if postgres.Violates(err, "approval_votes_pkey") {
		return ErrVotedBefore
	}
	return postgres.Wrap(err, "insert vote")
}

func (store) votesTx(ctx context.Context, tx postgres.Tx, approval int64) ([]cast, error) {
	rows, err := db.New(tx).ListVotes(ctx, db.ListVotesParams{OrgID: tx.Org, ApprovalID: approval})
	if err != nil {
		return nil, fmt.Errorf("list votes: %w", err)
	}
	out := make([]cast, len(rows))
	for i, r := range rows {
		out[i] = cast{user: r.UserID, approved: r.Decision == approved, people: r.People}
	}
	return out, nil
}

// lockActionTx lets one transaction at a time ask for an approval of an action.
func (store) lockActionTx(ctx context.Context, tx postgres.Tx, digest string) error {
	sum := sha256.Sum256([]byte("approval\x00" + tx.Org.String() + "\x00" + digest))
	return postgres.Wrap(db.New(tx).LockAction(ctx, int64(binary.BigEndian.Uint64(sum[:]))), "lock action")
}
