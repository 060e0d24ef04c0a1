package metric

import "sync"

// cache remembers what was compiled from texts. It holds the texts of at most
// two generations of cacheBytes: when the younger is full, the older is
// forgotten.
type cache[V any] struct {
	mu          sync.Mutex
	young, aged map[string]V
	bytes       int
}

const cacheBytes = 512 << 10

// get returns what compile made of the text, now or earlier. Failures are not
// remembered. Two that ask at once may both compile it.
func (c *cache[V]) get(text string, compile func(string) (V, error)) (V, error) {
	if v, ok := c.find(text); ok {
		return v, nil
	}
	v, err := compile(text)
	if err == nil {
		c.put(text, v)
	}
	return v, err
}

func (c *cache[V]) find(text string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.young[text]; ok {
		return v, true
	}
	v, ok := c.aged[text]
	if ok {
		c.keep(text, v)
	}
	return v, ok
}

func (c *cache[V]) put(text string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(text, v)
}

func (c *cache[V]) keep(text string, v V) {
	const entry = 256 // what an entry takes beside its text
	if c.young == nil || c.bytes+len(text)+entry > cacheBytes {
		c.aged, c.young, c.bytes = c.young, map[string]V{}, 0
	}
	if _, known := c.young[text]; !known {
		c.bytes += len(text) + entry
	}
	c.young[text] = v
}
