package temporal

import (
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/assayhq/assay/internal/core/principal"
)

// shares keeps an organization from holding all slots of a worker, however much it
// has to do and however long that takes: a quarter is left for others.
type shares struct {
	most int

	mu   sync.Mutex
	held map[principal.OrgID]int
}

func newShares(slots int) *shares {
	return &shares{most: slots - slots/4, held: map[principal.OrgID]int{}}
}

// take takes a slot for an organization, and reports whether it has not had its
// share.
func (s *shares) take(org principal.OrgID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[org] >= s.most {
		return false
	}
	s.held[org]++
	return true
}

// give gives a slot back.
func (s *shares) give(org principal.OrgID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[org]--; s.held[org] == 0 {
		delete(s.held, org)
	}
}

// errShare makes an activity whose organization has its share wait outside of the
// worker.
var errShare = temporal.NewApplicationErrorWithOptions("the organization has its share of the worker's slots", "share",
	temporal.ApplicationErrorOptions{NextRetryDelay: 2 * time.Second})
