package ratelimit

import "context"

// TakeAt is Take that also tells when the request was decided, in nanoseconds.
func (m *Memory) TakeAt(_ context.Context, key string, limit, cost int) (Decision, int64, error) {
	o, err := m.take(key, limit, cost)
	return o.decision(limit), o.at, err
}

// TakeAt is Take that also tells when the request was decided, by the clock of
// Redis, in nanoseconds.
func (r *Redis) TakeAt(ctx context.Context, key string, limit, cost int) (Decision, int64, error) {
	o, err := r.take(ctx, key, limit, cost)
	return o.decision(limit), o.at, err
}

// SetClock replaces the clock of Redis. It tells nanoseconds.
func (r *Redis) SetClock(now func() int64) { r.now = func() int64 { return now() / 1000 } }

// Key is the name of a log in Redis.
func (r *Redis) Key(key string) string { return r.prefix + key }

// Step is how much too long a unit counts at most, in nanoseconds.
func (m *Memory) Step() int64 { return m.span.step }

// Size is how many keys are remembered, and how much of the budget is left.
func (m *Memory) Size() (keys int, left int64) {
	for i := range m.shards {
		keys += len(m.shards[i].keys)
	}
	return keys, m.budget.left.Load()
}
