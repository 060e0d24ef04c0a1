package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// ErrTimeout is returned when a run has not ended, or the server has not
// answered, within the time that was given.
var ErrTimeout = errors.New("timed out")

const (
	// A run is looked at every second in its first minutes. Who waits longer
	// sees no difference between one second and five.
	shortWait = 5 * time.Minute
	longLook  = 5 * time.Second
	// startPatience is how long a start is tried again. A wrong URL should not
	// take an hour to show.
	startPatience = time.Minute
)

// Wait follows a run until it has ended, through restarts of the server and
// whatever else is transient.
type Wait struct {
	Client          *Client
	Evaluation, Run string
	// Timeout bounds the whole; zero does not.
	Timeout time.Duration
	Now     func() time.Time
	// Show gets every progress that was read, the last one of an ended run.
	Show func(Progress)
	// Say gets what happens beside: a server that is away, a limit that is near.
	Say func(string)
}

// Until waits. It returns the run as it ended, ErrTimeout, the error of a
// context that ended, or an error of a server that refuses for good.
func (w Wait) Until(ctx context.Context) (Run, error) {
	began := w.Now()
	if w.Timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, w.Timeout, ErrTimeout)
		defer cancel()
		ctx = limited
	}
	patience := patience{Say: w.Say, base: w.Client.base}
	for {
		p, a, err := w.Client.Progress(ctx, w.Evaluation, w.Run)
		var r Run
		if err == nil {
			w.Show(p)
			if p.Status != StatusRunning {
				r, err = w.Client.Run(ctx, w.Evaluation, w.Run)
			}
		}
		if ctx.Err() != nil {
			return Run{}, context.Cause(ctx)
		}
		if err == nil && p.Status != StatusRunning {
			return r, nil
		}
		wait, err := patience.after(err)
		if err != nil {
			return Run{}, err
		}
		if wait == 0 {
			wait = patience.pace(a.Quota, w.Now().Sub(began))
		}
		if err := sleep(ctx, wait); err != nil {
			return Run{}, err
		}
	}
}

// StartPatiently starts a run, and tries again for a minute while the server is
// away. The idempotency key keeps it from starting two.
func (c *Client) StartPatiently(ctx context.Context, evaluation string, s Start, idempotencyKey string, say func(string)) (Run, error) {
	limited, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	patience := patience{Say: say, base: c.base}
	for {
		r, err := c.StartRun(limited, evaluation, s, idempotencyKey)
		if err == nil || ctx.Err() != nil {
			return r, err
		}
		wait, final := patience.after(err)
		if final != nil || sleep(limited, wait) != nil {
			return Run{}, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// patience decides what can be waited out.
type patience struct {
	Say     func(string)
	base    string
	met     bool // the server has answered once
	away    bool
	backoff time.Duration
	slowed  time.Duration // the last pace that was said
}

// after returns how long to wait after an error, zero if there is none, or the
// error if waiting does not help.
func (p *patience) after(err error) (time.Duration, error) {
	if err == nil {
		if p.away {
			p.Say(p.base + " is reachable again.")
		}
		p.met, p.away, p.backoff = true, false, 0
		return 0, nil
	}
	p.backoff = min(max(interval, 2*p.backoff), maxBackoff)
	var refused *Error
	if errors.As(err, &refused) {
		switch s := refused.Status; {
		case s == http.StatusTooManyRequests:
			wait := max(interval, refused.RetryAfter)
			p.Say(fmt.Sprintf("The rate limit of this key is reached: retrying in %s.", wait))
			return wait, nil
		case refused.Fault.Reason == "idempotency_in_progress":
			return max(p.backoff, refused.RetryAfter), nil
		case p.met && refused.Fault.Message == "":
			// Whoever stands before a server that restarts answers in its place.
		case s < http.StatusInternalServerError && s != http.StatusRequestTimeout:
			return 0, err
		}
		p.backoff = max(p.backoff, refused.RetryAfter)
	}
	if !p.away {
		p.away = true
		p.Say(strings.TrimSuffix(err.Error(), ".") + "; retrying.")
	}
	return p.backoff, nil
}

// pace is how long to wait after an answer. A key that has spent half its hour
// spreads the rest over an hour.
func (p *patience) pace(q Quota, waited time.Duration) time.Duration {
	usual := interval
	if waited > shortWait {
		usual = longLook
	}
	wait := usual
	if q.Limit > 0 && q.Remaining <= q.Limit/2 {
		wait = max(usual, (q.Window / time.Duration(max(1, q.Remaining))).Round(time.Second))
		if q.Remaining == 0 {
			wait = max(usual, q.Reset)
		}
	}
	if wait >= 2*max(p.slowed, usual) {
		p.slowed = wait
		p.Say(fmt.Sprintf("This key has %d of %d requests per hour left: polling every %s.", q.Remaining, q.Limit, wait))
	}
	return wait
}
