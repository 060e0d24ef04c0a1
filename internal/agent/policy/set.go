package policy

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ensure gives an organization that has no policies yet the baseline.
func (s *Service) ensure(ctx context.Context, org principal.OrgID) error {
	if _, found, err := s.store.revision(ctx, s.db.Org(org), org); err != nil || found {
		return err
	}
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error { return s.ensureTx(ctx, tx) })
}

// ensureTx is ensure in a transaction. Of two at the same time, the second waits for the
// first and finds its baseline. The system makes it, whoever asks first.
func (s *Service) ensureTx(ctx context.Context, tx postgres.Tx) error {
	made, err := s.store.insertSetTx(ctx, tx)
	if err != nil || !made {
		return err
	}
	_, err = s.insertTx(principal.With(ctx, principal.Caller{Org: tx.Org}), tx, baseline())
	return err
}

// lockTx lets one transaction at a time change the organization's policies, and gives
// it the baseline first.
func (s *Service) lockTx(ctx context.Context, tx postgres.Tx) error {
	if err := s.ensureTx(ctx, tx); err != nil {
		return err
	}
	return s.store.lockSetTx(ctx, tx)
}

// changedTx notes that the active policies have changed, and refuses what is too much.
func (s *Service) changedTx(ctx context.Context, tx postgres.Tx) error {
	if err := s.store.bumpSetTx(ctx, tx); err != nil {
		return err
	}
	_, sources, err := s.store.active(ctx, tx, tx.Org)
	if err != nil {
		return err
	}
	if errors.Is(engine.Fits(sources), engine.ErrTooLarge) {
		return ErrTooLarge
	}
	return nil
}

// errStale says that the policies have changed since they were compiled.
var errStale = errors.New("the policies have changed")

// ErrChanging is returned when policies change faster than they can be compiled.
var ErrChanging = fault.New(fault.Unavailable, "policies_changing", "The policies changed several times while the action was decided on. Ask again.")

// attempts is how often a question is put to policies that change meanwhile.
const attempts = 5

// withPolicies calls fn with the organization's policies, and again if they turn out to be
// stale. They are compiled outside of the transaction that asks them.
func (s *Service) withPolicies(ctx context.Context, org principal.OrgID, fn func(*compiled) error) error {
	stale := int64(0)
	for range attempts {
		set, err := s.policies(ctx, org, stale)
		if err != nil {
			return err
		}
		if err := fn(set); !errors.Is(err, errStale) {
			return err
		}
		stale = set.revision
	}
	return ErrChanging
}

// policies returns the organization's active policies as this process knows them, if they
// are newer than a revision, or else as they are now.
func (s *Service) policies(ctx context.Context, org principal.OrgID, stale int64) (set *compiled, err error) {
	if set := s.sets.get(org); set != nil && set.revision > stale {
		return set, nil
	}
	if err := s.ensure(ctx, org); err != nil {
		return nil, err
	}
	revision, sources, err := s.store.active(ctx, s.db.Org(org), org)
	if err != nil {
		return nil, err
	}
	err = admission.From(ctx).Work(ctx, func(func() error) error {
		set, err = s.sets.compile(org, revision, sources)
		return err
	})
	return set, err
}

// maxCached bounds the cache by the length of the texts that its sets were made of. A
// compiled set takes about twenty times as much memory.
const maxCached = 8 << 20

// setCache keeps compiled sets of the organizations that asked last.
type setCache struct {
	flight singleflight.Group
	limit  int

	mu      sync.Mutex
	entries map[principal.OrgID]*list.Element
	order   *list.List // of compiled, the one that was used last in front
	size    int
}

// compiled is the policies of an organization as they were.
type compiled struct {
	org      principal.OrgID
	revision int64
	set      *engine.Set
	size     int
}

func newSetCache(limit int) *setCache {
	return &setCache{limit: limit, entries: map[principal.OrgID]*list.Element{}, order: list.New()}
}

// get returns the newest set of an organization, or nil.
func (c *setCache) get(org principal.OrgID) *compiled {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[org]
	if !ok {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*compiled)
}

// compile makes the set of a revision, once for all who wait for it.
func (c *setCache) compile(org principal.OrgID, revision int64, sources []engine.Source) (*compiled, error) {
	v, err, _ := c.flight.Do(fmt.Sprintf("%s/%d", org, revision), func() (any, error) {
		if made := c.get(org); made != nil && made.revision == revision {
			return made, nil
		}
		set, err := engine.Compile(sources)
		if err != nil {
			return nil, fmt.Errorf("compile the policies of revision %d: %w", revision, err)
		}
		size := 1 << 10
		for _, s := range sources {
			size += s.Size()
		}
		made := &compiled{org: org, revision: revision, set: set, size: size}
		c.put(made)
		return made, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*compiled), nil
}

// put keeps a set in place of an older one, and forgets those that were not used for
// longest. A transaction that began earlier may compile an older one: it is not kept.
func (c *setCache) put(one *compiled) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[one.org]; ok {
		if e.Value.(*compiled).revision > one.revision {
			return
		}
		c.drop(e)
	}
	c.entries[one.org] = c.order.PushFront(one)
	c.size += one.size
	for c.size > c.limit && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
}

func (c *setCache) drop(e *list.Element) {
	old := c.order.Remove(e).(*compiled)
	delete(c.entries, old.org)
	c.size -= old.size
}
