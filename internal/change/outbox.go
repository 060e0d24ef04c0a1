package change

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/change/internal/db"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Message is work that a change has promised.
type Message struct {
	Org      principal.OrgID
	Topic    string
	Subject  string
	Payload  []byte
	Attempts int
}

// Handler does the promised work, or hands it to the engine that will. It may
// be called again with the same message, so it must be repeatable.
type Handler func(context.Context, Message) error

// PublishTx promises work in the transaction of the change that needs it: if
// the change commits, the topic's handler is called until it succeeds.
func (l *Log) PublishTx(ctx context.Context, tx postgres.Tx, topic, subject string, payload any) error {
	err := l.PublishLaterTx(ctx, tx, 0, topic, subject, payload)
	if err == nil {
		tx.AfterCommit(func() { l.bell.ring(topic) })
	}
	return err
}

// PublishLaterTx promises work that the caller intends to do itself after the
// commit: the topic's handler is called after the delay and finds it done, or
// does it.
func (l *Log) PublishLaterTx(ctx context.Context, tx postgres.Tx, delay time.Duration, topic, subject string, payload any) error {
	encoded, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("encode %s: %w", topic, err)
	}
	now := l.now()
	err = db.New(tx.Later()).Publish(ctx, db.PublishParams{OrgID: tx.Org, Topic: topic, Subject: subject, Payload: encoded, DueAt: now.Add(delay), CreatedAt: now})
	if err != nil {
		return fmt.Errorf("publish %s: %w", topic, err)
	}
	return nil
}

// WithdrawTx takes back what a topic promised for a subject until a moment. A
// handler that is at work on it finishes.
func (l *Log) WithdrawTx(ctx context.Context, tx postgres.Tx, topic, subject string, until time.Time) error {
	if err := db.New(tx.Later()).Withdraw(ctx, db.WithdrawParams{OrgID: tx.Org, Topic: topic, Subject: subject, Until: until}); err != nil {
		return fmt.Errorf("withdraw %s: %w", topic, err)
	}
	return nil
}

const (
	lease     = time.Minute // longer than a whole batch of hand-overs may take
	batch     = 20
	handOver  = 2500 * time.Millisecond
	pollEvery = 500 * time.Millisecond
	// sweepBatch is the limit in the statement SweepKeys.
	sweepBatch = 10_000
	sweepEach  = 10 * time.Minute
	maxDelay   = 5 * time.Minute
)

// Dispatcher hands promised work to its handlers. Any number may run: each
// message is leased to one of them at a time.
type Dispatcher struct {
	log    *Log
	groups []group
}

// group is topics that are dispatched one after another.
type group struct {
	log      *Log
	handlers map[string]Handler
	topics   []string
}

// NewDispatcher makes a dispatcher for groups of topics, such as those of one
// domain each. A handler that is slow delays its own group and no other.
// Messages of other topics wait for a dispatcher that serves them.
func (l *Log) NewDispatcher(groups ...map[string]Handler) *Dispatcher {
	d := &Dispatcher{log: l}
	for _, handlers := range groups {
		d.groups = append(d.groups, group{log: l, handlers: handlers, topics: slices.Sorted(maps.Keys(handlers))})
	}
	return d
}

// Run dispatches until ctx ends, and forgets idempotency keys whose day is
// over. What this process promised is dispatched at once; what others promised
// and left, within a moment. While the database is away it waits.
func (d *Dispatcher) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	defer loops.Wait()
	for _, g := range d.groups {
		loops.Go(func() { g.run(ctx) })
	}
	sweep := time.NewTicker(sweepEach)
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-sweep.C:
			d.sweep(ctx)
		}
	}
}

// Once dispatches what is due now, group by group, and returns how many
// messages it took.
func (d *Dispatcher) Once(ctx context.Context) (int, error) {
	took := 0
	for _, g := range d.groups {
		n, err := g.once(ctx)
		if took += n; err != nil {
			return took, err
		}
	}
	return took, nil
}

// run dispatches the group's messages until ctx ends.
func (g group) run(ctx context.Context) {
	promised, end := g.log.bell.listen(g.topics...)
	defer end()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-promised:
			g.drain(ctx)
		case <-poll.C:
			g.drain(ctx)
		}
	}
}

// drain dispatches everything of the group that is due.
func (g group) drain(ctx context.Context) {
	for {
		n, err := g.once(ctx)
		if err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "outbox not read", "topics", g.topics, "error", err)
		}
		if n < batch || err != nil {
			return
		}
	}
}

// sweep forgets every key whose day is over, a batch at a time.
func (d *Dispatcher) sweep(ctx context.Context) {
	for ctx.Err() == nil {
		n, err := d.log.Sweep(ctx)
		if err != nil {
			slog.WarnContext(ctx, "idempotency keys not swept", "error", err)
		}
		if err != nil || n < sweepBatch {
			return
		}
	}
}

// once dispatches a batch of what is due now and returns how many messages it
// took.
func (g group) once(ctx context.Context) (int, error) {
	q := db.New(g.log.db.Claim("app.sweep", "outbox"))
	now := g.log.now()
	rows, err := q.TakeDue(ctx, db.TakeDueParams{Now: now, LeaseUntil: now.Add(lease), Batch: batch, Topics: g.topics})
	if err != nil {
		return 0, fmt.Errorf("take due messages: %w", err)
	}
	for _, r := range rows {
		m := Message{Org: r.OrgID, Topic: r.Topic, Subject: r.Subject, Payload: r.Payload, Attempts: int(r.Attempts)}
		if err := g.handle(ctx, m); err != nil {
			delay := min(time.Second<<min(m.Attempts, 10), maxDelay)
			slog.WarnContext(ctx, "message not handed over", "topic", m.Topic, "org_id", m.Org, "attempt", m.Attempts, "retry_in", delay.String(), "error", err)
			if err := q.Postpone(ctx, db.PostponeParams{OrgID: r.OrgID, ID: r.ID, DueAt: g.log.now().Add(delay)}); err != nil {
				return len(rows), fmt.Errorf("postpone message: %w", err)
			}
			continue
		}
		if err := q.Done(ctx, db.DoneParams{OrgID: r.OrgID, ID: r.ID}); err != nil {
			return len(rows), fmt.Errorf("finish message: %w", err)
		}
	}
	return len(rows), nil
}

// handle hands one message over within its time. A handler that panics has
// failed; the dispatcher goes on.
func (g group) handle(ctx context.Context, m Message) (err error) {
	ctx, cancel := context.WithTimeout(ctx, handOver)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return g.handlers[m.Topic](ctx, m)
}

// Sweep forgets idempotency keys that are older than a day and returns how
// many it forgot.
func (l *Log) Sweep(ctx context.Context) (int64, error) {
	return db.New(l.db.Claim("app.sweep", "idempotency_keys")).SweepKeys(ctx, l.now().Add(-Remembered))
}
