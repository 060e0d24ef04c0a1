package evidence

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// faults does so many faults, one after the consequences of the other. At the point, the
// server has stored what events say, and not the events.
func (s *system) faults(ctx context.Context, l *load, n int, only string) (done int, err error) {
	if err := l.settle(ctx); err != nil {
		return 0, err
	}
	return s.Meet(ctx, []rig.Fault{
		s.ServerAt(evidence.BeforeEvents),
		s.KillEngine("clickhouse"),
		s.KillEngine("postgres"),
		{Name: "server killed", Run: s.KillServer},
	}, n, only, rig.Meeting{
		Ready: func(context.Context, int) error { return nil }, Over: l.settle, Complaint: l.complaint,
		Progress: func() string {
			return fmt.Sprintf("events %d unanswered %d refused %d", l.size(), l.unanswered.Load(), l.refused.Load())
		},
	})
}
