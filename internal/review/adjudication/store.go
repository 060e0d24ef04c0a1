package adjudication

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/adjudication/internal/db"
)

type store struct{ db *postgres.DB }

func (s store) insertTx(ctx context.Context, tx postgres.Tx, i Item) (int64, error) {
	subject, err := json.Marshal(i.Subject)
	if err != nil {
		return 0, fmt.Errorf("encode the subject of an item: %w", err)
	}
	candidates, err := json.Marshal(i.Candidates)
	if err != nil {
		return 0, fmt.Errorf("encode the candidates of an item: %w", err)
	}
	content, err := json.Marshal(*i.Content)
	if err != nil {
		return 0, fmt.Errorf("encode the content of an item: %w", err)
	}
	q := db.New(tx)
	id, err := q.InsertItem(ctx, db.InsertItemParams{
		OrgID: tx.Org, Source: string(i.Source), Priority: string(i.Priority), Disagreement: i.Disagreement, RankAt: i.rank(), Subject: subject, SubjectKey: i.Subject.key(),
		EvaluationRunID: postgres.OrNull(i.Subject.Run), TraceID: postgres.OrNull(i.Subject.Trace), Title: i.Title, Question: i.Question, Context: i.Context, Candidates: candidates,
		ContentDigest: i.Digest[:], DueAt: i.DueAt, Tags: i.Tags, Notes: i.Notes, CreatedBy: i.CreatedBy.String(), CreatedAt: i.CreatedAt,
	})
	if postgres.Violates(err, "adjudication_items_unresolved") {
		return 0, ErrExists
	}
	if err == nil {
		err = q.InsertContent(ctx, db.InsertContentParams{OrgID: tx.Org, ItemID: id, Content: content})
	}
	return id, postgres.Wrap(err, "insert item")
}

// unresolvedTx is the item of the same source about the same subject that is not
// resolved; zero if there is none.
func (s store) unresolvedTx(ctx context.Context, tx postgres.Tx, i Item) (int64, error) {
	return s.unresolvedIn(ctx, tx, tx.Org, i)
}

func (s store) unresolved(ctx context.Context, org principal.OrgID, i Item) (int64, error) {
	return s.unresolvedIn(ctx, s.db.Org(org), org, i)
}

func (s store) unresolvedIn(ctx context.Context, q db.DBTX, org principal.OrgID, i Item) (int64, error) {
	id, err := db.New(q).FindUnresolved(ctx, db.FindUnresolvedParams{OrgID: org, Source: string(i.Source), SubjectKey: i.Subject.key()})
	if postgres.NoRows(err) {
		return 0, nil
	}
	return id, postgres.Wrap(err, "find unresolved item")
}

// wasOpenedTx reports whether a source has ever opened an item about a subject.
func (s store) wasOpenedTx(ctx context.Context, tx postgres.Tx, i Item) (bool, error) {
	was, err := db.New(tx).WasOpened(ctx, db.WasOpenedParams{OrgID: tx.Org, Source: string(i.Source), SubjectKey: i.Subject.key()})
	return was, postgres.Wrap(err, "find earlier items")
}

func (s store) content(ctx context.Context, q db.DBTX, org principal.OrgID, id int64) (*dataset.Content, error) {
	text, err := db.New(q).FindContent(ctx, db.FindContentParams{OrgID: org, ItemID: id})
	if err != nil {
		return nil, fmt.Errorf("find the content of an item: %w", err)
	}
	var c dataset.Content
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("read the content of item %d: %w", id, err)
	}
	return &c, nil
}

