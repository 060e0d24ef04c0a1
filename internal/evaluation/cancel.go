package evaluation

import (
	"context"
	"errors"
	"strconv"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// cancelPage is how many runs CancelAll looks up at once.
const cancelPage = 100

// CancelAll ends every run of an organization that is under way and returns how
// many there were. It is for whoever stops all work of an organization, and may
// be called again: each run is ended in a transaction of its own.
func (s *Service) CancelAll(ctx context.Context, org principal.OrgID) (ended int64, err error) {
	for {
		runs, err := s.store.allRunning(ctx, s.db.Org(org), org, cancelPage)
		if err != nil {
			return ended, err
		}
		for _, id := range runs {
			err := postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
				before, err := s.store.lockRunTx(ctx, tx, id)
				if err != nil {
					return err
				}
				if before.Status != StatusRunning {
					return nil
				}
				_, err = s.cancelTx(ctx, tx, before)
				return err
			})
			if err != nil && !errors.Is(err, ErrRunNotFound) {
				return ended, err
			}
			ended++
		}
		if len(runs) < cancelPage {
			return ended, nil
		}
	}
}

// cancelTx ends a run that is locked and running.
func (s *Service) cancelTx(ctx context.Context, tx postgres.Tx, before Run) (Run, error) {
	after, err := s.endTx(ctx, tx, before, StatusCancelled, nil)
	if err != nil {
		return Run{}, err
	}
	if err := s.log.PublishTx(ctx, tx, TopicCancelled, "run/"+strconv.FormatInt(before.ID, 10), Ticket{Org: tx.Org, Run: before.ID}); err != nil {
		return Run{}, err
	}
	return after, change.RecordTx(ctx, s.log, tx, eventRunCancelled, before.ID, &before, &after)
}
