package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

var pointCount = len(evaluation.Failpoints())

// proof is a load that meets faults.
type proof struct {
	s    *system
	load *load
}

func newProof(s *system, seed uint64) *proof { return &proof{s: s, load: newLoad(s, seed)} }

// all does faults, each while runs are under way.
func (p *proof) all(ctx context.Context) (done int, err error) {
	return p.s.Meet(ctx, p.list(), p.s.Faults, p.s.Only, rig.Meeting{
		Ready: func(ctx context.Context, _ int) error {
			return errors.Join(p.load.lively(ctx), rig.Sleep(ctx, p.s.pause))
		},
		Complaint: p.load.complaint,
		Progress: func() string {
			p.load.mu.Lock()
			defer p.load.mu.Unlock()
			return fmt.Sprintf("ended %3d under way %2d asked %d", p.load.ended, len(p.load.all)-p.load.ended, p.s.targets.oracle.Total())
		},
	})
}
