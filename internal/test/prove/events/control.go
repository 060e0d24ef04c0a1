package events

import (
	"context"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// plainCursor is the control: it reads what a follower reads, in the order of
// ids, and moves past the highest. An event that commits after one with a higher
// id was read is skipped.
type plainCursor struct {
	pg   *postgres.DB
	stop context.CancelFunc

	mu   sync.Mutex
	last int64
	seen map[string]int
}

func follow(ctx context.Context, pg *postgres.DB) *plainCursor {
	c := &plainCursor{pg: pg, seen: map[string]int{}}
	ctx, c.stop = context.WithCancel(ctx)
	go func() {
		for ctx.Err() == nil {
			_, _ = c.once(ctx) // the database is away now and then
			_ = rig.Sleep(ctx, 20*time.Millisecond)
		}
	}()
	return c
}

// once reads a batch and returns its size.
func (c *plainCursor) once(ctx context.Context) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows, err := c.pg.Claim("app.sweep", "events").Query(ctx, "SELECT id, resource_id FROM events WHERE id > $1 ORDER BY id LIMIT 500", c.last)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for ; rows.Next(); n++ {
		var id string
		if err := rows.Scan(&c.last, &id); err != nil {
			return n, err
		}
		c.seen[id]++
	}
	return n, rows.Err()
}

// skipped reads to the end and counts what was never seen.
func (c *plainCursor) skipped(ctx context.Context, stored map[string]int) (int, error) {
	c.stop()
	for {
		n, err := c.once(ctx)
		if err != nil {
			return 0, err
		}
		if n == 0 {
			return missing(stored, c.seen), nil
		}
	}
}
