package evidence

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/internal/streamdb"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ErrBeingStored is returned if another request stores the same records for too long.
var ErrBeingStored = fault.New(fault.Unavailable, "being_stored", "Another request is storing the same records. Send this one again.").With("retryAfterSeconds", 5)

const (
	// leaseTime is how long a lease lasts that is not renewed: when its holder dies,
	// others go on after that.
	leaseTime  = 10 * time.Second
	renewEvery = 3 * time.Second
	// storeTime bounds what is done under a lease.
	storeTime = 20 * time.Second
	// lateTime is how long after a timeout something can still arrive: the rest of a
	// write that is under way, and the write after it.
	lateTime = 2*streamdb.WriteTimeout + 5*time.Second
	// waitTime is how long a request waits for the lease of another.
	waitTime = 20 * time.Second
)

// errHeld says that another lease holds a key.
var errHeld = errors.New("another request holds a key")

// lease is keys that are claimed, and held until it ends. One without an id holds none.
type lease struct {
	claims map[key]claim
	org    principal.OrgID
	id     int64
}

// refused is an error that comes before anything was stored: the lease ends at once.
type refused struct{ error }

// Unwrap is what a caller sees.
func (r refused) Unwrap() error { return r.error }

// leaseKeys claims keys, and keeps others from storing anything under them meanwhile. Check
// sees the claims before they are made; if it refuses them, nothing is claimed.
//
// A request that is repeated may store the same again before the first one has ended,
// because each of the two has all that the other has: it is named by request. Zero is a
// request that must not.
func (s *intake) leaseKeys(
	ctx context.Context, org principal.OrgID, request key, wanted map[key]want, check func(map[key]claim) error,
) (l lease, err error) {
	l.org = org
	if len(wanted) == 0 {
		return l, nil
	}
	waiting, cancel := context.WithTimeout(ctx, waitTime)
	defer cancel()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		err = postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
			claims, id, free, err := s.store.HoldTx(ctx, tx, wanted, request, leaseTime, s.expiry())
			switch {
			case err != nil:
				return err
			case !free:
				return errHeld
			}
			l.claims, l.id = claims, id
			return check(claims)
		})
		if !errors.Is(err, errHeld) {
			return l, err
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-waiting.Done():
			wait.Stop()
			return l, cmp.Or(ctx.Err(), error(ErrBeingStored))
		}
	}
}

// underLease stores something under a lease, whether or not the caller still waits for it. If it
// fails, what was sent may still arrive: the lease then ends by itself.
func (s *intake) underLease(ctx context.Context, l lease, do func(context.Context) error) error {
	if l.id == 0 {
		return do(ctx)
	}
	ctx = context.WithoutCancel(ctx)
	working, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	go s.renewLease(working, cancel, l)
	err := do(working)
	cancel()
	ending, cancel := context.WithTimeout(ctx, leaseTime)
	defer cancel()
	switch {
	case err == nil || errors.As(err, new(refused)):
		if err := s.store.Release(ending, l.org, l.id); err != nil {
			slog.WarnContext(ctx, "a lease of evidence ends late", "error", err)
		}
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, streamdb.ErrUnclear):
		if err := s.store.Extend(ending, l.org, l.id, lateTime); err != nil {
			slog.WarnContext(ctx, "a lease of evidence ends early", "error", err)
		}
	}
	return err
}

// renewLease renews a lease until ctx ends. If it cannot, it stops the work under the lease
// before the lease ends.
func (s *intake) renewLease(ctx context.Context, stop context.CancelFunc, l lease) {
	// A try takes up to renewEvery, and the lease counts from its beginning.
	const sure = leaseTime - renewEvery - time.Second
	tick, end := time.NewTicker(renewEvery), time.NewTimer(sure)
	defer tick.Stop()
	defer end.Stop()
	for {
		select {
		case <-tick.C:
			try, cancel := context.WithTimeout(ctx, renewEvery)
			err := s.store.Renew(try, l.org, l.id, leaseTime)
			cancel()
			if err == nil {
				end.Reset(sure)
			} else if ctx.Err() == nil {
				slog.WarnContext(ctx, "a lease of evidence is not renewed", "error", err)
			}
		case <-end.C:
			stop()
			return
		case <-ctx.Done():
			return
		}
	}
}
