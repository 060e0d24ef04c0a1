package events

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/assayhq/assay/db"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/prove/rig"
)

// patience is how long the load may take to go on, and followers to catch up.
const patience = 90 * time.Second

// batch is the most that a kill of its holder lets a follower see again.
const batch = 500

// proveNoneSkipped kills under load and compares what was written with what was
// seen.
func proveNoneSkipped(ctx context.Context, s *rig.System, o options) (string, error) {
	if _, err := postgres.Migrate(ctx, config(s, 4), db.Postgres()); err != nil {
		return "", err
	}
	pg, err := postgres.Open(ctx, config(s, 4))
	if err != nil {
		return "", err
	}
	defer pg.Close()
	folder := filepath.Join(s.State, "notes")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	url := s.Engine["ASSAY_POSTGRES_URL"]
	plain := follow(ctx, pg)
	defer plain.stop()

	var replicas [2]*replica
	defer func() {
		for _, r := range replicas {
			if r != nil {
				_ = r.kill()
			}
		}
	}()
	for i := range replicas {
		if replicas[i], err = start(url, folder, o.writers/2); err != nil {
			return "", err
		}
	}
	for fault := range o.faults {
		acked, err := progress(ctx, folder, o.acked)
		if err != nil {
			return "", errors.Join(err, tail(folder))
		}
		victim := fault % 3
		if victim == 2 {
			if err := errors.Join(s.Engines(ctx, "kill", "postgres"), s.Engines(ctx, "up", "postgres")); err != nil {
				return "", err
			}
		} else {
			if err := replicas[victim].kill(); err != nil {
				return "", errors.Join(err, tail(folder))
			}
			if replicas[victim], err = start(url, folder, o.writers/2); err != nil {
				return "", err
			}
		}
		fmt.Printf("killed %-9s  acked %d\n", [3]string{"replica 1", "replica 2", "postgres"}[victim], acked)
	}
	if _, err := progress(ctx, folder, o.acked); err != nil {
		return "", errors.Join(err, tail(folder))
	}
	// Nobody writes any longer; whoever is left follows to the end.
	for i, r := range replicas {
		if err := r.kill(); err != nil {
			return "", err
		}
		replicas[i] = nil
	}
	if replicas[0], err = start(url, folder, 0); err != nil {
		return "", err
	}
	return check(ctx, pg, folder, plain, o)
}

// check waits until the followers have seen everything and counts.
func check(ctx context.Context, pg *postgres.DB, folder string, plain *plainCursor, o options) (string, error) {
	stored, err := written(ctx, pg)
	if err != nil {
		return "", err
	}
	acked, err := read(folder, "acked-")
	if err != nil {
		return "", err
	}
	var lost, skipped, twice int
	for until := time.Now().Add(patience); ; {
		lost, skipped, twice = 0, 0, 0
		for _, name := range followers {
			seen, err := read(folder, "seen-"+name+"-")
			if err != nil {
				return "", err
			}
			lost += missing(acked, seen)
			skipped += missing(stored, seen)
			for _, n := range seen {
				if n > 1 {
					twice++
				}
			}
		}
		if lost+skipped == 0 || time.Now().After(until) {
			break
		}
		if err := rig.Sleep(ctx, 200*time.Millisecond); err != nil {
			return "", err
		}
	}
	controlled, err := plain.skipped(ctx, stored)
	if err != nil {
		return "", err
	}
	result := fmt.Sprintf("events lost %d skipped %d acked %d stored %d twice %d control_skipped %d faults %d", lost, skipped, len(acked), len(stored), twice, controlled, o.faults)
	fmt.Println(result)
	switch {
	case missing(acked, stored) > 0:
		return "", fmt.Errorf("%d acknowledged events are not in the table", missing(acked, stored))
	case lost+skipped > 0:
		return "", errors.Join(errors.New("a follower skipped events"), tail(folder))
	case twice > 2*batch*(o.faults+1)*len(followers):
		return "", fmt.Errorf("%d events were seen twice, which %d kills do not explain", twice, o.faults)
	case controlled == 0:
		return "", errors.New("the control with a plain id cursor skipped nothing: the proof proves nothing")
	}
	return result, nil
}

func missing(want, got map[string]int) (n int) {
	for id := range want {
		if got[id] == 0 {
			n++
		}
	}
	return n
}

// written are the events in the table.
func written(ctx context.Context, pg *postgres.DB) (map[string]int, error) {
	rows, err := pg.Claim("app.sweep", "events").Query(ctx, "SELECT resource_id FROM events")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]int{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out[id]++
	}
	return out, rows.Err()
}

// read counts the lines of every file whose name begins so.
func read(folder, prefix string) (map[string]int, error) {
	files, err := filepath.Glob(filepath.Join(folder, prefix+"*"))
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasSuffix(line, "\n") {
				out[strings.TrimSpace(line)]++
			}
		}
	}
	return out, nil
}

// progress waits until some more events are acknowledged.
func progress(ctx context.Context, folder string, more int) (int, error) {
	goal := -1
	for until := time.Now().Add(patience); time.Now().Before(until); {
		acked, err := read(folder, "acked-")
		if err != nil {
			return 0, err
		}
		if goal < 0 {
			goal = len(acked) + more
		}
		if len(acked) >= goal {
			return len(acked), nil
		}
		if err := rig.Sleep(ctx, 50*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return 0, errors.New("the load stands still")
}

func tail(folder string) error {
	log, err := os.ReadFile(filepath.Join(folder, "log"))
	return errors.Join(err, fmt.Errorf("the replicas' log ends with:\n%s", log[max(0, len(log)-2000):]))
}
