package provider

import (
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy"
)

// Parts are what the service is built from.
type Parts struct {
	Postgres *postgres.DB
	Tenancy  *tenancy.Service
	// Secrets is nil if the deployment has no master key; keys cannot be stored
	// then.
	Secrets *secret.Keeper
	Egress  *egress.Client
	Models  *llm.Client
	Log     *change.Log
	Now     func() time.Time
}

// Service stores keys, and asks models and applications.
type Service struct {
	db      *postgres.DB
	store   store
	tenancy *tenancy.Service
	secrets *secret.Keeper
	egress  *egress.Client
	models  *llm.Client
	log     *change.Log
	now     func() time.Time
	clock   func() time.Time // for durations: now, not rounded to what is shown
	widths  widths
	tills   tills
}

// New makes the service.
func New(p Parts) *Service {
	// The interface shows milliseconds; what is stored is what is shown.
	shown := func() time.Time { return p.Now().Truncate(time.Millisecond) }
	s := &Service{
		db: p.Postgres, store: store{p.Postgres}, tenancy: p.Tenancy, secrets: p.Secrets, egress: p.Egress, models: p.Models, log: p.Log, now: shown, clock: p.Now,
		widths: widths{clock: p.Now, all: map[keyOf]*width{}},
	}
	s.tills = tills{service: s, all: map[purse]*till{}}
	return s
}

// CheckURL refuses a URL that may not be called.
func (s *Service) CheckURL(url string) error { return s.egress.CheckURL(url) }

// NeedsKey reports whether a provider is called with a key.
func (s *Service) NeedsKey(provider string) bool { return !s.models.IsInside(provider) }
