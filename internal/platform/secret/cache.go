package secret

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"
)

// How long and how many opened data keys stay in memory.
const (
	cacheAge  = 5 * time.Minute // how long a destroyed data key may still work
	cacheSize = 1024            // organizations that one process serves at once
)

// cacheKey holds the organization too: the wrapped bytes of one organization
// presented by another are a miss, and then refused by the master key.
type cacheKey struct {
	org     string
	wrapped [sha256.Size]byte
}

type cached struct {
	cipher tink.AEAD
	opened time.Time
}

// cache keeps opened data keys. Their age counts from opening and not from
// last use, so that a busy key is checked as often as an idle one.
type cache struct {
	now     func() time.Time
	mu      sync.Mutex
	entries map[cacheKey]cached
}

func newCache(now func() time.Time) *cache {
	return &cache{now: now, entries: map[cacheKey]cached{}}
}

func cacheKeyOf(key DataKey, org string) cacheKey {
	return cacheKey{org, sha256.Sum256(key)}
}

func (c *cache) find(key DataKey, org string) (tink.AEAD, bool) {
	k := cacheKeyOf(key, org)
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[k]
	if ok && c.stale(e) {
		delete(c.entries, k)
		return nil, false
	}
	return e.cipher, ok
}

func (c *cache) keep(key DataKey, org string, cipher tink.AEAD) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= cacheSize {
		c.shrink()
	}
	c.entries[cacheKeyOf(key, org)] = cached{cipher, c.now()}
}

// forget drops the keys of an organization.
func (c *cache) forget(org string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range c.entries {
		if k.org == org {
			delete(c.entries, k)
		}
	}
}

// shrink drops what is stale, or else the oldest. The walk is short beside the
// opening that caused it.
func (c *cache) shrink() {
	var (
		oldest cacheKey
		since  time.Time
	)
	for k, e := range c.entries {
		if c.stale(e) {
			delete(c.entries, k)
			continue
		}
		if since.IsZero() || e.opened.Before(since) {
			oldest, since = k, e.opened
		}
	}
	if len(c.entries) >= cacheSize {
		delete(c.entries, oldest)
	}
}

// stale holds for the future as well: a clock that was set back lengthens no
// key's stay.
func (c *cache) stale(e cached) bool {
	age := c.now().Sub(e.opened)
	return age < 0 || age >= cacheAge
}
