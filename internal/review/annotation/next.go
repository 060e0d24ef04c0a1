package annotation

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// releaseBatch is how many leases that have expired one request takes back: more than
// a request can make.
const releaseBatch = 20

// Next hands a person the next item of a task for a while: the one that they hold, or
// else the first one in the queue that needs somebody and that they have neither
// answered nor skipped. It is nil if there is none for them now.
//
// No two people hold the same slot of an item, and what it costs does not depend on
// how many items wait.
func (s *Service) Next(ctx context.Context, org principal.OrgID, task int64, person uuid.UUID, lease time.Duration) (*Read, Task, error) {
	t, err := s.Task(ctx, org, task)
	if err != nil {
		return nil, t, err
	}
	// A task whose last item was just completed has nothing to hand out.
	if err := t.open(person); err != nil && t.Status != TaskCompleted {
		return nil, t, err
	}
	if err := t.admits(person); err != nil || t.Status == TaskCompleted {
		return nil, t, err
	}
	if err := s.release(ctx, org, t); err != nil {
		return nil, t, err
	}
	var out *Read
	err = postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		item, err := s.store.nextTx(ctx, tx, task, person, s.now(), lease)
		if err != nil || item == 0 {
			return err
		}
		i, err := s.store.findItem(ctx, tx, org, item)
		if err != nil {
			return err
		}
		read, err := s.readTx(ctx, tx, &person, []Item{i})
		if err == nil {
			out = &read[0]
		}
		return err
	})
	return out, t, err
}

// release takes items back that people held and did not answer in time. Nothing else
// does: it matters only when somebody asks for an item.
func (s *Service) release(ctx context.Context, org principal.OrgID, t Task) error {
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		items, err := s.store.expiredTx(ctx, tx, t.ID, s.now(), releaseBatch)
		if err != nil {
			return err
		}
		for _, i := range items {
			n, err := s.store.dropExpiredTx(ctx, tx, i.ID, s.now())
			if err != nil {
				return err
			}
			after := i
			after.Held -= n
			if _, err := s.saveTx(ctx, tx, t, i, after); err != nil {
				return err
			}
		}
		return nil
	})
}
