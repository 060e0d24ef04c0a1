package change

import (
	"slices"
	"sync"
)

// onEvent is what wakes followers; everything else that wakes is a topic.
const onEvent = ""

// bell wakes loops of this process when it has committed something for them. A
// loop that does not hear it finds the same by polling: it only saves time.
type bell struct {
	mu        sync.Mutex
	listeners map[string][]chan struct{}
}

// listen returns a channel that gets a value after any of the topics was rung,
// and the function that ends it.
func (b *bell) listen(topics ...string) (<-chan struct{}, func()) {
	ears := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[string][]chan struct{}{}
	}
	for _, t := range topics {
		b.listeners[t] = append(b.listeners[t], ears)
	}
	return ears, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, t := range topics {
			b.listeners[t] = slices.DeleteFunc(b.listeners[t], func(c chan struct{}) bool { return c == ears })
		}
	}
}

// ring wakes whoever listens for the topic.
func (b *bell) ring(topic string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, ears := range b.listeners[topic] {
		select {
		case ears <- struct{}{}:
		default: // it is awake already
		}
	}
}
