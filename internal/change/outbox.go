package change

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/change/internal/db"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
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
	lease     = time.Minute // longer than a lane may take
	handOver  = 2500 * time.Millisecond
	pollEvery = 500 * time.Millisecond
	pollAway  = 2 * time.Second // while the database is away
	// sweepBatch is the limit in the statement SweepKeys.
	sweepBatch = 10_000
	sweepEach  = 10 * time.Minute
	maxDelay   = 5 * time.Minute
	// A message that has failed so often is tried every hour.
	stuckAfter, stuckDelay = 20, time.Hour
)

// Dispatcher hands promised work to its handlers. Any number may run: each
// message is leased to one of them at a time.
type Dispatcher struct {
	log    *Log
	groups []*group
}

// NewDispatcher makes a dispatcher for groups of topics, such as those of one
// domain each. A handler that is slow delays its own group and no other, and in
// its group the organization of the message, unless those of eight organizations are slow.
// Messages of other topics wait for a dispatcher that serves them.
// What a handler uses is bounded by the budget as activities are.
func (l *Log) NewDispatcher(budget *admission.Budget, groups ...map[string]Handler) *Dispatcher {
	d := &Dispatcher{log: l}
	for _, handlers := range groups {
		d.groups = append(d.groups, newGroup(l, budget, handlers))
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
		g = newGroup(d.log, g.budget, g.handlers) // with lanes of its own, beside those of Run
		for {
			n, err := g.fill(ctx)
			g.lanes.Wait()
			if took += n; err != nil {
				return took, err
			}
			if n == 0 {
				break
			}
		}
	}
	return took, nil
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

// Sweep forgets idempotency keys that are older than a day and returns how
// many it forgot.
func (l *Log) Sweep(ctx context.Context) (int64, error) {
	return db.New(l.db.Claim("app.sweep", "idempotency_keys")).SweepKeys(ctx, l.now().Add(-Remembered))
}