// find reads an item, with its content if it is asked for, in one round trip.
func (s store) find(ctx context.Context, org principal.OrgID, id int64, content bool) (Item, error) {
	var r db.AdjudicationItem
	p := parts{ids: []int64{id}}
	var c *dataset.Content
	reads := append(p.reads(ctx, org), func(q postgres.Querier) (err error) {
		if r, err = db.New(q).FindItem(ctx, db.FindItemParams{OrgID: org, ID: id}); postgres.NoRows(err) {
			return ErrNotFound
		}
		return postgres.Wrap(err, "find item")
	})
	if content {
		reads = append(reads, func(q postgres.Querier) (err error) { c, err = s.content(ctx, q, org, id); return err })
	}
	if err := s.db.Org(org).Together(ctx, reads...); err != nil {
		return Item{}, err
	}
	all, err := p.complete([]db.AdjudicationItem{r})
	if err != nil {
		return Item{}, err
	}
	all[0].Content = c
	return all[0], nil
}

func (s store) lockTx(ctx context.Context, tx postgres.Tx, id int64) (Item, error) {
	r, err := db.New(tx).LockItem(ctx, db.LockItemParams{OrgID: tx.Org, ID: id})
	if err != nil {
		return Item{}, postgres.Missing(err, "lock item", ErrNotFound)
	}
	p := parts{ids: []int64{id}}
	for _, read := range p.reads(ctx, tx.Org) {
		if err := read(tx); err != nil {
			return Item{}, err
		}
	}
	all, err := p.complete([]db.AdjudicationItem{r})
	if err != nil {
		return Item{}, err
	}
	return all[0], nil
}

func (s store) list(ctx context.Context, org principal.OrgID, f Filter) ([]Item, int64, error) {
	if len(f.Status) == 0 {
		f.Status = statuses
	}
	count := db.CountItemsParams{
		OrgID: org, Statuses: postgres.Texts(distinct(f.Status)), Sources: postgres.Texts(f.Source), Priorities: postgres.Texts(f.Priority), AssigneeID: f.Assignee,
		EvaluationRunID: postgres.OrNull(f.Run), TraceID: postgres.OrNull(f.Trace), FailureMode: postgres.OrNull(f.FailureMode), Search: postgres.OrNull(f.Search),
		CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore,
	}
	list := db.ListItemsParams{
		OrgID: org, Statuses: count.Statuses, Sources: count.Sources, Priorities: count.Priorities, AssigneeID: count.AssigneeID, EvaluationRunID: count.EvaluationRunID, TraceID: count.TraceID,
		FailureMode: count.FailureMode, Search: count.Search, CreatedAfter: count.CreatedAfter, CreatedBefore: count.CreatedBefore,
		AfterRank: f.After.Rank, AfterID: f.After.ID, Reach: int32(f.Offset + f.Limit + 1), RowLimit: int32(f.Limit) + 1, RowOffset: int32(f.Offset),
	}
	var rows []db.AdjudicationItem
	var total int64
	reads := []func(postgres.Querier) error{func(q postgres.Querier) (err error) {
		if rows, err = db.New(q).ListItems(ctx, list); err != nil {
			return fmt.Errorf("list items: %w", err)
		}
		return nil
	}}
	if f.Count {
		reads = append(reads, func(q postgres.Querier) (err error) {
			if total, err = db.New(q).CountItems(ctx, count); err != nil {
				return fmt.Errorf("count items: %w", err)
			}
			return nil
		})
	}
	if err := s.db.Org(org).Together(ctx, reads...); err != nil || len(rows) == 0 {
		return nil, total, err
	}
	p := parts{}
	for _, r := range rows {
		p.ids = append(p.ids, r.ID)
	}
	if err := s.db.Org(org).Together(ctx, p.reads(ctx, org)...); err != nil {
		return nil, 0, err
	}
	items, err := p.complete(rows)
	return items, total, err
}

