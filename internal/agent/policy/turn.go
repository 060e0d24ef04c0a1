package policy

import (
	"context"
	"sync"

	"github.com/assayhq/assay/internal/core/principal"
)

// turns lets one question about an actor at a time look at the actor's past. Those who wait
// hold no connection, so that the organization can still stop the actor.
type turns struct {
	mu    sync.Mutex
	lines map[actorOfOrg]*turnLine
}

type actorOfOrg struct {
	org   principal.OrgID
	actor string
}

// turnLine is those who want a turn, and the turn itself.
type turnLine struct {
	turn chan struct{}
	want int
}

// take waits for a turn, which done gives back.
func (t *turns) take(ctx context.Context, of actorOfOrg) (done func(), err error) {
	t.mu.Lock()
	if t.lines == nil {
		t.lines = map[actorOfOrg]*turnLine{}
	}
	line := t.lines[of]
	if line == nil {
		line = &turnLine{turn: make(chan struct{}, 1)}
		t.lines[of] = line
	}
	line.want++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if line.want--; line.want == 0 {
			delete(t.lines, of)
		}
	}
	select {
	case line.turn <- struct{}{}:
		return func() { <-line.turn; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
