package change

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/change/internal/db"
	"github.com/assayhq/assay/internal/core/principal"
)

// Event is something that happened: an entry of the audit log, for whoever
// follows along.
type Event struct {
	Org        principal.OrgID
	ID         int64
	At         time.Time
	Type       string // the action of its kind, such as dataset.created
	Resource   string
	ResourceID string
	// Payload is JSON: the request, who made it and the digest of the state after.
	Payload []byte
}

// Is reports whether something of one of the kinds happened.
func (e Event) Is(kinds ...event.Type) bool {
	return slices.ContainsFunc(kinds, func(t event.Type) bool { return t.Action() == e.Type })
}

// Follower reads every event of every organization, in an order in which the
// events of one transaction are together. The replicas of a process share one
// cursor, and one of them works at a time.
type Follower struct {
	// Name is that of the cursor: a follower with a new name starts anew.
	Name string
	// FromBeginning lets a new follower start with the oldest event that is kept;
	// otherwise it starts with what is committed from now on.
	FromBeginning bool
	// Handle does what the events call for. The cursor moves when it returns nil,
	// so it may get the same events again, in other batches too. A batch that
	// fails is repeated, ever more rarely, and the follower waits for it.
	Handle func(context.Context, []Event) error
}

const (
	eventBatch    = 500
	handleTimeout = 30 * time.Second
	followerLease = time.Minute // longer than a batch may take
)

// add makes the follower's cursor, unless it has one.
func (f *Feed) add(ctx context.Context, follower Follower) error {
	err := f.reader().AddFollower(ctx, db.AddFollowerParams{Name: follower.Name, FromBeginning: follower.FromBeginning, At: f.log.now()})
	if err != nil {
		return fmt.Errorf("add follower: %w", err)
	}
	return nil
}

// once hands the follower one batch and returns its size: 0 if there is nothing
// to read, another process is reading, or the batch failed.
func (f *Feed) once(ctx context.Context, follower Follower) (int, error) {
	q, now, holder := f.reader(), f.log.now(), uuid.New()
	rows, err := q.TakeEvents(ctx, db.TakeEventsParams{Name: follower.Name, Holder: holder, Now: now, LeaseUntil: now.Add(followerLease), Batch: eventBatch})
	if err != nil {
		return 0, fmt.Errorf("take events: %w", err)
	}
	if len(rows) == 0 {
		return 0, nil
	}
	events := make([]Event, len(rows))
	for i, r := range rows {
		events[i] = Event{Org: r.OrgID, ID: r.ID, At: r.At, Type: r.Type, Resource: r.Resource, ResourceID: r.ResourceID, Payload: r.Payload}
	}
	last := rows[len(rows)-1]
	if err := handleEvents(ctx, follower, events); err != nil {
		delay := min(time.Second<<min(last.Failures+1, 10), maxDelay)
		slog.WarnContext(ctx, "events not handled", "follower", follower.Name, "events", len(events), "retry_in", delay.String(), "error", err)
		if _, err := q.PostponeFollower(ctx, db.PostponeFollowerParams{Name: follower.Name, Holder: holder, Until: f.log.now().Add(delay)}); err != nil {
			return 0, fmt.Errorf("postpone follower: %w", err)
		}
		return 0, nil
	}
	moved, err := q.MoveFollower(ctx, db.MoveFollowerParams{Name: follower.Name, Holder: holder, CursorXid: last.Xid, ID: last.ID, At: f.log.now()})
	if err != nil {
		return 0, fmt.Errorf("move follower: %w", err)
	}
	if moved == 0 {
		slog.WarnContext(ctx, "events handled after the lease had ended, and again by another process", "follower", follower.Name)
	}
	return len(events), nil
}

// handleEvents hands a batch over within its time. A handler that panics has
// failed; the feed goes on.
func handleEvents(ctx context.Context, follower Follower, events []Event) (err error) {
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return follower.Handle(ctx, events)
}
