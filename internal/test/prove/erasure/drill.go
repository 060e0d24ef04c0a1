package erasure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// drill erases organizations while their runs are under way.
type drill struct {
	s      *system
	done   sync.WaitGroup
	orgs   []rig.Organization // that were deleted
	words  []string           // theirs
	theirs string             // the neighbour's
	err    error
}

// organizations is how many are erased. All are deleted early, because a certificate takes
// some looks, and a minute more for every death of the worker.
const organizations = 2

// Join is the load of the drill.
func Join(ctx context.Context, base *rig.System) (_ rig.Load, err error) {
	s := &system{System: base, shards: []string{"ASSAY_CLICKHOUSE_URL"}}
	if err := errors.Join(s.serveTarget(ctx), s.shortLived(ctx)); err != nil {
		return nil, err
	}
	if s.neighbour, err = base.Bootstrap(ctx, "Neighbour"); err != nil {
		return nil, err
	}
	d := &drill{s: s, theirs: newCanary()}
	_, err = s.plant(ctx, s.neighbour, d.theirs)
	return d, err
}

// Begin erases organizations.
func (d *drill) Begin(ctx context.Context) {
	d.done.Go(func() {
		for range organizations {
			if d.err = d.one(ctx); d.err != nil {
				return
			}
		}
	})
}

// one makes an organization whose run is under way, and deletes it.
func (d *drill) one(ctx context.Context) (err error) {
	s, word := d.s, newCanary()
	s.canary.Store(&word)
	var org rig.Organization
	err = s.await(ctx, "there is an organization", func() (bool, error) {
		org, err = s.Bootstrap(ctx, word)
		return err == nil, nil // an engine may be away
	})
	if err != nil {
		return err
	}
	p, err := s.plant(ctx, org, word)
	if err != nil {
		return fmt.Errorf("plant: %w", err)
	}
	if err := p.work(ctx); err != nil {
		return err
	}
	// Who deletes an organization and loses the answer has no key to ask again.
	err = s.Insist(ctx, org, http.MethodDelete, "/api/organizations/current?confirm="+org.ID, "delete "+word, nil, nil)
	var no *rig.Refusal
	if err != nil && (!errors.As(err, &no) || no.Status != http.StatusUnauthorized) {
		return err
	}
	d.orgs, d.words = append(d.orgs, org), append(d.words, word)
	return nil
}

// Finish waits until the organizations are erased.
func (d *drill) Finish(ctx context.Context) error {
	d.done.Wait()
	for _, org := range d.orgs {
		if err := d.s.certified(ctx, org); err != nil {
			return err
		}
	}
	return d.err
}

// Check searches everything for what organizations had, and for what the neighbour has.
func (d *drill) Check(ctx context.Context) (f rig.Figures, err error) {
	f.Done = len(d.words)
	left, err := d.s.searchLast(ctx, d.words...)
	if err != nil {
		return f, err
	}
	for place, found := range left {
		if f.Wrong += found; found > 0 {
			f.Example("%d in %s of organizations that were erased", found, place)
		}
	}
	kept := rig.Finds{}
	if err := errors.Join(d.s.SearchPostgres(ctx, []string{d.theirs}, kept), d.s.SearchFiles([]string{d.theirs}, kept)); err != nil {
		return f, err
	}
	for _, store := range stored {
		if kept.In(store) == 0 && store != "blobs" {
			f.Lost++
			f.Example("the search finds nothing of the neighbour in %s", store)
		}
	}
	return f, nil
}
