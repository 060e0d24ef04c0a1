package erasure

import (
	"context"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// search looks for words in everything that the engines and the application
// have written.
func (s *system) search(ctx context.Context, words ...string) (rig.Finds, error) {
	f := rig.Finds{}
	if err := s.settleClickHouse(ctx); err != nil {
		return nil, err
	}
	if err := s.SearchPostgres(ctx, words, f); err != nil {
		return nil, err
	}
	if err := s.searchRedis(ctx, words, f); err != nil {
		return nil, err
	}
	return f, s.SearchFiles(words, f)
}

func (s *system) searchRedis(ctx context.Context, words []string, f rig.Finds) error {
	opts, err := redis.ParseURL(s.Engine["ASSAY_REDIS_URL"])
	if err != nil {
		return err
	}
	c := redis.NewClient(opts)
	defer func() { _ = c.Close() }()
	keys := c.Scan(ctx, 0, "*", 1000).Iterator()
	for keys.Next(ctx) {
		value, err := c.Dump(ctx, keys.Val()).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		for _, w := range words {
			f["redis keys"] += strings.Count(keys.Val()+" "+value, w)
		}
	}
	return keys.Err()
}

// settleClickHouse waits until the parts that were replaced are gone from the
// disks.
func (s *system) settleClickHouse(ctx context.Context) error {
	for _, name := range s.shards {
		ch, err := clickhouse.Connect(secret.Text(s.Engine[name]))
		if err != nil {
			return err
		}
		defer func() { _ = ch.Close() }()
		err = s.await(ctx, "ClickHouse deletes replaced parts", func() (bool, error) {
			var left uint64
			err := ch.QueryRow(ctx, "SELECT count() FROM system.parts WHERE NOT active AND database LIKE 'assay%'").Scan(&left)
			return left == 0, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
