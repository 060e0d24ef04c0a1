package ratelimit

import (
	"context"
	_ "embed" // the script
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/assayhq/assay/internal/platform/redis"
)

//go:embed take.lua
var script string

var takeScript = goredis.NewScript(script)

// Redis counts for all replicas, with the answers that Memory would give.
//
// One script decides and counts in one round trip, by the clock of Redis, so
// replicas need no common time. A step of that clock is a fault: forward, it
// forgets early; back, it stands still for keys that are in use. Redis 5 or
// newer is needed, and an eviction policy that spares these keys.
//
// A log takes 14 bytes an admitted request: 14 kB for a limit of 1,000. It
// expires when its newest request leaves the window.
type Redis struct {
	span    span
	prefix  string
	timeout time.Duration
	options goredis.Options
	now     func() int64 // microseconds; nil means Redis's clock

	mu   sync.Mutex
	pool atomic.Pointer[pool]
}

type pool struct {
	*goredis.Client
	dialFailed atomic.Bool
}

// NewRedis returns a limiter on the client's server, through connections of its
// own: they give up after the timeout, and do not retry, since a request that
// was counted and lost would count twice. Close ends them.
func NewRedis(client *redis.Client, window time.Duration, o Options) *Redis {
	o = o.filled()
	r := &Redis{span: newSpan(window), timeout: o.Timeout, options: *client.Options()}
	// Limits of different windows do not share a log.
	r.prefix = "ratelimit:" + strconv.FormatInt(r.span.length/int64(time.Microsecond), 10) + ":"
	r.options.ContextTimeoutEnabled = true
	r.options.DialTimeout = o.Timeout
	r.options.ReadTimeout, r.options.WriteTimeout = o.Timeout, o.Timeout
	r.options.MaxRetries, r.options.DialerRetries = -1, 1
	r.options.DisableIdentity = true
	r.options.PipelinePoolSize = -1
	r.options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	r.options.PushNotificationProcessor = nil // it belongs to the client's own pool
	r.pool.Store(r.open())
	return r
}

// open prepares a pool that knows whether a dial of it failed.
func (r *Redis) open() *pool {
	p, o := &pool{}, r.options
	o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		// The client's own dialer may wait longer than we do.
		ctx, cancel := context.WithTimeout(ctx, r.timeout)
		defer cancel()
		c, err := r.options.Dialer(ctx, network, addr)
		if err != nil {
			p.dialFailed.Store(true)
		}
		return c, err
	}
	p.Client = goredis.NewClient(&o)
	return p
}

// Take implements Limiter. It fails if Redis does not answer in time; the
// request may then have been counted.
func (r *Redis) Take(ctx context.Context, key string, limit, cost int) (Decision, error) {
	o, err := r.take(ctx, key, limit, cost)
	return o.decision(limit), err
}

// TakeAll implements Limiter. It fails as Take does.
func (r *Redis) TakeAll(ctx context.Context, wants ...Want) ([]Decision, error) {
	outcomes, err := r.takeAll(ctx, wants...)
	if err != nil {
		return nil, err
	}
	out := make([]Decision, len(wants))
	for i, w := range wants {
		out[i] = outcomes[i].decision(w.Limit)
	}
	return out, nil
}

func (r *Redis) take(ctx context.Context, key string, limit, cost int) (outcome, error) {
	all, err := r.takeAll(ctx, Want{Key: key, Limit: limit, Cost: cost})
	if err != nil {
		return outcome{}, err
	}
	return all[0], nil
}

func (r *Redis) takeAll(ctx context.Context, wants ...Want) ([]outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	const micro = int64(time.Microsecond)
	var now int64
	if r.now != nil {
		now = r.now()
	}
	keys, args := make([]string, len(wants)), []any{r.span.length / micro, now}
	for i, w := range wants {
		if w.Cost < 0 {
			return nil, ErrCost
		}
		var step int64
		if w.Limit > ExactLimit {
			step = r.span.step / micro
		}
		keys[i] = r.prefix + w.Key
		args = append(args, bounded(w.Limit), min(w.Cost, MaxLimit+1), step)
	}
	p := r.pool.Load()
	v, err := takeScript.Run(ctx, p, keys, args...).Int64Slice()
	if err != nil {
		r.renew(p)
		return nil, fmt.Errorf("take from redis: %w", err)
	}
	out := make([]outcome, len(wants))
	for i := range out {
		said := v[5*i : 5*i+5]
		out[i] = outcome{allowed: said[0] == 1, used: said[1], reset: said[2] * micro, retry: said[3] * micro, at: said[4] * micro}
	}
	return out, nil
}

// renew replaces a pool in which a dial failed. The library counts failed dials
// over the life of a pool and, once they reach its size, tries only once a
// second: too late for a Redis that has returned.
func (r *Redis) renew(failed *pool) {
	if !failed.dialFailed.Load() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pool.Load() == failed {
		r.pool.Store(r.open())
		_ = failed.Close() // nothing is lost that the failure did not lose
	}
}

// Close ends the connections.
func (r *Redis) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pool.Load().Close()
}
