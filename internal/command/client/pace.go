package client

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// pace is how long to wait after an answer. A key that has spent half its hour
// spreads the rest over an hour, so that whatever else uses it goes on.
func (f *follower) pace() time.Duration {
	wait := interval
	if q := f.quota; q.Limit > 0 && q.Remaining <= q.Limit/2 {
		wait = max(interval, time.Duration(f.asked)*q.Window/time.Duration(max(1, q.Remaining)))
		if q.Remaining == 0 {
			wait = max(interval, q.Reset)
		}
	}
	wait = wait.Round(time.Second)
	if wait == interval {
		f.slowed = 0
	}
	if wait >= 2*max(f.slowed, interval) {
		f.slowed = wait
		f.Say(fmt.Sprintf("This key has %d of %d requests per hour left: polling every %s.", f.quota.Remaining, f.quota.Limit, wait))
	}
	return wait
}

// showError is an error of whoever shows, not of the server.
type showError struct{ error }

// Unwrap returns the error.
func (e *showError) Unwrap() error { return e.error }

// wait returns how long to wait after an error, or the error if waiting does
// not help.
func (f *follower) wait(err error) (time.Duration, error) {
	var refused *Error
	var show *showError
	switch {
	case errors.As(err, &show):
		return 0, show.error
	case errors.As(err, &refused) && refused.Status == http.StatusTooManyRequests:
		wait := max(interval, refused.RetryAfter)
		f.Say(fmt.Sprintf("The rate limit of this key is reached: retrying in %s.", wait))
		return wait, nil
	case errors.As(err, &refused) && refused.Status < http.StatusInternalServerError && refused.Status != http.StatusRequestTimeout,
		errors.Is(err, errFormat) && !f.met:
		return 0, err
	}
	if f.away == "" {
		f.away = strings.TrimSuffix(err.Error(), ".")
		f.Say(f.away + "; retrying. Press Ctrl-C to stop.")
	}
	f.backoff = min(max(interval, 2*f.backoff), maxBackoff)
	if refused != nil {
		return max(f.backoff, refused.RetryAfter), nil
	}
	return f.backoff, nil
}
