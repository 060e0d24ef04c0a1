package provider

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
)

// Purse is something that a cap can be set on. The organization and its keys have
// purses of their own, which are counted by the calendar month in UTC; every other
// one is counted from its beginning to its end.
type Purse struct {
	Kind, ID   string  // such as judge and the id of one
	Name       string  // for messages: the judge "tone"
	CapNanoUSD *uint64 // nil counts without a limit
}

const (
	purseOrganization = "organization"
	purseKey          = "provider_key"
)

// purse names one purse in one period.
type purse struct {
	org              principal.OrgID
	kind, id, period string
}

// monthly reports whether a cap is one by the month.
func monthly(kind string) bool { return kind == purseOrganization || kind == purseKey }

func period(kind string, now time.Time) string {
	if !monthly(kind) {
		return ""
	}
	return month(now)
}

func month(now time.Time) string { return now.UTC().Format("2006-01") }

// Spending pays for calls out of several purses. Models have one of their own for
// the organization, their key and the purses of their ModelConfig: whoever asks
// them counts nothing again. It is safe for concurrent use.
type Spending struct {
	service *Service
	org     principal.OrgID
	of      []Purse
}

// Spending pays out of the purse of the organization, that of a key unless it is
// zero, and others.
func (s *Service) Spending(ctx context.Context, org principal.OrgID, key int64, of ...Purse) (*Spending, error) {
	o, err := s.tenancy.Organization(ctx, org)
	if err != nil {
		return nil, err
	}
	all := []Purse{organizationPurse(o.Settings.ModelSpendCapUSD)}
	if key != 0 {
		k, err := s.Find(ctx, org, key)
		if err != nil {
			return nil, err
		}
		all = append(all, k.purse())
	}
	return s.spending(org, append(all, of...)), nil
}

func (s *Service) spending(org principal.OrgID, of []Purse) *Spending {
	s.tills.tell(org, of, s.clock())
	return &Spending{s, org, of}
}

func organizationPurse(usd *float64) Purse {
	p := Purse{Kind: purseOrganization, Name: "the organization"}
	if usd != nil {
		nano := NanoUSD(*usd)
		p.CapNanoUSD = &nano
	}
	return p
}

func (k Key) purse() Purse {
	return Purse{Kind: purseKey, ID: strconv.FormatInt(k.ID, 10), Name: fmt.Sprintf("the provider key %q", k.Name), CapNanoUSD: k.MonthlyCapNanoUSD}
}

// Before refuses a call if one of the caps is reached, with a *Failure that stops
// and names it. The database is asked only when an allowance is used up.
func (s *Spending) Before(ctx context.Context) error {
	now := s.service.clock()
	for _, p := range s.of {
		if err := s.service.tills.of(s.org, p, now).before(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Paid counts what a call has cost.
func (s *Spending) Paid(nanoUSD uint64) {
	if nanoUSD == 0 {
		return
	}
	now := s.service.clock()
	for _, p := range s.of {
		s.service.tills.paid(s.org, p, now, int64(min(nanoUSD, 1<<62)))
	}
}

// Close writes down what was spent at once, and gives back what this process holds
// of the purses. Without it that happens a few seconds after the last call.
func (s *Spending) Close(ctx context.Context) error {
	now := s.service.clock()
	var errs []error
	for _, p := range s.of {
		errs = append(errs, s.service.tills.of(s.org, p, now).settle(ctx, false))
	}
	return errors.Join(errs...)
}

// capped reports whether any of the purses has a cap.
func (s *Spending) capped() bool {
	for _, p := range s.of {
		if p.CapNanoUSD != nil {
			return true
		}
	}
	return false
}

// Spent is what was spent of a purse, as far as processes have written it down:
// they do every few seconds.
func (s *Service) Spent(ctx context.Context, org principal.OrgID, p Purse) (uint64, error) {
	l, err := s.store.spend(ctx, purse{org, p.Kind, p.ID, period(p.Kind, s.clock())})
	return uint64(l.spent), err
}

// Close ends what the service does by itself.
func (s *Service) Close() { s.tills.close() }

// SettleSpending writes down what this process has spent, before it ends.
func (s *Service) SettleSpending(ctx context.Context) error {
	var errs []error
	for _, t := range s.tills.list() {
		errs = append(errs, t.settle(ctx, false))
	}
	return errors.Join(errs...)
}
