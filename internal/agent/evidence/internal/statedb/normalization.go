package statedb

import (
	"context"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/internal/db"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Normalization is stored events that are read again.
type Normalization struct {
	ID     int64
	Events string // which ones
	State  string // running or completed
	// Position is the last event that was read.
	Position int64
	// Read are events, Changed those of which something is known now that was not
	// before, and Refused those that their format refuses now.
	Read, Changed, Refused int64
	CreatedAt, UpdatedAt   time.Time
	CompletedAt            *time.Time
}

// InsertNormalizationTx makes a normalization, and reports false if one is under way: then
// it is that one.
func (s DB) InsertNormalizationTx(ctx context.Context, tx postgres.Tx, events string, by principal.Actor, at time.Time) (n Normalization, made bool, err error) {
	q := db.New(tx)
	r, err := q.InsertNormalization(ctx, db.InsertNormalizationParams{OrgID: tx.Org, Events: events, Actor: by.String(), CreatedAt: at})
	for made = !postgres.NoRows(err); !made; made = !postgres.NoRows(err) {
		if r, err = q.FindRunningNormalization(ctx, tx.Org); !postgres.NoRows(err) {
			break
		}
		// It has ended since.
		r, err = q.InsertNormalization(ctx, db.InsertNormalizationParams{OrgID: tx.Org, Events: events, Actor: by.String(), CreatedAt: at})
	}
	if err != nil {
		return Normalization{}, false, fmt.Errorf("insert normalization: %w", err)
	}
	return toNormalization(r), made, nil
}

// Normalization returns one.
func (s DB) Normalization(ctx context.Context, org principal.OrgID, id int64) (Normalization, error) {
	r, err := db.New(s.db.Org(org)).FindNormalization(ctx, db.FindNormalizationParams{OrgID: org, ID: id})
	if postgres.NoRows(err) {
		return Normalization{}, record.ErrNoNormalization
	}
	if err != nil {
		return Normalization{}, fmt.Errorf("find normalization: %w", err)
	}
	return toNormalization(r), nil
}

// MoveNormalization notes how far a normalization is, if it is where it was.
func (s DB) MoveNormalization(ctx context.Context, org principal.OrgID, n Normalization, before int64) error {
	err := db.New(s.db.Org(org)).MoveNormalization(ctx, db.MoveNormalizationParams{
		OrgID: org, ID: n.ID, Position: n.Position, Read: n.Read, Changed: n.Changed, Refused: n.Refused, UpdatedAt: n.UpdatedAt, Before: before,
	})
	if err != nil {
		return fmt.Errorf("move normalization: %w", err)
	}
	return nil
}

// EndNormalization notes that all events were read.
func (s DB) EndNormalization(ctx context.Context, org principal.OrgID, id int64, at time.Time) error {
	if err := db.New(s.db.Org(org)).EndNormalization(ctx, db.EndNormalizationParams{OrgID: org, ID: id, CompletedAt: &at}); err != nil {
		return fmt.Errorf("end normalization: %w", err)
	}
	return nil
}

func toNormalization(r db.EvidenceNormalization) Normalization {
	return Normalization{
		ID: r.ID, Events: r.Events, State: r.State, Position: r.Position, Read: r.Read, Changed: r.Changed, Refused: r.Refused,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, CompletedAt: r.CompletedAt,
	}
}
