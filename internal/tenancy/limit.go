package tenancy

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/platform/ratelimit"
	"github.com/assayhq/assay/internal/principal"
)

// Spend counts one request of the caller's key against its hour. The hour
// slides: at no moment has the key made more requests in the last 3,600
// seconds than its limit.
func (s *Service) Spend(ctx context.Context, c principal.Caller) (ratelimit.Decision, error) {
	return s.take(ctx, c.Org, c.KeyID, c.HourlyLimit, 1)
}

// SpendTelemetry counts spans and bytes against buckets of their own: an
// exporter that flushes every few seconds would spend an hour's requests in
// minutes. Nothing is counted unless both fit.
func (s *Service) SpendTelemetry(ctx context.Context, c principal.Caller, spans, bytes int) (ratelimit.Decision, error) {
	buckets := []struct {
		name        string
		limit, cost int
	}{{"/spans/", s.plans.SpansHour, spans}, {"/bytes/", s.plans.BytesHour, bytes}}
	var tightest ratelimit.Decision
	for _, counting := range []bool{false, true} {
		for i, b := range buckets {
			cost := b.cost
			if !counting {
				cost = 0
			}
			d, err := s.limiter.Take(ctx, c.Org.String()+b.name+c.KeyID, b.limit, cost)
			if err != nil {
				return ratelimit.Decision{}, fmt.Errorf("count telemetry: %w", err)
			}
			if !counting && d.Remaining < b.cost {
				d.Allowed = false
				d.RetryAfter = max(d.ResetAfter, d.RetryAfter)
			}
			if !d.Allowed {
				return d, nil
			}
			if i == 0 || d.Remaining < tightest.Remaining {
				tightest = d
			}
		}
	}
	return tightest, nil
}

// Standing is where a key stands in its hour, without counting a request.
func (s *Service) Standing(ctx context.Context, org principal.OrgID, k Key) (ratelimit.Decision, error) {
	o, err := s.Organization(ctx, org)
	if err != nil {
		return ratelimit.Decision{}, err
	}
	return s.take(ctx, org, k.KeyID, o.HourlyLimit, 0)
}

func (s *Service) take(ctx context.Context, org principal.OrgID, keyID string, limit, cost int) (ratelimit.Decision, error) {
	d, err := s.limiter.Take(ctx, org.String()+"/key/"+keyID, limit, cost)
	if err != nil {
		return ratelimit.Decision{}, fmt.Errorf("count request: %w", err)
	}
	return d, nil
}
