package ingest

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// ask runs a query past the proxy and scans the one row of its answer. It
// waits for an answer while ClickHouse is away.
func (s *system) ask(ctx context.Context, query string, into ...any) error {
	for limit := time.Now().Add(2 * patience); ; {
		err := clickhouse.Translate(s.direct.QueryRow(ctx, query).Scan(into...))
		if !errors.Is(err, clickhouse.ErrUnavailable) || time.Now().After(limit) {
			return err
		}
		if err := rig.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// missing is how many spans of a batch cannot be read.
func (s *system) missing(ctx context.Context, b batch, org rig.Organization) (int, error) {
	var found uint64
	err := s.ask(ctx, b.readBack(org.ID), &found)
	return b.spans - int(found), err
}

// written are the tables that blocks are written to.
var written = []string{"spans", "span_payloads"}

// stopMerges lets rows that were stored twice stay two, so that they can be
// counted. Reading collapses them, merged or not.
func (s *system) stopMerges(ctx context.Context) error {
	return s.tell(ctx, func(table string) string { return "SYSTEM STOP MERGES " + table })
}

// startMerges ends that, and merges what has piled up.
func (s *system) startMerges(ctx context.Context) error {
	if err := s.tell(ctx, func(table string) string { return "SYSTEM START MERGES " + table }); err != nil {
		return err
	}
	const many = 300
	var parts uint64
	if err := s.ask(ctx, "SELECT count() FROM system.parts WHERE active AND database = currentDatabase() AND table = 'spans'", &parts); err != nil || parts < many {
		return err
	}
	return s.tell(ctx, func(table string) string { return "OPTIMIZE TABLE " + table })
}

// tell runs a command for every table that blocks are written to. It waits
// while ClickHouse is away.
func (s *system) tell(ctx context.Context, command func(table string) string) error {
	for _, table := range written {
		for limit := time.Now().Add(patience); ; {
			err := clickhouse.Translate(s.direct.Exec(ctx, command(table)))
			if err == nil {
				break
			}
			if !errors.Is(err, clickhouse.ErrUnavailable) || time.Now().After(limit) {
				return err
			}
			if err := rig.Sleep(ctx, 50*time.Millisecond); err != nil {
				return err
			}
		}
	}
	return nil
}

// ours is the condition that finds the rows of a load.
func (l *load) ours() string {
	var salt [8]byte
	for i := range salt {
		salt[i] = byte(l.salt >> (56 - 8*i))
	}
	return "substring(trace_id, 1, 8) = unhex('" + hex.EncodeToString(salt[:]) + "')"
}

// doubled counts the rows that were stored more than once as they are: a span
// that was sent again has another version.
func (s *system) doubled(ctx context.Context, l *load, since time.Time) (int64, error) {
	var sum int64
	for _, table := range written {
		var n int64
		err := s.ask(ctx, fmt.Sprintf(`SELECT sum(n - 1) FROM (SELECT count() AS n FROM %s WHERE %s AND ingested_at >= fromUnixTimestamp64Milli(%d) GROUP BY span_id, version HAVING n > 1)`,
			table, l.ours(), since.UnixMilli()), &n)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// killClickHouse kills ClickHouse in the middle of an insert, and brings it
// back after a while. A while that is long enough defers blocks.
func (p *proof) killClickHouse(away time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		text, err := os.ReadFile(filepath.Join(p.s.State, "pid", "clickhouse"))
		if err != nil {
			return err
		}
		number, _, _ := strings.Cut(string(text), " ")
		pid, err := strconv.Atoi(number)
		if err != nil {
			return err
		}
		if err := p.moment(ctx); err != nil {
			return err
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return err
		}
		// The launcher waits until the last thread is gone.
		if err := p.s.Engines(ctx, "down", "clickhouse"); err != nil {
			return err
		}
		if away > 0 {
			if err := p.deferral(ctx); err != nil {
				return err
			}
			if err := rig.Sleep(ctx, away); err != nil {
				return err
			}
		}
		if err := p.s.Engines(ctx, "up", "clickhouse"); err != nil {
			return err
		}
		return p.s.stopMerges(ctx)
	}
}

// moment waits for one of the bad moments to lose ClickHouse: a part of spans
// begins to be written, or the token of a block has just been noted and the
// block is about to be stored. The kernel tells when, so that hardly any time
// passes until the kill.
func (p *proof) moment(ctx context.Context) error {
	var folder string
	if err := p.s.ask(ctx, "SELECT data_paths[1] FROM system.tables WHERE database = currentDatabase() AND name = 'spans'", &folder); err != nil {
		return err
	}
	watch, event := folder, uint32(syscall.IN_CREATE)
	if rand.IntN(3) > 0 {
		watch, event = filepath.Join(folder, "deduplication_logs"), syscall.IN_MODIFY
	}
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return err
	}
	events := os.NewFile(uintptr(fd), "inotify")
	defer func() { _ = events.Close() }()
	if _, err := syscall.InotifyAddWatch(fd, watch, event); err != nil {
		return fmt.Errorf("watch %s: %w", watch, err)
	}
	if err := events.SetReadDeadline(time.Now().Add(patience / 2)); err != nil {
		return err
	}
	if _, err := events.Read(make([]byte, 4096)); err != nil {
		return fmt.Errorf("nothing is inserted into %s: %w", folder, err)
	}
	return nil
}
