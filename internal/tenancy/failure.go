package tenancy

import (
	"context"
	"math"
	"net/netip"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/platform/ratelimit"
)

// ErrTooManyFailures is what a caller sees who has presented too many keys that
// do not work.
var ErrTooManyFailures = fault.New(fault.RateLimited, "too_many_failed_sign_ins", "Too many API keys that do not work were presented from this address, or for this key. Wait as long as Retry-After says.")

// failureWindow is the time in which failed sign-ins are counted, by each
// process: they are about the cost of a process, and need no memory of others.
const failureWindow = time.Minute

// failures counts sign-ins that failed, by the address that they came from and
// by the public part of the key. It holds off whoever guesses, and nobody else:
// a key that this process knows is looked at however many others failed, and one
// that is right is accepted however many wrong ones had its public part.
type failures struct {
	limit   int
	counted *ratelimit.Memory
}

// newFailures remembers up to 32,768 addresses and keys, the latest ones: about
// 10 MB.
func newFailures(limit int, now func() time.Time) *failures {
	return &failures{limit: limit, counted: ratelimit.NewMemory(failureWindow, ratelimit.Options{MaxKeys: 1 << 15, MaxEntries: 1 << 18, Clock: now})}
}

// held refuses an address that has failed too often.
func (f *failures) held(ctx context.Context) error {
	d, err := f.counted.Take(ctx, address(ctx), f.limit, 0)
	if err != nil || d.Remaining > 0 {
		return err
	}
	return refusal(d.ResetAfter)
}

// note counts a failed sign-in and returns why it failed, or a refusal if there
// were too many.
func (f *failures) note(ctx context.Context, keyID string, why error) error {
	wants := []ratelimit.Want{{Key: address(ctx), Limit: f.limit, Cost: 1}}
	if keyID != "" {
		wants = append(wants, ratelimit.Want{Key: "key/" + keyID, Limit: f.limit, Cost: 1})
	}
	all, err := f.counted.TakeAll(ctx, wants...)
	if err != nil {
		return err
	}
	if d := ratelimit.Tightest(all); !d.Allowed {
		return refusal(d.RetryAfter)
	}
	return why
}

func refusal(wait time.Duration) error {
	return ErrTooManyFailures.With("retryAfterSeconds", max(1, int(math.Ceil(wait.Seconds()))))
}

// address is what failures of a caller are counted under: its address, or of an
// IPv6 address the network that one subscriber has.
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
