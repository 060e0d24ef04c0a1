// Package herald says that telemetry of an organization arrives, for those who read it
// later.
package herald

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Topic is published for each period in which telemetry of an organization arrives, before
// the first of it is stored.
const Topic = "trace.arrived"

// Period is how long one message is enough for a process: what arrives later in the same
// period is found by those who read all of it.
const Period = 10 * time.Minute

const (
	// pause is the time to the next attempt after one that failed.
	pause = 10 * time.Second
	// maxKnown is how many organizations a process remembers.
	maxKnown = 100_000
)

// Arrived says that telemetry of an organization arrives in a period.
type Arrived struct {
	Org principal.OrgID `json:"org"`
	// Period counts periods since 1970.
	Period int64 `json:"period"`
}

// From is when the period begins.
func (a Arrived) From() time.Time { return time.Unix(0, a.Period*int64(Period)).UTC() }

// Until is when the period ends.
func (a Arrived) Until() time.Time { return a.From().Add(Period) }

// Herald publishes messages.
type Herald struct {
	db     *postgres.DB
	log    *change.Log
	saying time.Duration
	flight singleflight.Group

	mu    sync.RWMutex
	known map[principal.OrgID]said
}

// said is what was said last about an organization.
type said struct {
	period int64
	// again is when the next attempt is due after one that failed.
	again time.Time
}

// New makes a herald. Telemetry waits for a message as long as saying. If it cannot be
// published, the telemetry is stored all the same, and the next attempt is made after a
// pause.
func New(db *postgres.DB, log *change.Log, saying time.Duration) *Herald {
	return &Herald{db: db, log: log, saying: saying, known: map[principal.OrgID]said{}}
}

// Say says that telemetry arrives at a time, unless it was said for the same period. When
// it returns, the message is stored.
func (h *Herald) Say(ctx context.Context, org principal.OrgID, at time.Time) {
	a := Arrived{Org: org, Period: at.UnixNano() / int64(Period)}
	if !h.due(a, at) {
		return
	}
	_, _, _ = h.flight.Do(org.String()+strconv.FormatInt(a.Period, 10), func() (any, error) {
		if !h.due(a, at) { // another has said it meanwhile
			return nil, nil
		}
		err := h.publish(context.WithoutCancel(ctx), a)
		if err != nil {
			slog.WarnContext(ctx, "that telemetry arrives is not published", "org_id", org.String(), "error", err)
		}
		h.note(a, at, err)
		return nil, nil
	})
}

// due tells whether a message is to be published at a time.
func (h *Herald) due(a Arrived, at time.Time) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	last, ok := h.known[a.Org]
	return !ok || last.period < a.Period && !at.Before(last.again)
}

// note remembers what became of a message.
func (h *Herald) note(a Arrived, at time.Time, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.known[a.Org]
	if err != nil {
		last.again = at.Add(pause)
	} else {
		last = said{period: max(last.period, a.Period)}
	}
	if len(h.known) >= maxKnown {
		clear(h.known)
	}
	h.known[a.Org] = last
}

func (h *Herald) publish(ctx context.Context, a Arrived) error {
	ctx, cancel := context.WithTimeout(ctx, h.saying)
	defer cancel()
	return postgres.InTx(ctx, h.db, a.Org, func(tx postgres.Tx) error {
		return h.log.PublishTx(ctx, tx, Topic, strconv.FormatInt(a.Period, 10), a)
	})
}
