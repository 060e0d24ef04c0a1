package change

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change/internal/db"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
)

const (
	// lanes is for how many organizations a group works at the same time.
	lanes = 8
	// turn is how many messages of a topic an organization gets handed over before the
	// next organization has its turn.
	turn = 4
)

// group is topics whose messages are handed over together. Organizations take turns, each
// with a lane of its own, so nobody waits for the many messages of another.
type group struct {
	log      *Log
	budget   *admission.Budget
	handlers map[string]Handler
	topics   []string

	lanes sync.WaitGroup
	ended chan struct{} // has a value after a lane has ended that others may have waited for

	mu     sync.Mutex
	busy   map[principal.OrgID]bool // has a lane
	after  uuid.UUID                // the organization that had the last turn
	missed bool                     // messages may have been passed over because of a lane
}

func newGroup(l *Log, budget *admission.Budget, handlers map[string]Handler) *group {
	return &group{
		log: l, budget: budget, handlers: handlers, topics: slices.Sorted(maps.Keys(handlers)),
		ended: make(chan struct{}, 1), busy: map[principal.OrgID]bool{},
	}
}

// run dispatches the group's messages until ctx ends, and its lanes with it.
func (g *group) run(ctx context.Context) {
	defer g.lanes.Wait()
	promised, end := g.log.bell.listen(g.topics...)
	defer end()
	every := pollEvery
	poll := time.NewTimer(every)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-promised:
		case <-g.ended:
		case <-poll.C:
		}
		_, err := g.fill(ctx)
		if ctx.Err() != nil {
			return
		}
		every = pollEvery
		if err != nil {
			slog.WarnContext(ctx, "outbox not read", "topics", g.topics, "error", err)
			every = pollAway
		}
		poll.Reset(every)
	}
}

// fill gives lanes to organizations that have something due, until all lanes are taken
// or nobody is left, and returns how many messages these have.
func (g *group) fill(ctx context.Context) (took int, err error) {
	for {
		n, more, err := g.take(ctx)
		if took += n; err != nil || !more {
			return took, err
		}
	}
}

// take leases messages of the organizations whose turn it is and begins to hand them
// over. It reports whether somebody may be waiting for a lane that is free.
func (g *group) take(ctx context.Context) (took int, more bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	free := lanes - len(g.busy)
	g.missed = g.missed || len(g.busy) > 0
	if free == 0 {
		return 0, false, nil
	}
	busy := make([]uuid.UUID, 0, lanes)
	for org := range g.busy {
		busy = append(busy, uuid.UUID(org))
	}
	now := g.log.now()
	// How many rows a topic has changes too much for one plan.
	rows, err := db.New(g.log.db.Claim("app.sweep", "outbox").Search()).TakeDue(ctx, db.TakeDueParams{
		Topics: g.topics, After: g.after, Busy: busy, Orgs: int32(free), Each: turn, Now: now, LeaseUntil: now.Add(lease),
	})
	if err != nil {
		return 0, false, fmt.Errorf("take due messages: %w", err)
	}
	byOrg := map[principal.OrgID][]db.TakeDueRow{}
	for _, r := range rows {
		byOrg[r.OrgID] = append(byOrg[r.OrgID], r)
	}
	begun := g.after == uuid.UUID{}
	g.after = uuid.UUID{} // the line ends here, unless every lane is taken
	for org, mine := range byOrg {
		if len(byOrg) == free && bytes.Compare(org[:], g.after[:]) > 0 {
			g.after = uuid.UUID(org)
		}
		slices.SortFunc(mine, func(a, b db.TakeDueRow) int { return cmp.Compare(a.ID, b.ID) })
		g.busy[org] = true
		g.missed = g.missed || len(mine) >= turn // it may have more
		g.lanes.Go(func() { g.handOver(ctx, org, mine) })
	}
	g.missed = g.missed || len(byOrg) == free // there may be more organizations than lanes
	return len(rows), !begun && len(byOrg) < free, nil
}

// handOver hands over the messages of one organization, one after another. What it does
// not come to within the lease comes back.
func (g *group) handOver(ctx context.Context, org principal.OrgID, rows []db.TakeDueRow) {
	defer g.leave(org)
	account := g.budget.Activity(org)
	defer account.Close()
	ctx = admission.With(ctx, account)
	for began := g.log.now(); len(rows) > 0 && ctx.Err() == nil && g.log.now().Sub(began) < lease-2*handOver; rows = rows[1:] {
		r := rows[0]
		err := g.handle(ctx, Message{Org: org, Topic: r.Topic, Subject: r.Subject, Payload: r.Payload, Attempts: int(r.Attempts)})
		if err != nil && ctx.Err() != nil {
			break // the process ends
		}
		if err := g.conclude(ctx, r, err); err != nil { // the lease ends, and it is handed over again
			slog.WarnContext(ctx, "outbox not written", "topic", r.Topic, "error", err)
			return
		}
	}
	if err := g.giveBack(ctx, org, rows); err != nil {
		slog.WarnContext(ctx, "outbox not written", "error", err)
	}
}

// conclude writes down how a message was handed over, also while the process ends.
func (g *group) conclude(ctx context.Context, r db.TakeDueRow, failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handOver)
	defer cancel()
	if failed == nil {
		return g.outbox().Done(ctx, db.DoneParams{OrgID: r.OrgID, ID: r.ID})
	}
	delay := delayed(int(r.Attempts))
	slog.WarnContext(ctx, "message not handed over", "topic", r.Topic, "org_id", r.OrgID, "attempt", r.Attempts, "retry_in", delay.String(), "error", failed)
	return g.outbox().Postpone(ctx, db.PostponeParams{OrgID: r.OrgID, ID: r.ID, DueAt: g.log.now().Add(delay)})
}

// giveBack ends the leases of messages that no handler was called for.
func (g *group) giveBack(ctx context.Context, org principal.OrgID, rows []db.TakeDueRow) error {
	if len(rows) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handOver)
	defer cancel()
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return g.outbox().GiveBack(ctx, db.GiveBackParams{OrgID: org, Ids: ids, Now: g.log.now()})
}

// leave ends a lane, and has the group look again for what was skipped because of it.
func (g *group) leave(org principal.OrgID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.busy, org)
	if g.missed {
		select {
		case g.ended <- struct{}{}:
		default: // it is awake already
		}
	}
	g.missed = g.missed && len(g.busy) > 0
}

// delayed is how long a message waits that has failed some times. One that always fails
// must not keep its organization's other messages waiting.
func delayed(attempts int) time.Duration {
	if attempts >= stuckAfter {
		return stuckDelay
	}
	return min(time.Second<<min(attempts, 10), maxDelay)
}

// handle hands one message over within its time. A handler that panics has
// failed; the dispatcher goes on.
func (g *group) handle(ctx context.Context, m Message) (err error) {
	ctx, cancel := context.WithTimeout(ctx, handOver)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return g.handlers[m.Topic](ctx, m)
}

func (g *group) outbox() *db.Queries { return db.New(g.log.db.Claim("app.sweep", "outbox")) }
