package trace

import (
	"cmp"
	"context"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/herald"
	"github.com/assayhq/assay/internal/tenancy"
)

// Parts are what the service is built from.
type Parts struct {
	Stores
	Config   Config
	Tenancy  *tenancy.Service
	Datasets *dataset.Service
	Scores   *score.Service
	Log      *change.Log
	Now      func() time.Time
}

// Service takes telemetry and answers questions about it.
type Service struct {
	cfg      Config
	store    store
	tenancy  *tenancy.Service
	datasets *dataset.Service
	scores   *score.Service
	log      *change.Log
	settings *settingsCache
	herald   *herald.Herald
	now      func() time.Time
}

// announce is how long telemetry waits until it is published that it arrives.
const announce = time.Second

// New makes the service.
func New(p Parts) *Service {
	s := &Service{
		cfg: p.Config, store: newStore(p.Stores, p.Config, p.Now), tenancy: p.Tenancy, datasets: p.Datasets, scores: p.Scores, log: p.Log,
		now: p.Now, herald: herald.New(p.Postgres, p.Log, cmp.Or(p.Config.Announce, announce)),
	}
	s.settings = &settingsCache{now: p.Now, days: p.Config.RetentionDays}
	if p.Tenancy != nil {
		s.settings.read = p.Tenancy.Organization
	}
	return s
}

// drainPause is how long deferred telemetry waits before the next attempt to
// insert it.
const drainPause = time.Second

// RunDrain inserts deferred telemetry as soon as ClickHouse takes it, until
// ctx ends.
func (s *Service) RunDrain(ctx context.Context) error {
	ticker := time.NewTicker(drainPause)
	defer ticker.Stop()
	for {
		s.store.DrainQuietly(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Drain inserts what is deferred now and returns how many blocks that were.
func (s *Service) Drain(ctx context.Context) (int, error) { return s.store.Drain(ctx) }

// DeferredSince is when the oldest telemetry was deferred that cannot be read yet; zero if
// there is none.
func (s *Service) DeferredSince() time.Time { return s.store.DeferredSince() }
