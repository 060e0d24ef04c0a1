package adjudication

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/adjudication/internal/db"
)

func (s store) insertDecisionTx(ctx context.Context, tx postgres.Tx, item int64, d Decision) (int64, error) {
	id, err := db.New(tx).InsertDecision(ctx, db.InsertDecisionParams{
		OrgID: tx.Org, ItemID: item, Decision: string(d.Verdict), Rationale: d.Rationale, Label: postgres.OrNull(d.Label), Score: d.Score, ExpectedOutput: d.Expected,
		FailureMode: postgres.OrNull(d.FailureMode), Confidence: d.Confidence, DecidedBy: d.By.String(), DeciderID: d.Decider, Independent: d.Independent, Override: d.Override,
		Separation: d.Separation, Overturned: d.Overturned, CreatedAt: d.At,
	})
	return id, postgres.Wrap(err, "insert decision")
}

func (s store) supersedeDecisionTx(ctx context.Context, tx postgres.Tx, item int64, end Superseded) error {
	by := end.By.String()
	err := db.New(tx).SupersedeDecision(ctx, db.SupersedeDecisionParams{OrgID: tx.Org, ItemID: item, SupersededAt: &end.At, SupersededBy: &by, SupersededReason: &end.Reason})
	return postgres.Wrap(err, "supersede decision")
}

func (s store) insertTruthTx(ctx context.Context, tx postgres.Tx, t GroundTruth) (int64, error) {
	id, err := db.New(tx).InsertTruth(ctx, db.InsertTruthParams{
		OrgID: tx.Org, ItemID: t.Item, DecisionID: t.Decision, Decision: string(t.Verdict), Label: postgres.OrNull(t.Label), Score: t.Score, ExpectedOutput: t.Expected, Rationale: t.Rationale,
		DecidedBy: t.DecidedBy.String(), CreatedBy: t.CreatedBy.String(), Number: int32(t.Number), SupersedesID: postgres.OrNull(t.Supersedes), ContentDigest: t.Digest[:], CreatedAt: t.CreatedAt,
	})
	return id, postgres.Wrap(err, "insert ground truth")
}

// endTruthTx ends ground truth that is active.
func (s store) endTruthTx(ctx context.Context, tx postgres.Tx, t GroundTruth) error {
	n, err := db.New(tx).EndTruth(ctx, db.EndTruthParams{OrgID: tx.Org, ID: t.ID, Status: string(t.Status), Reason: t.Reason, EndedAt: t.EndedAt})
	return postgres.Changed(n, err, "end ground truth", ErrConflict)
}

func (s store) truth(ctx context.Context, q db.DBTX, org principal.OrgID, id int64) (GroundTruth, error) {
	r, err := db.New(q).FindTruth(ctx, db.FindTruthParams{OrgID: org, ID: id})
	return postgres.One(r, err, "find ground truth", ErrTruthNotFound, fromTruthRow)
}

func (s store) insertEntryTx(ctx context.Context, tx postgres.Tx, e Entry) (int64, error) {
	id, err := db.New(tx).InsertEntry(ctx, db.InsertEntryParams{
		OrgID: tx.Org, ItemID: e.Item, GroundTruthID: e.Truth, Purpose: string(e.Purpose), DatasetID: e.Dataset, DatasetItemID: e.DatasetItem, Split: postgres.OrNull(e.Split),
		JudgeConfigID: postgres.OrNull(e.Judge), Tags: e.Tags, Justification: e.Justification, CreatedBy: e.By.String(), CreatedAt: e.At,
	})
	return id, postgres.Wrap(err, "insert entry")
}

// moveEntryTx lets an entry rest on the ground truth that it has now.
func (s store) moveEntryTx(ctx context.Context, tx postgres.Tx, e Entry) error {
	return postgres.Wrap(db.New(tx).MoveEntry(ctx, db.MoveEntryParams{OrgID: tx.Org, ID: e.ID, GroundTruthID: e.Truth}), "move entry")
}

func (s store) deleteEntryTx(ctx context.Context, tx postgres.Tx, id int64) error {
	return postgres.Wrap(db.New(tx).DeleteEntry(ctx, db.DeleteEntryParams{OrgID: tx.Org, ID: id}), "delete entry")
}

func (s store) entriesOfTx(ctx context.Context, tx postgres.Tx, set, item int64) ([]Entry, error) {
	return s.entriesOf(ctx, tx, tx.Org, set, item)
}

// entriesOf are the entries behind an item of a dataset, newest first.
func (s store) entriesOf(ctx context.Context, q db.DBTX, org principal.OrgID, set, item int64) ([]Entry, error) {
	rows, err := db.New(q).EntriesOfDatasetItem(ctx, db.EntriesOfDatasetItemParams{OrgID: org, DatasetID: set, DatasetItemID: item})
	return postgres.All(rows, err, "read entries", fromEntryRow)
}

// setTx is the default set of a purpose, zero if there is none. Others who look for
// it wait until the transaction ends.
func (s store) setTx(ctx context.Context, tx postgres.Tx, purpose dataset.Purpose) (int64, error) {
	q := db.New(tx)
	if err := q.LockSets(ctx, tx.Org.String()); err != nil {
		return 0, fmt.Errorf("lock default sets: %w", err)
	}
	id, err := q.FindSet(ctx, db.FindSetParams{OrgID: tx.Org, Purpose: string(purpose)})
	if postgres.NoRows(err) {
		return 0, nil
	}
	return id, postgres.Wrap(err, "find default set")
}

