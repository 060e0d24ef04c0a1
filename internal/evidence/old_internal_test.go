package evidence

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/principal"
)

// ReceiveOld stores an event as a release did that did not understand it.
func (s *Service) ReceiveOld(ctx context.Context, org principal.OrgID, text jsontext.Value) (int64, error) {
	e := readEvent(0, text)
	e.result.Version = "mcp/0"
	e.raw = e.received(Producer{RuntimeKey: "agent"}, Defaults{}, true)
	e.Fate = Unmapped
	red, err := s.traces.Redactor(ctx, org)
	if err != nil {
		return 0, err
	}
	if err := s.check(ctx, org, red, reportsOf([]*event{e})); err != nil {
		return 0, err
	}
	h, events, err := s.holdEvents(ctx, org, []*event{e}, false)
	if err != nil {
		return 0, err
	}
	return h.claims[e.raw.Key].ID, s.under(ctx, h, func(ctx context.Context) error { return s.keepEvents(ctx, org, events, h.claims) })
}
