package trace

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// TopicDeleted is published when a trace is deleted.
const TopicDeleted = "trace.deleted"

const (
	// settleMargin is for clocks of processes that differ.
	settleMargin = 30 * time.Second
	// hideWithin bounds how long a caller waits for its trace to disappear.
	hideWithin = 15 * time.Second
)

// Deletion is a trace that is to be removed for good.
type Deletion struct {
	Org   principal.OrgID `json:"org"`
	ID    int64           `json:"id"`
	Trace string          `json:"trace"`
	// Requested is when it was deleted: what arrived later belongs to another
	// trace with the same id.
	Requested time.Time `json:"requested"`
	// Settled is when no write that began before the deletion can be under way
	// any more.
	Settled time.Time `json:"settled"`
}

// DeleteTx notes that a trace is deleted and publishes it, so that a workflow
// removes it. What is stored of it stays readable until hide.
func (s *Service) DeleteTx(ctx context.Context, tx postgres.Tx, id span.TraceID) (Deletion, error) {
	now := s.shown()
	n, err := s.store.deleteTx(ctx, tx, id, now)
	if err != nil {
		return Deletion{}, err
	}
	if err := s.scores.WithdrawTx(ctx, tx, score.Trace(id), now); err != nil {
		return Deletion{}, err
	}
	d := Deletion{
		Org: tx.Org, ID: n, Trace: id.String(), Requested: now,
		Settled: now.Add(s.settleTime()),
	}
	if err := s.log.AuditTx(ctx, tx, change.Entry{Event: eventDeleted, ID: d.Trace, Before: d}); err != nil {
		return Deletion{}, err
	}
	return d, s.log.PublishTx(ctx, tx, TopicDeleted, strconv.FormatInt(n, 10), d)
}

// Erase removes an organization from the telemetry that waits in object storage
// and returns how many blocks had rows of it.
func (s *Service) Erase(ctx context.Context, org principal.OrgID) (int64, error) {
	blocks, err := s.store.CutOrganization(ctx, org)
	return int64(blocks), err
}

// settleTime is the longest that a row which has arrived can still be on its
// way: it waits for the block before its own, for the pause between blocks and
// for its own block. A row of an import waits until the live rows of its request
// are stored, then until its turn comes, and then for two blocks again.
func (s *Service) settleTime() time.Duration {
	return 4*(s.cfg.InsertTimeout+spandb.DeferTimeout) + s.cfg.GroupInterval + spandb.ImportTime + settleMargin
}

// hide makes a deleted trace unreadable at once. The deletion is committed
// already: if ClickHouse cannot do it now, the workflow does.
func (s *Service) hide(ctx context.Context, org principal.OrgID, id span.TraceID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hideWithin)
	defer cancel()
	err := spandb.Together(ctx, func(ctx context.Context) error {
		return s.store.Eraser(org, id).Hide(ctx, time.Time{})
	}, func(ctx context.Context) error {
		return s.scores.Hide(ctx, org, scoresOf(id), time.Time{})
	})
	if err != nil {
		slog.WarnContext(ctx, "a deleted trace is readable until its workflow runs", "org_id", org.String(), "trace_id", id.String(), "error", err)
	}
}
