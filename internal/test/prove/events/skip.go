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
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// batch is the most that a kill of its holder lets a follower see again.
const batch = 500

// load is two replicas that write and follow, and a plain cursor beside them.
type load struct {
	pg       *postgres.DB
	url      string // of the database
	folder   string // of what replicas note
	writers  int    // of each replica
	plain    *plainCursor
	replicas [2]*replica
	kills    int // of replicas
}

// newLoad has both replicas at work in a database whose tables are there.
func newLoad(ctx context.Context, cfg postgres.Config, folder string, writers int) (l *load, err error) {
	l = &load{url: cfg.URL.Reveal(), folder: folder, writers: writers}
	cfg.ConnWait = rig.Patience // a check is in no hurry
	if l.pg, err = postgres.Open(ctx, cfg); err != nil {
		return l, err
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return l, err
	}
	l.plain = follow(ctx, l.pg)
	for i := range l.replicas {
		if err := l.start(i, writers); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (l *load) start(i, writers int) (err error) {
	l.replicas[i], err = start(l.url, l.folder, writers)
	return err
}

// restart kills a replica and starts another.
func (l *load) restart(i int) error {
	if err := l.replicas[i].kill(); err != nil {
		return errors.Join(err, tail(l.folder))
	}
	l.kills++
	return l.start(i, l.writers)
}

// end kills everything.
func (l *load) end() {
	for _, r := range l.replicas {
		if r != nil {
			_ = r.kill()
		}
	}
	if l.plain != nil {
		l.plain.stop()
	}
	if l.pg != nil {
		l.pg.Close()
	}
}

// finish ends the writers. Whoever is left follows to the end.
func (l *load) finish() error {
	for i, r := range l.replicas {
		if err := r.kill(); err != nil {
			return err
		}
		l.replicas[i] = nil
	}
	return l.start(0, 0)
}

// proveNoneSkipped kills under load and compares what was written with what was
// seen.
func proveNoneSkipped(ctx context.Context, s *rig.System, o options) (string, error) {
	cfg := config(s, 4)
	if _, err := postgres.Migrate(ctx, cfg, db.Postgres()); err != nil {
		return "", err
	}
	l, err := newLoad(ctx, cfg, filepath.Join(s.State, "notes"), o.writers/2)
	defer l.end()
	if err != nil {
		return "", err
	}
	for fault := range o.faults {
		acked, err := l.progress(ctx, o.acked)
		if err != nil {
			return "", err
		}
		victim := fault % 3
		if victim == 2 {
			err = errors.Join(s.Engines(ctx, "kill", "postgres"), s.Engines(ctx, "up", "postgres"))
		} else {
			err = l.restart(victim)
		}
		if err != nil {
			return "", err
		}
		rig.Say("killed %-9s  acked %d", [3]string{"replica 1", "replica 2", "postgres"}[victim], acked)
	}
	if _, err := l.progress(ctx, o.acked); err != nil {
		return "", err
	}
	if err := l.finish(); err != nil {
		return "", err
	}
	v, err := l.check(ctx)
	if err != nil {
		return "", err
	}
	result := fmt.Sprintf("events lost %d skipped %d acked %d stored %d twice %d control_skipped %d faults %d", v.lost, v.skipped, v.acked, v.stored, v.twice, v.controlled, o.faults)
	rig.Say("%s", result)
	if err := v.guilty(o.faults); err != nil {
		return "", errors.Join(err, tail(l.folder))
	}
	if v.controlled == 0 {
		return "", errors.New("the control with a plain id cursor skipped nothing: the proof proves nothing")
	}
	return result, nil
}

// verdict is what became of events.
type verdict struct{ acked, stored, gone, lost, skipped, twice, controlled int }

// check waits until the followers have seen everything and counts.
func (l *load) check(ctx context.Context) (v verdict, err error) {
	var stored map[string]int
	if err := rig.UntilUp(ctx, func() (err error) {
		stored, err = written(ctx, l.pg)
		return err
	}); err != nil {
		return v, err
	}
	acked, err := read(l.folder, "acked-")
	if err != nil {
		return v, err
	}
	v.acked, v.stored, v.gone = len(acked), len(stored), missing(acked, stored)
	for until := time.Now().Add(rig.Patience); ; {
		v.lost, v.skipped, v.twice = 0, 0, 0
		for _, name := range followers {
			seen, err := read(l.folder, "seen-"+name+"-")
			if err != nil {
				return v, err
			}
			v.lost += missing(acked, seen)
			v.skipped += missing(stored, seen)
			for _, n := range seen {
				if n > 1 {
					v.twice++
				}
			}
		}
		if v.lost+v.skipped == 0 || time.Now().After(until) {
			break
		}
		if err := rig.Sleep(ctx, 200*time.Millisecond); err != nil {
			return v, err
		}
	}
	err = rig.UntilUp(ctx, func() (err error) {
		v.controlled, err = l.plain.skipped(ctx, stored)
		return err
	})
	return v, err
}

// guilty is an error if anything is not as so many kills explain.
func (v verdict) guilty(kills int) error {
	switch {
	case v.gone > 0:
		return fmt.Errorf("%d acknowledged events are not in the table", v.gone)
	case v.lost+v.skipped > 0:
		return errors.New("a follower skipped events")
	case v.twice > 2*batch*(kills+1)*len(followers):
		return fmt.Errorf("%d events were seen twice, which %d kills do not explain", v.twice, kills)
	}
	return nil
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
func (l *load) progress(ctx context.Context, more int) (int, error) {
	goal := -1
	for until := time.Now().Add(rig.Patience); time.Now().Before(until); {
		acked, err := read(l.folder, "acked-")
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
	return 0, errors.Join(errors.New("the load stands still"), tail(l.folder))
}

func tail(folder string) error {
	log, err := os.ReadFile(filepath.Join(folder, "log"))
	return errors.Join(err, fmt.Errorf("the replicas' log ends with:\n%s", log[max(0, len(log)-2000):]))
}