func (s store) putSetTx(ctx context.Context, tx postgres.Tx, purpose dataset.Purpose, id int64, at time.Time) error {
	err := db.New(tx).PutSet(ctx, db.PutSetParams{OrgID: tx.Org, Purpose: string(purpose), DatasetID: id, CreatedAt: at})
	return postgres.Wrap(err, "put default set")
}

// counted is a summary with what it is computed from.
type counted struct {
	Summary
	compared, overturned int64
	open, decided        map[uuid.UUID]int64
}

func (s store) summary(ctx context.Context, org principal.OrgID, now, since time.Time) (counted, error) {
	q := db.New(s.db.Org(org))
	out := counted{open: map[uuid.UUID]int64{}, decided: map[uuid.UUID]int64{}}
	out.ByStatus, out.BySource, out.ByPriority = zeros(statuses...), zeros(sources...), zeros(priorities...)
	byStatus, err := q.CountsByStatus(ctx, org)
	if err != nil {
		return out, fmt.Errorf("count items: %w", err)
	}
	for _, r := range byStatus {
		out.ByStatus[Status(r.Status)] = r.Items
	}
	queue, err := q.CountsOfQueue(ctx, org)
	if err != nil {
		return out, fmt.Errorf("count the queue: %w", err)
	}
	for _, r := range queue {
		out.BySource[Source(r.Source)] += r.Items
		out.ByPriority[Priority(r.Priority)] += r.Items
	}
	ages, err := q.QueueAges(ctx, db.QueueAgesParams{OrgID: org, Now: now})
	switch {
	case err == nil:
		out.Overdue, out.OldestAt, out.Median, out.P90 = ages.Overdue, &ages.Oldest, new(now.Sub(ages.Median)), new(now.Sub(ages.P90))
	case !postgres.NoRows(err):
		return out, fmt.Errorf("read the ages of the queue: %w", err)
	}
	lately, err := q.DecidedSince(ctx, db.DecidedSinceParams{OrgID: org, Since: since})
	if err != nil {
		return out, fmt.Errorf("count decisions: %w", err)
	}
	for _, r := range lately {
		out.decided[r.DeciderID] = r.Decided
	}
	compared, err := q.Overturned(ctx, org)
	if err != nil {
		return out, fmt.Errorf("count overturned verdicts: %w", err)
	}
	out.compared, out.overturned = compared.Compared, compared.Overturned
	open, err := q.OpenPerAssignee(ctx, org)
	if err != nil {
		return out, fmt.Errorf("count assigned items: %w", err)
	}
	for _, r := range open {
		out.open[r.AssigneeID] = r.Items
	}
	return out, nil
}

func fromDecisionRow(r db.AdjudicationDecision) Decision {
	d := Decision{
		ID: r.ID, Verdict: Verdict(r.Decision), Rationale: r.Rationale, Score: r.Score, Expected: r.ExpectedOutput, Confidence: r.Confidence, By: principal.ParseActor(r.DecidedBy),
		Decider: r.DeciderID, Independent: r.Independent, Override: r.Override, Separation: r.Separation, Overturned: r.Overturned, At: r.CreatedAt,
	}
	d.Label, d.FailureMode = orEmpty(r.Label), orEmpty(r.FailureMode)
	if r.SupersededAt != nil {
		d.Superseded = &Superseded{At: *r.SupersededAt, By: principal.ParseActor(orEmpty(r.SupersededBy)), Reason: orEmpty(r.SupersededReason)}
	}
	return d
}

func fromTruthRow(r db.GroundTruth) GroundTruth {
	t := GroundTruth{
		ID: r.ID, Item: r.ItemID, Decision: r.DecisionID, Verdict: Verdict(r.Decision), Label: orEmpty(r.Label), Score: r.Score, Expected: r.ExpectedOutput, Rationale: r.Rationale,
		DecidedBy: principal.ParseActor(r.DecidedBy), CreatedBy: principal.ParseActor(r.CreatedBy), Number: int(r.Number), Status: TruthStatus(r.Status), Reason: r.Reason,
		Digest: dataset.Digest(r.ContentDigest), CreatedAt: r.CreatedAt, EndedAt: r.EndedAt,
	}
	if r.SupersedesID != nil {
		t.Supersedes = *r.SupersedesID
	}
	return t
}

func fromEntryRow(r db.GroundTruthEntry) Entry {
	e := Entry{
		ID: r.ID, Item: r.ItemID, Truth: r.GroundTruthID, Purpose: dataset.Purpose(r.Purpose), Dataset: r.DatasetID, DatasetItem: r.DatasetItemID, Split: orEmpty(r.Split), Tags: r.Tags,
		Justification: r.Justification, By: principal.ParseActor(r.CreatedBy), At: r.CreatedAt,
	}
	if r.JudgeConfigID != nil {
		e.Judge = *r.JudgeConfigID
	}
	return e
}

// orEmpty is a text, or the empty one for null.
func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
