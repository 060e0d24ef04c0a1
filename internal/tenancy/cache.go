package tenancy

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"github.com/assayhq/assay/internal/core/principal"
)

// storedKey is what authentication reads of a presented key.
type storedKey struct {
	Org           principal.OrgID
	ID            int64
	KeyID         string
	Scopes        []principal.Scope
	Hash          []byte
	PepperVersion int
	// Left is how long the key still worked when it was read, by the database's
	// clock: decades if it does not expire.
	Left        time.Duration
	Read        time.Time
	RevokedAt   *time.Time
	NoDelete    bool
	Status      Status
	Plan        Plan
	HourlyLimit int
	Owner       *uuid.UUID
	OwnerGone   bool
	OverOwners  bool
	Asserted    bool
	Role        principal.Role
}

const (
	// cacheAge bounds how long a revoked key can still work on another replica.
	// The promise is two seconds; the rest is for the request itself.
	cacheAge = 1500 * time.Millisecond
	// cacheRead is the longest that a lookup may take.
	cacheRead = 5 * time.Second
	// cacheSize bounds the memory that made-up keys can take.
	cacheSize = 100_000
)

// keyCache remembers presented keys for a moment, so that a busy key costs one
// lookup a second or two and not one a request. Unknown keys are remembered
// too: guessing does not reach the database any faster.
type keyCache struct {
	now    func() time.Time
	flight singleflight.Group

	mu      sync.RWMutex
	entries map[string]cacheEntry
	// changes counts what was forgotten. A read that began before a change is
	// neither kept nor shared after it.
	changes uint64
}

type cacheEntry struct {
	key     storedKey
	unknown bool
	read    time.Time
}

func newKeyCache(now func() time.Time) *keyCache {
	return &keyCache{now: now, entries: map[string]cacheEntry{}}
}

// get returns a key that was read at most cacheAge ago, or reads it.
func (c *keyCache) get(ctx context.Context, keyID string, read func(context.Context, string) (storedKey, error)) (storedKey, error) {
	c.mu.RLock()
	e, ok := c.entries[keyID]
	changes := c.changes
	c.mu.RUnlock()
	if ok && c.now().Sub(e.read) < cacheAge {
		return e.result()
	}
	// The age counts from before the read: what is written while it is under
	// way is seen by the next one.
	began := c.now()
	flight := c.flight.DoChan(keyID+"/"+strconv.FormatUint(changes, 10), func() (any, error) {
		// Others may wait for this read, so the end of one request does not
		// end it; its own patience does.
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), cacheRead)
		defer cancel()
		key, err := read(limit, keyID)
		if err != nil && !errors.Is(err, ErrKeyUnknown) {
			return nil, err
		}
		key.Read = began
		e := cacheEntry{key: key, unknown: err != nil, read: began}
		c.put(keyID, e, changes)
		return e, nil
	})
	select {
	case r := <-flight:
		if r.Err != nil {
			return storedKey{}, r.Err
		}
		return r.Val.(cacheEntry).result()
	case <-ctx.Done():
		return storedKey{}, ctx.Err()
	}
}

// knows reports whether the key was found lately; what is known of it may be too
// old to act on.
func (c *keyCache) knows(keyID string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e, ok := c.entries[keyID]
	return ok && !e.unknown
}

func (e cacheEntry) result() (storedKey, error) {
	if e.unknown {
		return storedKey{}, ErrKeyUnknown
	}
	return e.key, nil
}

func (c *keyCache) put(keyID string, e cacheEntry, changes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != changes {
		return
	}
	if len(c.entries) >= cacheSize {
		for id, old := range c.entries {
			if c.now().Sub(old.read) >= cacheAge {
				delete(c.entries, id)
			}
		}
		if len(c.entries) >= cacheSize {
			clear(c.entries)
		}
	}
	c.entries[keyID] = e
}

// forgetOrg drops what is known of an organization's keys. It is called after
// a change has committed, so that this replica acts on it at once.
func (c *keyCache) forgetOrg(org principal.OrgID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	for id, e := range c.entries {
		if e.key.Org == org {
			delete(c.entries, id)
		}
	}
}
