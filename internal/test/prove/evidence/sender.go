package evidence

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// sender posts one batch after the other, each until it is acknowledged.
type sender struct {
	load               *load
	org, number, index int
	rand               *rand.Rand
}

// errNoAnswer is what became of a request that may or may not have had its effect.
var errNoAnswer = errors.New("no answer")

func (s *sender) run(ctx context.Context) error {
	for batch := 0; ; batch++ {
		if more, err := s.load.goOn(ctx, s, batch); !more {
			return err
		}
		if err := rig.Sleep(ctx, s.load.pace); err != nil {
			return err
		}
		if err := s.batch(ctx, place{org: s.org, sender: s.number, batch: batch}); err != nil {
			return err
		}
	}
}

// one tells whether a batch is one of so many; never if there are none.
func (s *sender) one(of int) bool { return of > 0 && s.rand.IntN(of) == 0 }

// batch sends a batch in one of the ways of real senders.
func (s *sender) batch(ctx context.Context, p place) error {
	l := s.load
	items, body := l.envelope(p, "")
	if s.one(l.impatient) {
		soon, cancel := context.WithTimeout(ctx, time.Duration(1+s.rand.IntN(500))*time.Millisecond)
		err := s.post(soon, items, body, false)
		cancel()
		if err != nil && !errors.Is(err, errNoAnswer) {
			return err
		}
	}
	epoch := l.epoch.Load()
	var both errgroup.Group
	if s.one(l.together) {
		both.Go(func() error { return s.insist(ctx, items, body, false) })
	}
	both.Go(func() error { return s.insist(ctx, items, body, false) })
	if err := both.Wait(); err != nil {
		return err
	}
	if s.one(l.twice) {
		if err := s.again(ctx, p, items, body); err != nil {
			return err
		}
	}
	if l.reached[s.index].Load() < epoch || s.one(l.look) {
		if err := s.look(ctx, items[s.rand.IntN(batchEvents/2)].place); err != nil {
			return err
		}
	}
	l.reached[s.index].Store(epoch)
	return nil
}

// again sends a batch that was acknowledged.
func (s *sender) again(ctx context.Context, p place, items []item, body jsontext.Value) error {
	known := true
	if s.load.anew {
		items, body = s.load.envelope(p, "~again")
		known = false
	}
	return s.insist(ctx, items, body, known)
}

// insist sends an envelope until it is acknowledged.
func (s *sender) insist(ctx context.Context, items []item, body jsontext.Value, known bool) error {
	for limit := time.Now().Add(rig.Patience); ; {
		err := s.post(ctx, items, body, known)
		if !errors.Is(err, errNoAnswer) || time.Now().After(limit) {
			return err
		}
		if err := rig.Sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// post sends an envelope once and notes the answer.
func (s *sender) post(ctx context.Context, items []item, body jsontext.Value, known bool) error {
	l := s.load
	status, text, err := l.s.Call(ctx, l.orgs[s.org], http.MethodPost, "/api/agent-evidence/ingest", "", body)
	switch {
	case err != nil:
		l.unanswered.Add(1)
		return errNoAnswer
	case status == http.StatusOK:
		if err := l.acknowledge(items, text, known); err != nil {
			l.complain(err.Error())
		}
		return nil
	case status == http.StatusTooManyRequests || status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout:
		l.refused.Add(1)
		return errNoAnswer
	default:
		return fmt.Errorf("status %d: %.600s", status, text)
	}
}

// look reads an event that was just acknowledged, and the records that its result names:
// an acknowledgement says that they can be read.
func (s *sender) look(ctx context.Context, p place) error {
	l := s.load
	e := l.entryOf(p)
	l.looks.Add(1)
	for _, r := range append([]ref{{rawEvents, e.raw}}, e.refs...) {
		var got record
		path := fmt.Sprintf("/api/agent-evidence/%s/%d", r.Resource, r.ID)
		err := l.s.Insist(ctx, l.orgs[s.org], http.MethodGet, path, "", nil, &got)
		var no *rig.Refusal
		switch {
		case errors.As(err, &no) && no.Status == http.StatusNotFound:
			l.late(p, r)
		case err != nil:
			return err
		}
	}
	return nil
}

// late notes that something was acknowledged and cannot be read.
func (b *ledger) late(p place, r ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen.lost++
	b.seen.Example("event %s was acknowledged, and %s %d cannot be read", p.id(), r.Resource, r.ID)
}
