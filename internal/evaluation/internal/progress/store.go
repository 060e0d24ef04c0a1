package progress

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/internal/db"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Store keeps how far runs are.
type Store struct {
	DB *postgres.DB
}

// Note is something that happened in a run, in words.
type Note struct {
	At      time.Time
	Level   string
	Message string
}

// PutNote stores a note, unless the run has one on the subject.
func (s Store) PutNote(ctx context.Context, org principal.OrgID, run int64, subject string, n Note) error {
	err := db.New(s.DB.Org(org)).PutNote(ctx, db.PutNoteParams{OrgID: org, RunID: run, Subject: subject, At: n.At, Level: n.Level, Message: n.Message})
	return postgres.Wrap(err, "put note")
}

// Notes reads the newest notes of a run, newest first.
func (s Store) Notes(ctx context.Context, org principal.OrgID, run int64, limit int) ([]Note, error) {
	rows, err := db.New(s.DB.Org(org)).Notes(ctx, db.NotesParams{OrgID: org, RunID: run, RowLimit: int32(limit)})
	if err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	all := make([]Note, len(rows))
	for i, r := range rows {
		all[i] = Note{At: r.At, Level: r.Level, Message: r.Message}
	}
	return all, nil
}

// PutChunk stores how far a chunk is.
func (s Store) PutChunk(ctx context.Context, org principal.OrgID, run int64, chunk int, c result.Count, at time.Time) error {
	err := db.New(s.DB.Org(org)).PutChunk(ctx, db.PutChunkParams{
		OrgID: org, RunID: run, Chunk: int32(chunk), Size: int32(c.Size), Done: int32(c.Done), Passed: int32(c.Passed), Failed: int32(c.Failed),
		Errored: int32(c.Errored), Skipped: int32(c.Skipped), CostNanoUsd: c.CostNanoUSD, UpdatedAt: at,
	})
	return postgres.Wrap(err, "put chunk")
}

// Chunks reads how far each chunk of a run is, in their order.
func (s Store) Chunks(ctx context.Context, org principal.OrgID, run int64) ([]result.Count, error) {
	rows, err := db.New(s.DB.Org(org)).Chunks(ctx, db.ChunksParams{OrgID: org, RunID: run})
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

// Deaths reads how many workers have died while they scored a unit of a chunk.
func (s Store) Deaths(ctx context.Context, org principal.OrgID, run int64, chunk int) (map[string]int, error) {
	text, err := db.New(s.DB.Org(org)).ChunkDeaths(ctx, db.ChunkDeathsParams{OrgID: org, RunID: run, Chunk: int32(chunk)})
	if postgres.NoRows(err) {
		return map[string]int{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read deaths: %w", err)
	}
	all := map[string]int{}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("decode deaths: %w", err)
	}
	return all, nil
}

// PutDeaths stores them.
func (s Store) PutDeaths(ctx context.Context, org principal.OrgID, run int64, chunk, size int, deaths map[string]int, at time.Time) error {
	text, err := json.Marshal(deaths, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode deaths: %w", err)
	}
	err = db.New(s.DB.Org(org)).PutChunkDeaths(ctx, db.PutChunkDeathsParams{
		OrgID: org, RunID: run, Chunk: int32(chunk), Size: int32(size), UpdatedAt: at, Deaths: text,
	})
	return postgres.Wrap(err, "put deaths")
}
