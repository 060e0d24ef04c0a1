package trace

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/tenancy/price"
	"github.com/assayhq/assay/internal/tenancy/redact"
)

// ErrRules is what a sender sees whose organization has redaction rules that
// cannot be used: nothing is stored without them.
var ErrRules = fault.New(fault.Validation, "redaction_rules", "The organization's redaction rules cannot be used, so nothing is stored. Change redactionRules with PATCH /api/organizations/current.")

// orgSettings are an organization's own rules, ready to be used.
type orgSettings struct {
	retention uint16
	redactor  *redact.Redactor
	prices    *price.Table
	ownPrices int // how many of the prices are the organization's own
}

// settingsAge is how long a change of an organization's rules may go unnoticed
// by the telemetry that arrives.
const settingsAge = 5 * time.Second

// settingsCache keeps the rules of the organizations that send.
type settingsCache struct {
	read   func(context.Context, principal.OrgID) (tenancy.Organization, error)
	now    func() time.Time
	days   int // retention of organizations without one
	flight singleflight.Group

	mu      sync.RWMutex
	entries map[principal.OrgID]settingsEntry
	weight  int // of all entries
}

type settingsEntry struct {
	settings *orgSettings
	read     time.Time
}

// maxWeight bounds the cache by what its entries weigh; beyond that everything is
// read anew. A unit is up to 200 bytes: a step of a pattern, or a price.
const maxWeight = 400_000

func (s *orgSettings) weight() int { return 10 + s.redactor.Steps() + s.ownPrices }

// get returns the rules as they were at most settingsAge ago. While they
// cannot be read the last ones known are used: telemetry does not stop because
// PostgreSQL is away.
func (c *settingsCache) get(ctx context.Context, org principal.OrgID) (*orgSettings, error) {
	c.mu.RLock()
	e, ok := c.entries[org]
	c.mu.RUnlock()
	if ok && c.now().Sub(e.read) < settingsAge {
		return e.settings, nil
	}
	v, err, _ := c.flight.Do(org.String(), func() (any, error) { return c.load(context.WithoutCancel(ctx), org) })
	if err != nil {
		if ok {
			slog.WarnContext(ctx, "organization settings are old", "org_id", org.String(), "error", err)
			return e.settings, nil
		}
		return nil, err
	}
	return v.(*orgSettings), nil
}

// settingsRead is the longest that telemetry waits for the rules.
const settingsRead = 5 * time.Second

func (c *settingsCache) load(ctx context.Context, org principal.OrgID) (*orgSettings, error) {
	ctx, cancel := context.WithTimeout(ctx, settingsRead)
	defer cancel()
	began := c.now()
	o, err := c.read(ctx, org)
	if err != nil {
		return nil, fmt.Errorf("read organization settings: %w", err)
	}
	s := &orgSettings{retention: retentionClass(c.days)}
	if o.Settings.RetentionDays > 0 {
		s.retention = retentionClass(o.Settings.RetentionDays)
	}
	rules := make([]redact.Rule, len(o.Settings.RedactionRules))
	for i, r := range o.Settings.RedactionRules {
		rules[i] = redact.Rule{Name: r.Name, Key: r.Key, Pattern: r.Pattern}
	}
	if s.redactor, err = redact.New(rules); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRules, err)
	}
	s.prices, s.ownPrices = o.Settings.Prices(), len(o.Settings.PriceOverrides)
	c.put(org, settingsEntry{settings: s, read: began})
	return s, nil
}

func (c *settingsCache) put(org principal.OrgID, e settingsEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, ok := c.entries[org]; ok {
		c.weight -= before.settings.weight()
	}
	c.weight += e.settings.weight()
	if c.entries == nil || c.weight > maxWeight {
		c.entries, c.weight = map[principal.OrgID]settingsEntry{}, e.settings.weight()
	}
	c.entries[org] = e
}

// Redactor removes what the organization does not want to have stored.
func (s *Service) Redactor(ctx context.Context, org principal.OrgID) (*redact.Redactor, error) {
	settings, err := s.settings.get(ctx, org)
	if err != nil {
		return nil, err
	}
	return settings.redactor, nil
}
