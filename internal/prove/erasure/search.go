package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/klauspost/compress/zstd"
	"github.com/redis/go-redis/v9"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
)

// finds are how often a word was found, by store and place.
type finds map[string]int

func (f finds) sum() (n int) {
	for _, found := range f {
		n += found
	}
	return n
}

// in counts what was found in a store.
func (f finds) in(store string) (n int) {
	for place, found := range f {
		if strings.HasPrefix(place, store+" ") {
			n += found
		}
	}
	return n
}

// search looks for a word in everything that the engines and the application
// have written. Tables of PostgreSQL are rewritten first, because they keep the
// bytes of deleted rows until then, and so are its statistics, which quote
// frequent values.
func (s *system) search(ctx context.Context, word string) (finds, error) {
	f := finds{}
	if err := s.settleClickHouse(ctx); err != nil {
		return nil, err
	}
	if err := s.searchPostgres(ctx, word, f); err != nil {
		return nil, err
	}
	if err := s.searchRedis(ctx, word, f); err != nil {
		return nil, err
	}
	return f, s.searchFiles(word, f)
}

// searchPostgres looks into a dump of every database, the engine of workflows'
// included, and leaves the files without deleted rows.
func (s *system) searchPostgres(ctx context.Context, word string, f finds) error {
	u, err := url.Parse(s.Engine["ASSAY_POSTGRES_OWNER_URL"])
	if err != nil {
		return err
	}
	password, err := os.ReadFile(filepath.Join(s.State, "postgres", "password"))
	if err != nil {
		return err
	}
	u.User = url.UserPassword("postgres", strings.TrimSpace(string(password)))
	for _, database := range []string{strings.TrimPrefix(u.Path, "/"), "temporal", "temporal_visibility"} {
		u.Path = "/" + database
		if out, err := exec.CommandContext(ctx, "psql", u.String(), "-q", "-c", "VACUUM (FULL, ANALYZE)", "-c", "CHECKPOINT").CombinedOutput(); err != nil {
			return fmt.Errorf("vacuum %s: %w\n%s", database, err, out)
		}
		dump, err := exec.CommandContext(ctx, "pg_dump", u.String()).Output()
		if err != nil {
			return fmt.Errorf("dump %s: %w", database, err)
		}
		// A bytea is printed in hexadecimal digits.
		f["postgres dump of "+database] += bytes.Count(dump, []byte(word)) + bytes.Count(dump, []byte(hex.EncodeToString([]byte(word))))
	}
	return nil
}

func (s *system) searchRedis(ctx context.Context, word string, f finds) error {
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
		f["redis keys"] += strings.Count(keys.Val()+" "+value, word)
	}
	return keys.Err()
}

// stores are the folders of the state, by the store that they belong to.
var stores = map[string]string{"postgres": "postgres", "clickhouse": "clickhouse", "clickhouse2": "clickhouse", "blobs": "blobs", "redis": "redis", "temporal": "temporal"}

// searchFiles looks into every file of the state, except PostgreSQL's log of
// changes, which is recycled, and what the proof itself keeps there.
func (s *system) searchFiles(word string, f finds) error {
	return filepath.WalkDir(s.State, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // parts and segments come and go
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "pg_wal" || d.Name() == "sabotaged"):
			return fs.SkipDir
		case !d.Type().IsRegular() || d.Name() == "launcher" || d.Name() == "overlay.json":
			return nil
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		place, _ := filepath.Rel(s.State, path)
		top, _, _ := strings.Cut(place, string(filepath.Separator))
		store := stores[top]
		if store == "" {
			store = "logs"
		}
		n := bytes.Count(text, []byte(word))
		switch store {
		case "clickhouse":
			n += inFrames(text, word)
		case "blobs":
			n += inBlock(text, word)
		}
		if n > 0 {
			f[store+" "+place] += n
		}
		return nil
	})
}

// inFrames counts a word in the frames of a file of a part. Frames whose codec is
// for numbers have no texts.
func inFrames(text []byte, word string) (n int) {
	const checksum, header = 16, 9
	for len(text) > checksum+header {
		size := checksum + int(binary.LittleEndian.Uint32(text[checksum+1:]))
		if size <= checksum+header || size > len(text) {
			return n
		}
		whole := make([]byte, binary.LittleEndian.Uint32(text[checksum+5:]))
		if read, err := compress.NewReader(bytes.NewReader(text[:size])).Read(whole); err == nil {
			n += bytes.Count(whole[:read], []byte(word))
		}
		text = text[size:]
	}
	return n
}

var unzip, _ = zstd.NewReader(nil)

// inBlock counts a word in a deferred block, which may be damaged: everything
// that can be read of it counts.
func inBlock(text []byte, word string) int {
	const digest = 32
	_, rest, ok := bytes.Cut(text, []byte("\n"))
	if !ok || len(rest) < digest {
		return 0
	}
	whole, _ := unzip.DecodeAll(rest[digest:], nil)
	return bytes.Count(whole, []byte(word))
}

// settleClickHouse waits until the parts that were replaced are gone from the
// disks.
func (s *system) settleClickHouse(ctx context.Context) error {
	for _, name := range []string{"ASSAY_CLICKHOUSE_URL", "ASSAY_DEV_CLICKHOUSE_SHARD2_URL"} {
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
