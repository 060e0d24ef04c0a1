package rig

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
)

// Finds are how often a word was found, by store and place.
type Finds map[string]int

// Sum counts what was found anywhere.
func (f Finds) Sum() (n int) {
	for _, found := range f {
		n += found
	}
	return n
}

// In counts what was found in a store.
func (f Finds) In(store string) (n int) {
	for place, found := range f {
		if strings.HasPrefix(place, store+" ") {
			n += found
		}
	}
	return n
}

// count counts words in a text.
func count(text []byte, words []string) (n int) {
	for _, w := range words {
		n += bytes.Count(text, []byte(w))
	}
	return n
}

func inHex(words []string) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = hex.EncodeToString([]byte(w))
	}
	return all
}

// SearchPostgres looks for words in a dump of every database, the engine of workflows'
// included, and leaves the files without deleted rows: its tables keep the bytes of
// those until they are rewritten, and its statistics quote frequent values.
func (s *System) SearchPostgres(ctx context.Context, words []string, f Finds) error {
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
		f["postgres dump of "+database] += count(dump, words) + count(dump, inHex(words))
	}
	return nil
}

// stores are the folders of the state, by the store that they belong to.
var stores = map[string]string{"postgres": "postgres", "clickhouse": "clickhouse", "clickhouse2": "clickhouse", "blobs": "blobs", "redis": "redis", "temporal": "temporal"}

// SearchFiles looks for words in every file of the state, except PostgreSQL's log of
// changes, which is recycled, and what the proof itself keeps there.
func (s *System) SearchFiles(words []string, f Finds) error {
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
		n := count(text, words)
		switch store {
		case "clickhouse":
			n += inFrames(text, words)
		case "blobs":
			n += InBlock(text, words...)
		}
		if n > 0 {
			f[store+" "+place] += n
		}
		return nil
	})
}

// inFrames counts a word in the frames of a file of a part. Frames whose codec is
// for numbers have no texts.
func inFrames(text []byte, words []string) (n int) {
	const checksum, header = 16, 9
	for len(text) > checksum+header {
		size := checksum + int(binary.LittleEndian.Uint32(text[checksum+1:]))
		if size <= checksum+header || size > len(text) {
			return n
		}
		whole := make([]byte, binary.LittleEndian.Uint32(text[checksum+5:]))
		if read, err := compress.NewReader(bytes.NewReader(text[:size])).Read(whole); err == nil {
			n += count(whole[:read], words)
		}
		text = text[size:]
	}
	return n
}

var unzip, _ = zstd.NewReader(nil)

// InBlock counts a word in a deferred block, which may be damaged: everything
// that can be read of it counts.
func InBlock(text []byte, words ...string) int {
	const digest = 32
	_, rest, ok := bytes.Cut(text, []byte("\n"))
	if !ok || len(rest) < digest {
		return 0
	}
	whole, _ := unzip.DecodeAll(rest[digest:], nil)
	return count(whole, words)
}
