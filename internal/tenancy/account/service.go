package account

import (
	"context"
	"math"
	"net/netip"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/ratelimit"
	"github.com/assayhq/assay/internal/tenancy"
)

// Parts are what the service is built from.
type Parts struct {
	Postgres *postgres.DB
	Tenancy  *tenancy.Service
	Log      *change.Log
	Config   Config
	Now      func() time.Time
}

// Service lets people in and recognises them.
type Service struct {
	cfg      Config
	db       *postgres.DB
	store    store
	tenancy  *tenancy.Service
	log      *change.Log
	hasher   *hasher
	attempts *ratelimit.Memory
	now      func() time.Time
}

// New makes the service.
func New(p Parts) *Service {
	s := &Service{
		cfg: p.Config, db: p.Postgres, store: store{p.Postgres}, tenancy: p.Tenancy, log: p.Log, hasher: newHasher(),
		now: func() time.Time { return p.Now().Truncate(time.Millisecond) },
	}
	// The latest 32,768 accounts and addresses are remembered, by each process.
	s.attempts = ratelimit.NewMemory(time.Minute, ratelimit.Options{MaxKeys: 1 << 15, MaxEntries: 1 << 18, Clock: p.Now})
	return s
}

// ErrTooManyAttempts is returned when too many passwords or invitations were tried.
var ErrTooManyAttempts = fault.New(fault.RateLimited, "too_many_sign_ins", "Too many attempts. Wait a minute and try again.")

// attempt counts an attempt to get in, by the account and by the address that it comes from. It
// is counted before a password is looked at, so that guessing costs the process nothing more.
func (s *Service) attempt(ctx context.Context, account string) error {
	all, err := s.attempts.TakeAll(ctx,
		ratelimit.Want{Key: address(ctx), Limit: 3 * s.cfg.AttemptsMinute, Cost: 1},
		ratelimit.Want{Key: "account/" + account, Limit: s.cfg.AttemptsMinute, Cost: 1},
	)
	if err != nil {
		return err
	}
	if d := ratelimit.Tightest(all); !d.Allowed {
		return ErrTooManyAttempts.With("retryAfterSeconds", max(1, int(math.Ceil(d.RetryAfter.Seconds()))))
	}
	return nil
}

// address is what the attempts of a browser are counted under: its address, or of an IPv6 address
// the network that one subscriber has.
func address(ctx context.Context) string {
	ip, err := netip.ParseAddr(request.From(ctx).IP)
	if err != nil {
		return "address/"
	}
	if ip.Is6() {
		network, _ := ip.Prefix(64)
		ip = network.Addr()
	}
	return "address/" + ip.String()
}

// caller is a member in person.
func (s *Service) caller(ctx context.Context, org principal.OrgID, m tenancy.Member) (principal.Caller, error) {
	o, err := s.tenancy.Organization(ctx, org)
	if err != nil {
		return principal.Caller{}, err
	}
	if o.Status == tenancy.StatusDeleting {
		return principal.Caller{}, tenancy.ErrOrganizationNotFound
	}
	return principal.Caller{
		Org: org, User: &m.UserID, Scopes: principal.Scopes, Role: m.Role,
		OverOwners: m.Role == principal.Owner, Suspended: o.Status == tenancy.StatusSuspended,
	}, nil
}
