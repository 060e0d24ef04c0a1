package change

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/assayhq/assay/internal/change/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Feed brings events to followers and keeps the partitions of events and of the
// audit log.
type Feed struct {
	log       *Log
	keep      time.Duration
	followers []Follower
}

// NewFeed makes a feed for the given followers.
func (l *Log) NewFeed(cfg Config, followers ...Follower) *Feed {
	return &Feed{log: l, keep: cfg.Keep, followers: followers}
}

const (
	// maintainEvery is much shorter than the time for which partitions are made
	// ahead, so that many attempts may fail.
	maintainEvery = 10 * time.Minute
	measureEvery  = 15 * time.Second
)

// Run feeds every follower until ctx ends. What this process commits is handed
// over at once if no older transaction is running, everything else within a
// moment. While the database is away it waits.
func (f *Feed) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	defer loops.Wait()
	for _, follower := range f.followers {
		loops.Go(func() { f.follow(ctx, follower) })
	}
	maintain, measure := time.NewTicker(maintainEvery), time.NewTicker(measureEvery)
	defer maintain.Stop()
	defer measure.Stop()
	f.maintain(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-maintain.C:
			f.maintain(ctx)
		case <-measure.C:
			f.measure(ctx)
		}
	}
}

// follow feeds one follower until ctx ends.
func (f *Feed) follow(ctx context.Context, follower Follower) {
	committed, end := f.log.bell.listen(onEvent)
	defer end()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for added := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-committed:
		case <-poll.C:
		}
		err := error(nil)
		if !added {
			err = f.add(ctx, follower)
			added = err == nil
		}
		for err == nil && ctx.Err() == nil {
			var n int
			if n, err = f.once(ctx, follower); n == 0 {
				break
			}
		}
		if err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "events not read", "follower", follower.Name, "error", err)
		}
	}
}

// Once hands every follower one batch and returns how many events it handed
// over in all.
func (f *Feed) Once(ctx context.Context) (int, error) {
	total := 0
	for _, follower := range f.followers {
		if err := f.add(ctx, follower); err != nil {
			return total, err
		}
		n, err := f.once(ctx, follower)
		if total += n; err != nil {
			return total, err
		}
	}
	return total, nil
}

// reader sees events and followers, of every organization.
func (f *Feed) reader() *db.Queries { return db.New(claimEvents(f.log.db)) }

func claimEvents(pg *postgres.DB) postgres.Handle { return pg.Claim("app.sweep", "events") }

// Maintain makes the partitions of the time ahead, drops those of events that
// are no longer kept, and puts the events of a restored database in order.
func (f *Feed) Maintain(ctx context.Context) error {
	q, now := f.reader(), f.log.now()
	rebased, err := q.RebaseEvents(ctx)
	if err != nil {
		return fmt.Errorf("put events in order: %w", err)
	}
	if rebased > 0 {
		slog.WarnContext(ctx, "the database was restored into another cluster, and followers see some events again", "events", rebased)
	}
	for _, parent := range []string{"audit_logs", "events"} {
		if _, err := q.KeepPartitions(ctx, db.KeepPartitionsParams{Parent: parent, Now: now}); err != nil {
			return fmt.Errorf("make partitions of %s: %w", parent, err)
		}
	}
	dropped, err := q.DropEvents(ctx, now.Add(-f.keep))
	if err != nil {
		return fmt.Errorf("drop events: %w", err)
	}
	if dropped > 0 {
		slog.InfoContext(ctx, "events dropped", "weeks", dropped)
	}
	return nil
}

func (f *Feed) maintain(ctx context.Context) {
	if err := f.Maintain(ctx); err != nil && ctx.Err() == nil {
		slog.WarnContext(ctx, "partitions not maintained", "retry_in", maintainEvery.String(), "error", err)
	}
}

var (
	meter  = otel.Meter("github.com/assayhq/assay/internal/change")
	lag, _ = meter.Float64Gauge("assay.follower.lag", metric.WithUnit("s"), metric.WithDescription("Age of the oldest event that a follower has not handled."))
)

// measure records how far behind each follower is.
func (f *Feed) measure(ctx context.Context) {
	for _, follower := range f.followers {
		behind, err := f.Lag(ctx, follower.Name)
		if err != nil {
			if ctx.Err() == nil {
				slog.WarnContext(ctx, "lag not measured", "follower", follower.Name, "error", err)
			}
			continue
		}
		lag.Record(ctx, behind.Seconds(), metric.WithAttributes(attribute.String("follower", follower.Name)))
	}
}

// Lag is the age of the oldest event that a follower has not handled.
func (f *Feed) Lag(ctx context.Context, follower string) (time.Duration, error) {
	seconds, err := f.reader().Lag(ctx, db.LagParams{Name: follower, Now: f.log.now()})
	if err != nil && !postgres.NoRows(err) {
		return 0, fmt.Errorf("measure lag: %w", err)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
