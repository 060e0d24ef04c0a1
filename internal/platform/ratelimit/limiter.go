package ratelimit

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/assayhq/assay/internal/platform/redis"
)

const (
	// Window is the window of the product's plans.
	Window = time.Hour

	// ExactLimit is the highest limit for which every admitted request keeps its
	// own time: 160 kB in memory, 140 kB in Redis when all of it is used.
	ExactLimit = 10_000

	// Steps is how many steps a window has for limits above ExactLimit.
	Steps = 3600

	// MaxLimit bounds limits, since Redis counts in doubles. Higher limits are
	// taken as this one.
	MaxLimit = 1 << 50
)

// ErrCost is returned for a negative cost.
var ErrCost = errors.New("ratelimit: cost is negative")

// Decision is the answer to one request.
type Decision struct {
	Allowed   bool
	Limit     int
	Remaining int // units left after this request

	// ResetAfter is the time until the oldest counted request leaves the window
	// and Remaining grows, or zero if nothing is counted.
	ResetAfter time.Duration

	// RetryAfter is the time after which the same request is admitted, if none
	// is admitted in between. It is zero if this one is. A request that costs
	// more than the limit is never admitted; it gets a whole window.
	RetryAfter time.Duration
}

// Limiter admits or refuses requests.
type Limiter interface {
	// Take admits a request of the given cost if the key has that much left
	// under the limit, and counts it. It admits all of the cost or nothing. A
	// cost of zero counts nothing and reports the state.
	Take(ctx context.Context, key string, limit, cost int) (Decision, error)
	// TakeAll is Take for several keys, which differ, in one step: it counts for
	// all of them, or for none if one refuses. The decisions are in their order;
	// one that is not allowed is among them if nothing was counted.
	TakeAll(ctx context.Context, wants ...Want) ([]Decision, error)
}

// Want is what a request asks of one key.
type Want struct {
	Key         string
	Limit, Cost int
}

// Tightest is the decision that a caller hears of: of those that refuse the one
// with the longest wait, else the one that leaves least.
func Tightest(all []Decision) Decision {
	least := all[0]
	for _, d := range all[1:] {
		switch {
		case d.Allowed != least.Allowed:
			if !d.Allowed {
				least = d
			}
		case d.RetryAfter > least.RetryAfter, d.RetryAfter == least.RetryAfter && d.Remaining < least.Remaining:
			least = d
		}
	}
	return least
}

// Options are what tests and unusual deployments change. The zero value is
// right for production.
type Options struct {
	MaxKeys    int              // keys that Memory remembers; 131,072
	MaxEntries int              // log entries that Memory keeps beyond eight a key; 4,194,304
	Timeout    time.Duration    // longest wait for Redis; 50 ms
	Pause      time.Duration    // rest after a failure of Redis; 900 ms
	Clock      func() time.Time // time.Now
	Log        *slog.Logger     // slog.Default
}

func (o Options) filled() Options {
	if o.MaxKeys == 0 {
		o.MaxKeys = 1 << 17
	}
	if o.MaxEntries == 0 {
		o.MaxEntries = 1 << 22
	}
	if o.Timeout == 0 {
		o.Timeout = 50 * time.Millisecond // a request can bear it; a healthy Redis answers in one
	}
	if o.Pause == 0 {
		o.Pause = 900 * time.Millisecond // with the timeout, a returned Redis is in use within 1 s
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// Open returns the limiter that a replica uses: counts shared through Redis,
// softly, or counts of its own if client is nil. The function ends it.
func Open(client *redis.Client, window time.Duration, o Options) (Limiter, func() error) {
	local := NewMemory(window, o)
	if client == nil {
		return local, func() error { return nil }
	}
	shared := NewRedis(client, window, o)
	return NewSoft(shared, local, o), shared.Close
}

// outcome is what a log says about one request. Times are nanoseconds.
type outcome struct {
	allowed      bool
	used         int64 // units in the window, with this request if it is admitted
	reset, retry int64
	at           int64 // when the log says that it is
}

func (o outcome) decision(limit int) Decision {
	return Decision{
		Allowed:    o.allowed,
		Limit:      limit,
		Remaining:  int(max(0, min(int64(limit), MaxLimit)-o.used)),
		ResetAfter: time.Duration(o.reset),
		RetryAfter: time.Duration(o.retry),
	}
}
