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
	whole bool // an organization may have every place

	mu    sync.Mutex
	free  int
	clock time.Duration // what the organization that was last given a turn had used
	lines map[principal.OrgID]*line
}

// NewTurns shares out places whose turns may be long. An organization may have as many
// as it leaves free, as it may of the bytes of a Budget: alone half of them, then the next
// a quarter. So it takes several that hold their share for long, six of 32 places, until
// one that has none must wait.
func NewTurns(places int) *Turns {
	return &Turns{free: places, lines: map[principal.OrgID]*line{}}
}

// newTurns shares out places whose turns end as soon as somebody else waits.
func newTurns(places int) *Turns {
	return &Turns{whole: true, free: places, lines: map[principal.OrgID]*line{}}
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

// Try takes a turn if the organization can have one now.
func (t *Turns) Try(org principal.OrgID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.line(org)
	ok := t.admits(l)
	if ok {
		t.grant(l)
	}
	t.forget(org, l)
	return ok
}

// End gives back a turn that took some time.
func (t *Turns) End(org principal.OrgID, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass(org, t.lines[org], took)
}

// line is that of an organization, which may have just come.
func (t *Turns) line(org principal.OrgID) *line {
	l := t.lines[org]
	if l == nil {
		l = &line{used: t.clock}
		t.lines[org] = l
	}
	return l
}

// admits reports whether an organization can have one more of the free places.
func (t *Turns) admits(l *line) bool {
	return t.free > 0 && (t.whole || l.running == 0 || l.running+1 <= t.free-1)
}

func (t *Turns) grant(l *line) {
	t.free--
	l.running++
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
	l := t.line(org)
	if t.admits(l) {
		t.grant(l)
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
	for _, other := range t.lines {
		if len(other.waiting) > 0 && other.used < l.used {
			t.pass(org, l, 0)
			return true
		}
	}
	return false
}

// pass gives up the turn of one organization, and gives turns to those that wait and
// can have one now.
func (t *Turns) pass(org principal.OrgID, l *line, took time.Duration) {
	l.used += took
	l.running--
	t.free++
	for next := t.next(); next != nil; next = t.next() {
		close(next.waiting[0])
		next.waiting = next.waiting[1:]
		t.grant(next)
		t.clock = max(t.clock, next.used)
	}
	t.forget(org, l)
}

// next is the organization whose turn comes first.
func (t *Turns) next() (least *line) {
	for _, l := range t.lines {
		if len(l.waiting) > 0 && t.admits(l) && (least == nil || l.used < least.used) {
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