// distinct are values without repetitions.
func distinct[T comparable](values []T) (out []T) {
	seen := map[T]bool{}
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// updateTx writes after over before, if before is still what is stored.
func (s store) updateTx(ctx context.Context, tx postgres.Tx, before, after Item) error {
	p := db.UpdateItemParams{
		OrgID: tx.Org, ID: before.ID, ExpectedVersion: before.Changes, ExpectedStatus: string(before.Status), Status: string(after.Status), Priority: string(after.Priority), RankAt: after.rank(),
		Title: after.Title, FailureMode: postgres.OrNull(after.FailureMode), AssigneeID: after.Assignee, AssignedAt: after.AssignedAt, DueAt: after.DueAt, Tags: after.Tags, Notes: after.Notes,
		Reason: after.Reason, UpdatedAt: after.UpdatedAt,
	}
	if after.AssignedBy != nil {
		p.AssignedBy = new(after.AssignedBy.String())
	}
	n, err := db.New(tx).UpdateItem(ctx, p)
	if postgres.Violates(err, "adjudication_items_unresolved") {
		return ErrExists
	}
	if err != nil {
		return fmt.Errorf("update item: %w", err)
	}
	if n == 0 {
		return ErrConflict
	}
	return nil
}

// parts are the decisions, ground truth and entries of items.
type parts struct {
	ids       []int64
	decisions []db.AdjudicationDecision
	truths    []db.GroundTruth
	entries   []db.GroundTruthEntry
}

// reads read the parts.
func (p *parts) reads(ctx context.Context, org principal.OrgID) []func(postgres.Querier) error {
	return []func(postgres.Querier) error{
		func(q postgres.Querier) (err error) {
			if p.decisions, err = db.New(q).Decisions(ctx, db.DecisionsParams{OrgID: org, Items: p.ids}); err != nil {
				return fmt.Errorf("read decisions: %w", err)
			}
			return nil
		},
		func(q postgres.Querier) (err error) {
			if p.truths, err = db.New(q).ActiveTruths(ctx, db.ActiveTruthsParams{OrgID: org, Items: p.ids}); err != nil {
				return fmt.Errorf("read ground truths: %w", err)
			}
			return nil
		},
		func(q postgres.Querier) (err error) {
			if p.entries, err = db.New(q).Entries(ctx, db.EntriesParams{OrgID: org, Items: p.ids}); err != nil {
				return fmt.Errorf("read entries: %w", err)
			}
			return nil
		},
	}
}

// complete are items with their parts.
func (p *parts) complete(rows []db.AdjudicationItem) ([]Item, error) {
	items, at := make([]Item, len(rows)), make(map[int64]*Item, len(rows))
	for n, r := range rows {
		i, err := fromRow(r)
		if err != nil {
			return nil, err
		}
		items[n] = i
		at[i.ID] = &items[n]
	}
	for _, d := range p.decisions {
		i := at[d.ItemID]
		i.Decisions = append(i.Decisions, fromDecisionRow(d))
	}
	for _, t := range p.truths {
		i := at[t.ItemID]
		i.Truth = new(fromTruthRow(t))
		i.Truth.TestCase = i.Subject.TestCase
	}
	for _, e := range p.entries {
		at[e.ItemID].Entries = append(at[e.ItemID].Entries, fromEntryRow(e))
	}
	return items, nil
}

func fromRow(r db.AdjudicationItem) (Item, error) {
	i := Item{
		ID: r.ID, Source: Source(r.Source), Status: Status(r.Status), Priority: Priority(r.Priority), Disagreement: r.Disagreement, Title: r.Title, Question: r.Question, Context: r.Context,
		Digest: dataset.Digest(r.ContentDigest), Assignee: r.AssigneeID, AssignedAt: r.AssignedAt, DueAt: r.DueAt, Tags: r.Tags, Notes: r.Notes, Reason: r.Reason,
		CreatedBy: principal.ParseActor(r.CreatedBy), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Changes: r.Version,
	}
	if r.FailureMode != nil {
		i.FailureMode = *r.FailureMode
	}
	if r.AssignedBy != nil {
		i.AssignedBy = new(principal.ParseActor(*r.AssignedBy))
	}
	if err := json.Unmarshal(r.Subject, &i.Subject); err != nil {
		return Item{}, fmt.Errorf("read the subject of item %d: %w", r.ID, err)
	}
	if err := json.Unmarshal(r.Candidates, &i.Candidates); err != nil {
		return Item{}, fmt.Errorf("read the candidates of item %d: %w", r.ID, err)
	}
	return i, nil
}
