package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// kind is what a mutation does, as its command says.
type kind string

const (
	hiding   kind = "_row_exists"
	dropping kind = "APPLY DELETED MASK"
)

// mutate changes one partition of a shard and waits until every server has done
// it, however long that takes. A change of the same kind that is under way there
// is waited for first: whoever gave up on it comes back for it, and there is
// never more than one.
func (e Eraser) mutate(ctx context.Context, of shard, k kind, table, partition, text string, args []any) error {
	if err := e.await(ctx, of, k, table, partition); err != nil {
		return err
	}
	at := clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"mutations_sync": 0, "lightweight_deletes_sync": 0}))
	if err := of[0].Exec(at, text, args...); err != nil {
		return fmt.Errorf("change %s: %w", table, Translate(err))
	}
	return e.await(ctx, of, k, table, partition)
}

// Pauses between two looks at a mutation.
const (
	awaitFirst = 5 * time.Millisecond
	awaitMost  = time.Second
)

// await waits for the mutations of a partition that are under way now, on every
// server of the shard.
func (e Eraser) await(ctx context.Context, of shard, k kind, table, partition string) error {
	for _, conn := range of {
		var ids []string
		for pause := awaitFirst; ; pause = min(2*pause, awaitMost) {
			left, err := e.underWay(ctx, conn, k, table, partition, ids)
			if err != nil {
				return fmt.Errorf("wait for a change of %s: %w", table, err)
			}
			if len(left) == 0 {
				break
			}
			ids = left
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(pause):
			}
		}
	}
	return nil
}

// underWay are mutations that are not done: of those given, if any are.
func (e Eraser) underWay(ctx context.Context, conn driver.Conn, k kind, table, partition string, of []string) (ids []string, err error) {
	text := "SELECT mutation_id, latest_fail_reason FROM system.mutations WHERE database = currentDatabase() AND table = ? AND NOT is_done AND position(command, ?) > 0 AND position(command, ?) > 0"
	args := []any{e.local(table), string(k), "PARTITION ID '" + partition + "'"}
	if len(of) > 0 {
		text, args = text+" AND mutation_id IN (?)", append(args, of)
	}
	err = each(ctx, conn, func(rows driver.Rows) error {
		var id, failed string
		if err := rows.Scan(&id, &failed); err != nil {
			return err
		}
		if failed != "" {
			return fmt.Errorf("mutation %s fails, and is tried again by the server: %s", id, failed)
		}
		ids = append(ids, id)
		return nil
	}, text, args...)
	return ids, err
}
