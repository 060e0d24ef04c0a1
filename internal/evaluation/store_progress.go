package evaluation

import (
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/evaluation/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/result"
)

// pageItems is how many items a row of a run's order has.
const pageItems = 1000

func (s store) putItemsTx(ctx context.Context, tx postgres.Tx, run int64, items []int64) error {
	q := db.New(tx)
	for page := 0; page*pageItems < len(items); page++ {
		part := items[page*pageItems : min(len(items), (page+1)*pageItems)]
		if err := q.PutRunItems(ctx, db.PutRunItemsParams{OrgID: tx.Org, RunID: run, Page: int32(page), Items: part}); err != nil {
			return fmt.Errorf("put items of run: %w", err)
		}
	}
	return nil
}

// items reads a stretch of a run's order.
func (s store) items(ctx context.Context, org principal.OrgID, run int64, from, to int) ([]int64, error) {
	first := from / pageItems
	rows, err := db.New(s.db.Org(org)).RunItems(ctx, db.RunItemsParams{OrgID: org, RunID: run, First: int32(first), Last: int32((to - 1) / pageItems)})
	if err != nil {
		return nil, fmt.Errorf("read items of run: %w", err)
	}
	var all []int64
	for _, r := range rows {
		all = append(all, r.Items...)
	}
	from, to = from-first*pageItems, to-first*pageItems
	if to > len(all) {
		return nil, fmt.Errorf("run %d has no items %d to %d", run, from, to)
	}
	return all[from:to], nil
}

func (s store) putChunk(ctx context.Context, org principal.OrgID, run int64, chunk int, c result.Count, at time.Time) error {
	err := db.New(s.db.Org(org)).PutChunk(ctx, db.PutChunkParams{
		OrgID: org, RunID: run, Chunk: int32(chunk), Size: int32(c.Size), Done: int32(c.Done), Passed: int32(c.Passed), Failed: int32(c.Failed),
		Errored: int32(c.Errored), Skipped: int32(c.Skipped), CostNanoUsd: c.CostNanoUSD, UpdatedAt: at,
	})
	if err != nil {
		return fmt.Errorf("put chunk: %w", err)
	}
	return nil
}

// chunks reads how far each chunk of a run is, in their order.
func (s store) chunks(ctx context.Context, org principal.OrgID, run int64) ([]result.Count, error) {
	rows, err := db.New(s.db.Org(org)).Chunks(ctx, db.ChunksParams{OrgID: org, RunID: run})
	if err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	all := make([]result.Count, len(rows))
	for i, r := range rows {
		all[i] = result.Count{
			Chunk: int(r.Chunk), Size: int(r.Size), Done: int(r.Done), Passed: int(r.Passed), Failed: int(r.Failed), Errored: int(r.Errored), Skipped: int(r.Skipped),
			CostNanoUSD: r.CostNanoUsd, UpdatedAt: r.UpdatedAt,
		}
	}
	return all, nil
}

// deaths reads how many workers have died while they scored a unit of a chunk.
func (s store) deaths(ctx context.Context, org principal.OrgID, run int64, chunk int) (map[string]int, error) {
	text, err := db.New(s.db.Org(org)).ChunkDeaths(ctx, db.ChunkDeathsParams{OrgID: org, RunID: run, Chunk: int32(chunk)})
	if postgres.NoRows(err) {
		return map[string]int{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read deaths: %w", err)
	}
	all, err := decode[map[string]int](text)
	if err != nil || all == nil {
		return map[string]int{}, err
	}
	return *all, nil
}

func (s store) putDeaths(ctx context.Context, org principal.OrgID, run int64, chunk, size int, deaths map[string]int, at time.Time) error {
	err := db.New(s.db.Org(org)).PutChunkDeaths(ctx, db.PutChunkDeathsParams{
		OrgID: org, RunID: run, Chunk: int32(chunk), Size: int32(size), UpdatedAt: at, Deaths: encode(deaths),
	})
	if err != nil {
		return fmt.Errorf("put deaths: %w", err)
	}
	return nil
}

// look tells whether a run still runs, and what its other chunks have cost if it
// has a budget.
func (s store) look(ctx context.Context, org principal.OrgID, r Run, chunk int) (running bool, spent int64, err error) {
	found, err := db.New(s.db.Org(org)).LookAtRun(ctx, db.LookAtRunParams{OrgID: org, RunID: r.ID, Chunk: int32(chunk), Budgeted: r.Request.BudgetUSD != nil})
	if postgres.NoRows(err) {
		return false, 0, ErrRunNotFound
	}
	if err != nil {
		return false, 0, fmt.Errorf("look at run: %w", err)
	}
	return Status(found.Status) == StatusRunning, found.Spent, nil
}

// Note is something that happened in a run, in words.
type Note struct {
	At      time.Time
	Level   string
	Message string
}

func (s store) putNote(ctx context.Context, org principal.OrgID, run int64, subject string, n Note) error {
	err := db.New(s.db.Org(org)).PutNote(ctx, db.PutNoteParams{OrgID: org, RunID: run, Subject: subject, At: n.At, Level: n.Level, Message: n.Message})
	if err != nil {
		return fmt.Errorf("put note: %w", err)
	}
	return nil
}

func (s store) notes(ctx context.Context, org principal.OrgID, run int64, limit int) ([]Note, error) {
	rows, err := db.New(s.db.Org(org)).Notes(ctx, db.NotesParams{OrgID: org, RunID: run, RowLimit: int32(limit)})
	if err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	all := make([]Note, len(rows))
	for i, r := range rows {
		all[i] = Note{At: r.At, Level: r.Level, Message: r.Message}
	}
	return all, nil
}
