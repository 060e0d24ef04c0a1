package tenancy

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/ratelimit"
)

// Spend counts one request of the caller's key against its hour, and against the
// hour of its organization. The hours slide: at no moment has the key, or have
// all keys together, made more requests in the last 3,600 seconds than the
// limit. One step decides both, so that a refused request spends nothing.
func (s *Service) Spend(ctx context.Context, c principal.Caller) (ratelimit.Decision, error) {
	return s.take(ctx,
		ratelimit.Want{Key: c.Org.String() + "/key/" + c.KeyID, Limit: c.HourlyLimit, Cost: 1},
		ratelimit.Want{Key: c.Org.String() + "/requests", Limit: c.OrgHourlyLimit, Cost: 1},
	)
}

// SpendTelemetry counts spans and bytes against buckets of their own, of the key
// and of its organization: an exporter that flushes every few seconds would spend
// an hour's requests in minutes. Nothing is counted unless all of it fits.
func (s *Service) SpendTelemetry(ctx context.Context, c principal.Caller, spans, bytes int) (ratelimit.Decision, error) {
	org := c.Org.String()
	return s.take(ctx,
		ratelimit.Want{Key: org + "/spans/" + c.KeyID, Limit: s.plans.SpansHour, Cost: spans},
		ratelimit.Want{Key: org + "/bytes/" + c.KeyID, Limit: s.plans.BytesHour, Cost: bytes},
		ratelimit.Want{Key: org + "/spans", Limit: orgFactor * s.plans.SpansHour, Cost: spans},
		ratelimit.Want{Key: org + "/bytes", Limit: orgFactor * s.plans.BytesHour, Cost: bytes},
	)
}

// Standing is where a key stands in its hour, without counting a request.
func (s *Service) Standing(ctx context.Context, org principal.OrgID, k Key) (ratelimit.Decision, error) {
	o, err := s.Organization(ctx, org)
	if err != nil {
		return ratelimit.Decision{}, err
	}
	return s.take(ctx, ratelimit.Want{Key: org.String() + "/key/" + k.KeyID, Limit: o.HourlyLimit})
}

func (s *Service) take(ctx context.Context, wants ...ratelimit.Want) (ratelimit.Decision, error) {
	all, err := s.limiter.TakeAll(ctx, wants...)
	if err != nil {
		return ratelimit.Decision{}, fmt.Errorf("count request: %w", err)
	}
	return ratelimit.Tightest(all), nil
}
