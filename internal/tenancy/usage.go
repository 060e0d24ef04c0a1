package tenancy

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
)

// Usage is what one key did over some days. Latencies are in milliseconds.
type Usage struct {
	From, To    time.Time
	Requests    int64
	Errors      int64
	RateLimited int64
	Average     float64
	P50, P95    float64
	ByDay       []UsageDay
	ByOperation []UsageOperation
}

// UsageDay is one day of a key.
type UsageDay struct {
	Date     time.Time
	Requests int64
	Errors   int64
}

// UsageOperation is one operation of a key.
type UsageOperation struct {
	Operation string
	Requests  int64
	Errors    int64
	P50, P95  float64
}

// Usage returns what a key did in the last days, today included.
func (s *Service) Usage(ctx context.Context, org principal.OrgID, id int64, days int) (Key, Usage, error) {
	k, err := s.Key(ctx, org, id)
	if err != nil {
		return Key{}, Usage{}, err
	}
	to := s.now().UTC()
	from := to.Truncate(24*time.Hour).AddDate(0, 0, 1-days)
	u, err := s.store.usageTotals(ctx, org, k.KeyID, from, to)
	if err != nil {
		return Key{}, Usage{}, err
	}
	u.From, u.To = from, to
	if u.ByDay, err = s.store.usageByDay(ctx, org, k.KeyID, from, to); err != nil {
		return Key{}, Usage{}, err
	}
	u.ByOperation, err = s.store.usageByOperation(ctx, org, k.KeyID, from, to)
	return k, u, err
}
