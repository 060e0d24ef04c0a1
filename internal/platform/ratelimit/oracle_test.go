package ratelimit_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/platform/ratelimit"
)

// admission is one admitted request.
type admission struct {
	at   int64
	cost int
}

// oracle remembers every admitted request and counts them one by one.
type oracle struct {
	window   int64
	slack    int64 // how much too long a unit may count; zero means exact
	admitted []admission
}

// used counts the units admitted in (from, to].
func (o *oracle) used(from, to int64) int {
	n := 0
	for _, a := range o.admitted {
		if from < a.at && a.at <= to {
			n += a.cost
		}
	}
	return n
}

// observe judges a decision and remembers it.
func (o *oracle) observe(at int64, limit, cost int, got ratelimit.Decision) error {
	used, most := o.used(at-o.window, at), o.used(at-o.window-o.slack, at)
	if got.Allowed && cost > 0 {
		o.admitted = append(o.admitted, admission{at, cost})
	}
	switch {
	case got.Allowed && used+cost > limit:
		return fmt.Errorf("admitted %d on top of %d of %d", cost, used, limit)
	case !got.Allowed && most+cost <= limit:
		return fmt.Errorf("refused %d on top of %d of %d", cost, most, limit)
	case got.Limit != limit:
		return fmt.Errorf("limit %d became %d", limit, got.Limit)
	case o.slack > 0:
		return o.roughly(at, limit, cost, got)
	}
	if want := o.decision(at, limit, cost, got.Allowed); got != want {
		return fmt.Errorf("got %+v, want %+v", got, want)
	}
	return nil
}

// decision is the exact answer, given that it is the right one.
func (o *oracle) decision(at int64, limit, cost int, allowed bool) ratelimit.Decision {
	d := ratelimit.Decision{Allowed: allowed, Limit: limit, Remaining: max(0, limit-o.used(at-o.window, at))}
	inside := slices.DeleteFunc(slices.Clone(o.admitted), func(a admission) bool { return a.at <= at-o.window })
	if len(inside) > 0 {
		d.ResetAfter = time.Duration(inside[0].at + o.window - at)
	}
	if allowed {
		return d
	}
	d.RetryAfter = time.Duration(o.window)
	for _, a := range inside {
		if o.used(a.at, at)+cost <= limit {
			d.RetryAfter = time.Duration(a.at + o.window - at)
			break
		}
	}
	return d
}

// roughly judges the rest of a decision that may count for too long.
func (o *oracle) roughly(at int64, limit, cost int, got ratelimit.Decision) error {
	most, least := limit-o.used(at-o.window, at), limit-o.used(at-o.window-o.slack, at)
	if got.Remaining > max(0, most) || got.Remaining < max(0, least) {
		return fmt.Errorf("remaining %d, want %d to %d", got.Remaining, least, most)
	}
	want := o.decision(at, limit, cost, got.Allowed).RetryAfter
	if cost <= most {
		want = 0 // it fits; only the log does not know yet
	}
	if late := got.RetryAfter - want; late < 0 || late > time.Duration(o.slack) {
		return fmt.Errorf("retry after %s, want %s or a step more", got.RetryAfter, want)
	}
	return nil
}

func byTime(a, b admission) int { return cmp.Compare(a.at, b.at) }

// overAdmitted counts the units that went over a limit in any window, given
// admissions by time.
func overAdmitted(admitted []admission, window int64, limit int) int {
	over, used, oldest := 0, 0, 0
	for _, a := range admitted {
		used += a.cost
		for admitted[oldest].at <= a.at-window {
			used -= admitted[oldest].cost
			oldest++
		}
		over += max(0, min(a.cost, used-limit))
	}
	return over
}
