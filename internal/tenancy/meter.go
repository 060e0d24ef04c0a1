package tenancy

import (
	"sync"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
)

const (
	// meterFlush is how long a request may be missing from the usage figures.
	meterFlush = time.Second
	// meterBlock is when a block is written without waiting.
	meterBlock = 10_000
	// meterHold bounds memory while ClickHouse is away; beyond it further
	// figures are dropped and counted. Usage is a figure, not evidence.
	meterHold = 200_000
)

// Request is one metered request.
type Request struct {
	Org       principal.OrgID
	KeyID     string
	Operation string
	Status    int
	Took      time.Duration
	At        time.Time
}

// meter collects requests and writes them in blocks: never a row a request.
type meter struct {
	mu      sync.Mutex
	pending []Request
	dropped int64
	full    chan struct{}
	touched map[int64]touch
}

// touch is a key's last use, written once a minute at most.
type touch struct {
	org     principal.OrgID
	at      time.Time
	written time.Time
}

func newMeter() *meter {
	return &meter{full: make(chan struct{}, 1), touched: map[int64]touch{}}
}

func (m *meter) used(k storedKey, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.touched[k.ID]
	t.org, t.at = k.Org, at
	m.touched[k.ID] = t
}

func (m *meter) add(r Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.pending) >= meterHold {
		m.dropped++
		return
	}
	m.pending = append(m.pending, r)
	if len(m.pending) >= meterBlock {
		select {
		case m.full <- struct{}{}:
		default:
		}
	}
}

// take removes up to a block of requests.
func (m *meter) take() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(len(m.pending), meterBlock)
	block := m.pending[:n:n]
	m.pending = m.pending[n:]
	return block
}

// giveBack puts a block that could not be written in front again.
func (m *meter) giveBack(block []Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending = append(block, m.pending...)
}
