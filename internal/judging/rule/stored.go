package rule

import (
	"context"
	"errors"
	"fmt"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

// stored makes sure that the results of settled claims can be read. An attempt that
// died has recorded them, and they are on their way. A trace that was deleted since
// has taken its result along: the outcome of its claim is all that is left.
func (s *Service) stored(ctx context.Context, org principal.OrgID, all []claim) error {
	type version struct {
		config int64
		number int
	}
	settled := map[version][]claim{}
	for _, c := range all {
		if c.outcome != "" && c.outcome != OutcomeSkipped {
			v := version{c.config, c.version}
			settled[v] = append(settled[v], c)
		}
	}
	for v, claims := range settled {
		by, err := s.judges.Find(ctx, org, v.config)
		if err != nil {
			return err
		}
		ids := make([]span.TraceID, len(claims))
		for i, c := range claims {
			ids[i] = c.trace
		}
		found, err := s.judges.Judged(ctx, org, by, v.number, ids)
		if err != nil {
			return err
		}
		for _, c := range claims {
			if _, ok := found[c.trace]; ok {
				continue
			}
			t, err := s.traces.Find(ctx, org, c.trace)
			if gone(t, err) || err == nil && t.CreatedAt.After(c.at) { // another one with the same id
				continue
			}
			if err != nil {
				return err
			}
			return fmt.Errorf("the result about trace %s is not stored yet", c.trace)
		}
	}
	return nil
}

// gone reports whether nothing of a trace that was looked up is stored.
func gone(t trace.Trace, err error) bool {
	return errors.Is(err, trace.ErrNotFound) || err == nil && t.Stub
}
