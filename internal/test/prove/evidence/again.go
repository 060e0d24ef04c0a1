package evidence

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// again is what became of events that were read again.
type again struct {
	read    int64
	faults  int
	changed int // records and events that are not what they were
}

// readAgain has all events read again and compares what is there afterwards with what was
// there before. If it is disturbed, everything that this needs is killed meanwhile.
func (l *load) readAgain(ctx context.Context, before []stored, disturbed bool) (a again, err error) {
	s := l.s
	worker, err := s.Start(ctx, "worker", "worker")
	if err != nil {
		return a, err
	}
	defer func() { worker.Kill() }()
	faults := []func() error{
		func() error {
			worker.Kill()
			next, err := s.Start(ctx, "worker", "worker")
			if err != nil {
				return err
			}
			worker = next
			return nil
		},
		func() error {
			return errors.Join(s.Engines(ctx, "kill", "clickhouse"), s.Engines(ctx, "up", "clickhouse"))
		},
		func() error { return errors.Join(s.Engines(ctx, "kill", "postgres"), s.Engines(ctx, "up", "postgres")) },
	}
	for _, o := range l.orgs {
		var n struct {
			ID   int64 `json:"id"`
			Read int64 `json:"read"`
		}
		if err := s.Insist(ctx, o, http.MethodPost, "/api/agent-evidence/normalizations", "again-"+o.ID, map[string]any{"events": "all"}, &n); err != nil {
			return a, err
		}
		if !disturbed {
			faults = nil
		}
		for _, fault := range faults {
			if err := s.moved(ctx, o, n.ID, n.Read+1, &n.Read); err != nil {
				return a, err
			}
			if err := fault(); err != nil {
				return a, err
			}
			a.faults++
		}
		if err := s.moved(ctx, o, n.ID, -1, &n.Read); err != nil {
			return a, err
		}
		a.read += n.Read
	}
	after, err := l.read(ctx)
	if err != nil {
		return a, err
	}
	for org := range after {
		for _, k := range kinds {
			a.changed += differ(before[org].records[k], after[org].records[k])
		}
	}
	return a, nil
}

// moved waits until a normalization has read so many events, or all if there are fewer or
// the number is negative.
func (s *system) moved(ctx context.Context, o rig.Organization, id, events int64, read *int64) error {
	for limit := time.Now().Add(2 * rig.Patience); ; {
		var n struct {
			State string `json:"state"`
			Read  int64  `json:"read"`
		}
		if err := s.Insist(ctx, o, http.MethodGet, fmt.Sprintf("/api/agent-evidence/normalizations/%d", id), "", nil, &n); err != nil {
			return err
		}
		*read = n.Read
		if n.State == "completed" || events >= 0 && n.Read >= events {
			return nil
		}
		if time.Now().After(limit) {
			return fmt.Errorf("reading events again stays at %d", n.Read)
		}
		if err := rig.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// differ counts the records that are not in both lists.
func differ(before, after []record) (n int) {
	was := make(map[int64]record, len(before))
	for _, r := range before {
		was[r.ID] = r
	}
	for _, r := range after {
		if !reflect.DeepEqual(was[r.ID], r) {
			n++
		}
		delete(was, r.ID)
	}
	return n + len(was)
}
