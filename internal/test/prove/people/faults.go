package people

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// faults does faults, spread over the work. The last items take long to come: nothing is
// left for a fault to meet.
func (s *system) faults(ctx context.Context, l *load) (done int, err error) {
	return s.Meet(ctx, []rig.Fault{{Name: "server killed", Run: s.KillServer}, s.KillEngine("postgres")}, s.Faults, s.Only, rig.Meeting{
		Ready: func(ctx context.Context, done int) error {
			return l.reach(ctx, (done+1)*l.items*perItem*9/10/(s.Faults+1))
		},
		Complaint: l.complaint,
		Progress: func() string {
			answers, _ := l.progress()
			return fmt.Sprintf("answers %d", answers)
		},
	})
}

// reach waits until people have answered so often.
func (l *load) reach(ctx context.Context, answers int) error {
	for limit, before := time.Now().Add(rig.Patience), 0; ; {
		now, _ := l.progress()
		if now >= answers {
			return nil
		}
		if now > before {
			before, limit = now, time.Now().Add(rig.Patience)
		}
		if err := errors.Join(rig.Sleep(ctx, 20*time.Millisecond), l.complaint()); err != nil {
			return err
		}
		if time.Now().After(limit) {
			return errors.New("nothing is answered any more")
		}
	}
}
