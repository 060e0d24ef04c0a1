package erasure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy/erasure"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// stored are the stores that have a canary before the deletion.
var stored = []string{"postgres", "clickhouse", "blobs"}

// round erases one organization under way and looks for what is left of it.
func (s *system) round(ctx context.Context, n int, f *figures) error {
	shards := 1 + n%2
	if err := s.use(ctx, shards); err != nil {
		return err
	}
	if err := s.shortLived(ctx); err != nil {
		return err
	}
	word, theirs := newCanary(), newCanary()
	s.canary.Store(&word)
	org, err := s.Bootstrap(ctx, word)
	if err != nil {
		return err
	}
	if _, err := s.plant(ctx, s.neighbour, theirs); err != nil {
		return fmt.Errorf("plant for the neighbour: %w", err)
	}
	p, err := s.plant(ctx, org, word)
	if err != nil {
		return fmt.Errorf("plant: %w", err)
	}
	if err := p.work(ctx); err != nil {
		return err
	}
	deferred, err := s.deferSome(ctx, p)
	if err != nil {
		return err
	}
	seen := rig.Finds{} // ClickHouse is away, and its files are there
	if err := errors.Join(s.SearchPostgres(ctx, []string{word}, seen), s.SearchFiles([]string{word}, seen)); err != nil {
		return err
	}
	for _, store := range stored {
		if seen.In(store) == 0 {
			return fmt.Errorf("the search finds no canary in %s before the deletion: it would find none after it", store)
		}
	}
	points := erasure.Failpoints()
	point := points[n%len(points)]
	if err := s.Arm(point); err != nil {
		return err
	}
	began := time.Now()
	status, answer, err := s.Call(ctx, org, http.MethodDelete, "/api/organizations/current?confirm="+org.ID, "delete "+word, nil)
	if err != nil || status >= http.StatusBadRequest {
		return fmt.Errorf("delete the organization: %d %s: %w", status, answer, err)
	}
	// ClickHouse comes back when the erasure has begun without it.
	if err := rig.Sleep(ctx, 5*time.Second); err != nil {
		return err
	}
	if err := s.Engines(ctx, "up", "clickhouse"); err != nil {
		return err
	}
	if err := s.Dies(ctx, s.Worker, point, 2*rig.Patience); err != nil {
		return err
	}
	if err := s.StartWorker(ctx); err != nil {
		return err
	}
	if err := s.certified(ctx, org); err != nil {
		return err
	}
	took := time.Since(began)
	left, err := s.searchLast(ctx, word)
	if err != nil {
		return err
	}
	kept, err := s.search(ctx, theirs)
	if err != nil {
		return err
	}
	if kept.In("postgres") == 0 || kept.In("clickhouse") == 0 {
		return errors.New("the neighbour's data is gone")
	}
	for place, found := range left {
		if found > 0 {
			fmt.Printf("  %d in %s\n", found, place)
		}
	}
	fmt.Printf("round %2d  shards %d  killed at %-18s planted %4d, seen %5d, certificate after %3.0f s, found %d\n",
		n+1, shards, point, p.planted, seen.Sum(), took.Seconds(), left.Sum())
	f.found += left.Sum()
	f.planted += p.planted
	f.kills += 2 // the worker, and ClickHouse
	f.runs++
	f.deferred += deferred
	f.refused++
	f.damaged++
	f.slowest = max(f.slowest, took)
	return s.restore(ctx)
}

// shortLived lets ClickHouse delete replaced parts soon: it would keep them for
// minutes.
func (s *system) shortLived(ctx context.Context) error {
	for _, name := range s.shards {
		ch, err := clickhouse.Connect(secret.Text(s.Engine[name]))
		if err != nil {
			return err
		}
		defer func() { _ = ch.Close() }()
		rows, err := ch.Query(ctx, "SELECT database || '.' || name FROM system.tables WHERE database LIKE 'assay%' AND engine LIKE '%MergeTree'")
		if err != nil {
			return err
		}
		var tables []string
		for rows.Next() {
			var table string
			if err := rows.Scan(&table); err != nil {
				return err
			}
			tables = append(tables, table)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		for _, table := range tables {
			if err := ch.Exec(ctx, "ALTER TABLE "+table+" MODIFY SETTING old_parts_lifetime = 1, cleanup_delay_period = 1, max_cleanup_delay_period = 1"); err != nil {
				return err
			}
		}
	}
	return nil
}

// events is the table without which blocks with log records are refused.
func (s *system) events() string {
	if slices.Contains(s.Env, "ASSAY_CLICKHOUSE_CLUSTER="+pair) {
		return pairDatabase + ".span_events"
	}
	return "assay.span_events"
}

// deferSome lets telemetry be deferred while ClickHouse is away, damages a copy
// of one block, and takes away a table, so that blocks with log records are
// refused when ClickHouse is back. It leaves ClickHouse away.
func (s *system) deferSome(ctx context.Context, p *planter) (blocks int, err error) {
	events := s.events()
	if err := s.exec(ctx, s.Engine["ASSAY_CLICKHOUSE_URL"], "RENAME TABLE "+events+" TO "+events+"_away"); err != nil {
		return 0, err
	}
	if err := s.Engines(ctx, "kill", "clickhouse"); err != nil {
		return 0, err
	}
	for range 3 {
		if err := p.telemetry(ctx); err != nil {
			return 0, err
		}
	}
	waiting, err := filepath.Glob(filepath.Join(s.State, "blobs", "deferred", "*"))
	if err != nil || len(waiting) == 0 {
		return 0, fmt.Errorf("nothing was deferred: %w", err)
	}
	for _, key := range waiting {
		text, err := os.ReadFile(key)
		if err != nil {
			return 0, err
		}
		if rig.InBlock(text, p.word) == 0 {
			continue
		}
		text[len("assay-block-1\n")]++ // of its digest
		return len(waiting), os.WriteFile(key+"-damaged", text, 0o600)
	}
	return 0, errors.New("no deferred block has the canary")
}

// restore gives the table back and lets the neighbour's telemetry be stored.
func (s *system) restore(ctx context.Context) error {
	events := s.events()
	return s.exec(ctx, s.Engine["ASSAY_CLICKHOUSE_URL"], "RENAME TABLE "+events+"_away TO "+events)
}

// searchLast searches for some time: Temporal deletes a history some seconds after it is
// asked to.
func (s *system) searchLast(ctx context.Context, words ...string) (f rig.Finds, err error) {
	for limit := time.Now().Add(rig.Patience); ; {
		if f, err = s.search(ctx, words...); err != nil || f.Sum() == 0 || time.Now().After(limit) {
			return f, err
		}
		if err := rig.Sleep(ctx, 5*time.Second); err != nil {
			return f, err
		}
	}
}

// certified waits until the certificate is complete, and the workflow has ended.
func (s *system) certified(ctx context.Context, org rig.Organization) error {
	return s.await(ctx, "the certificate is complete", func() (bool, error) {
		// An engine that is away has none, and a command is dear.
		out, failed := s.Assay(ctx, "admin", "certificate", org.ID).Output()
		if err := rig.Sleep(ctx, time.Second); err != nil || failed != nil {
			return false, err
		}
		var cert struct {
			CompletedAt *time.Time `json:"completed_at"`
		}
		if err := json.Unmarshal(out, &cert); err != nil {
			return false, fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
		}
		return cert.CompletedAt != nil, nil
	})
}
