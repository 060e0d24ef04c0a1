package admission

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
)

const (
	// patience is how long a request waits for its turn, and longestLine how many
	// of one organization wait at a time.
	patience    = 5 * time.Second
	longestLine = 64
)

// Turns shares a number of places, such as processors or connections, between
// organizations. The next turn is that of the organization that has used least
// since it came to wait.
type Turns struct {
	most int // how many an organization may have at a time

	mu    sync.Mutex
	free  int
	clock time.Duration // what the organization that was last given a turn had used
	lines map[principal.OrgID]*line
}

// NewTurns shares out places. An organization may have all of them but a quarter,
// which is left for one that comes while all of its turns are long.
func NewTurns(places int) *Turns {
	return newTurns(places, max(1, places-places/4))
}

func newTurns(places, most int) *Turns {
	return &Turns{free: places, most: most, lines: map[principal.OrgID]*line{}}
}

// line is an organization that has turns or waits for one.
type line struct {
	used    time.Duration
	running int
	waiting []chan struct{} // each is closed when its turn has come
}

// Begin waits for a turn as long as its context lasts, and returns how many the
// organization then has. What has no organization has a line of its own.
func (t *Turns) Begin(ctx context.Context, org principal.OrgID) (nth int, err error) {
	if err := t.begin(ctx, org, 0); err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lines[org].running, nil
}

// End gives back a turn that took some time.
func (t *Turns) End(org principal.OrgID, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass(org, t.lines[org], took)
}

// begin waits for a turn. With patience it waits no longer than that, and not
// behind a long line of its own organization.
func (t *Turns) begin(ctx context.Context, org principal.OrgID, patience time.Duration) error {
	turn, err := t.join(org, patience > 0)
	if turn == nil || err != nil {
		return err
	}
	late, stop := alarm(patience)
	defer stop()
	select {
	case <-turn:
		return nil
	case <-late:
		refused(full)
		err = ErrFull
	case <-ctx.Done():
		err = ctx.Err()
	}
	t.leave(org, turn)
	return err
}

// join takes a turn, or returns a channel that is closed when one has come.
func (t *Turns) join(org principal.OrgID, bounded bool) (turn chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[org]
	if l == nil {
		l = &line{used: t.clock}
		t.lines[org] = l
	}
	if t.free > 0 && l.running < t.most {
		t.free--
		l.running++
		return nil, nil
	}
	if bounded && len(l.waiting) >= longestLine {
		refused(share)
		return nil, ErrShare
	}
	turn = make(chan struct{})
	l.waiting = append(l.waiting, turn)
	return turn, nil
}

// leave is for one that waits no longer. If its turn has come in the meantime,
// the turn goes to the next.
func (t *Turns) leave(org principal.OrgID, turn chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[org]
	if i := slices.Index(l.waiting, turn); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		t.forget(org, l)
		return
	}
	t.pass(org, l, 0)
}

// yield charges the time since the last step, and reports whether another
// organization waits that has used less. The turn is given back then.
func (t *Turns) yield(org principal.OrgID, took time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[org]
	l.used += took
	if next := t.next(); next == nil || next.used >= l.used {
		return false
	}
	t.pass(org, l, 0)
	return true
}

// pass gives the turn of one organization to the next that waits.
func (t *Turns) pass(org principal.OrgID, l *line, took time.Duration) {
	l.used += took
	l.running--
	if next := t.next(); next != nil {
		close(next.waiting[0])
		next.waiting = next.waiting[1:]
		next.running++
		t.clock = max(t.clock, next.used)
	} else {
		t.free++
	}
	t.forget(org, l)
}

// next is the organization whose turn comes first.
func (t *Turns) next() (least *line) {
	for _, l := range t.lines {
		if len(l.waiting) > 0 && l.running < t.most && (least == nil || l.used < least.used) {
			least = l
		}
	}
	return least
}

// forget removes an organization that neither has nor wants a turn.
func (t *Turns) forget(org principal.OrgID, l *line) {
	if l.running == 0 && len(l.waiting) == 0 {
		delete(t.lines, org)
	}
}

// alarm is when patience ends; zero never does.
func alarm(patience time.Duration) (late <-chan time.Time, stop func()) {
	if patience == 0 {
		return nil, func() {}
	}
	timer := time.NewTimer(patience)
	return timer.C, func() { timer.Stop() }
}
