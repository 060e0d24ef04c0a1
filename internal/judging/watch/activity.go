package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/temporal"
)

// Activities are the side effects of the domain's workflow. Each may run again.
type Activities struct{ s *Service }

// Next says when to look at a watch again.
type Next struct {
	Ended bool
	More  bool // there is more to ask at once
	Wait  time.Duration
}

const (
	// width is how many anchors a step asks about at once.
	width = 8
	// stretch is how many questions a step asks: between steps a watch can be stopped,
	// and others get their turn.
	stretch = 200
	// again is when a watch that could not be prepared tries again, at the latest.
	again = time.Hour
)

// Step does what is due: it prepares the watch or checks the judge. Answers are kept
// one by one, so what is done again asks only about what is missing.
func (a *Activities) Step(ctx context.Context, t Ticket) (Next, error) {
	defer temporal.KeepBeating(ctx)()
	s := a.s
	w, err := s.store.find(ctx, t.Org, t.Watch)
	if errors.Is(err, ErrNotFound) || err == nil && !w.Status.open() {
		return Next{Ended: true}, nil
	}
	if err != nil {
		return Next{}, err
	}
	if wait := w.NextAt.Sub(s.clock()); wait > 0 {
		return Next{Wait: wait}, nil
	}
	if active, err := s.tenancy.Active(ctx, t.Org); err != nil {
		return Next{}, err
	} else if !active {
		return Next{Wait: again}, nil
	}
	c, err := s.judges.Find(ctx, t.Org, w.Judge)
	if err != nil {
		return Next{}, err
	}
	if c.Status == judge.StatusRetired || c.Current.Number != w.Version {
		return Next{Ended: true}, s.end(ctx, t, "The judge is retired or has a newer version.")
	}
	if w.Anchors == 0 {
		return Next{Ended: true}, s.end(ctx, t, "The dataset version has no items. Add answers that the judge can be asked about.")
	}
	step := s.check
	if w.Status == StatusPreparing {
		step = s.prepare
	}
	staying, end := temporal.Staying(ctx)
	defer end()
	if more, err := step(ctx, staying, t, w); err != nil || more {
		return Next{More: more}, err
	}
	if w, err = s.store.find(ctx, t.Org, t.Watch); err != nil {
		return Next{}, err
	}
	return Next{Ended: !w.Status.open(), Wait: max(0, w.NextAt.Sub(s.clock()))}, nil
}

// end stops a watch that has nothing left to watch.
func (s *Service) end(ctx context.Context, t Ticket, why string) error {
	return postgres.InTx(ctx, s.db, t.Org, func(tx postgres.Tx) error {
		_, err := s.moveTx(ctx, tx, t.Watch, func(w *Watch) error {
			w.Status, w.Problem = StatusStopped, why
			return nil
		}, eventStopped)
		return err
	})
}

// prepare finds out what the judge says, and how often it contradicts itself.
func (s *Service) prepare(ctx, staying context.Context, t Ticket, w Watch) (more bool, err error) {
	asked, err := s.ask(ctx, staying, t, w, 0, repetitions)
	if err != nil || asked.more {
		return asked.more, err
	}
	all, err := s.store.answers(ctx, t.Org, w.ID, 0)
	if err != nil {
		return false, err
	}
	before, flips, err := settled(all)
	if err != nil {
		return false, err
	}
	problem := asked.problem
	if problem == "" && float64(len(before)) < (1-maxUnusable)*float64(w.Anchors) {
		problem = fmt.Sprintf("The judge has a verdict on %d of %d anchors only: it fails, abstains or is divided on the others. Use anchors that it can judge.", len(before), w.Anchors)
	}
	return false, s.after(ctx, t, w, func(w *Watch) {
		if w.Problem = problem; problem == "" {
			w.Status, w.FlipLimit = StatusWatching, flips
		}
	}, nil)
}

// check asks about every anchor once more.
func (s *Service) check(ctx, staying context.Context, t Ticket, w Watch) (more bool, err error) {
	number := w.Checks + 1
	asked, err := s.ask(ctx, staying, t, w, number, 1)
	if err != nil || asked.more {
		return asked.more, err
	}
	start, err := s.store.answers(ctx, t.Org, w.ID, 0)
	if err != nil {
		return false, err
	}
	before, _, err := settled(start)
	if err != nil {
		return false, err
	}
	now, err := s.store.answers(ctx, t.Org, w.ID, number)
	if err != nil {
		return false, err
	}
	c, err := w.compare(before, now, asked.labels)
	if err != nil {
		return false, err
	}
	if asked.problem != "" {
		c = Check{Number: number, Verdict: VerdictFailed, Found: Found{Problem: asked.problem, Evidence: w.Evidence, Limit: w.limit(), CostNano: c.Found.CostNano}}
	}
	return false, s.after(ctx, t, w, func(w *Watch) {
		w.Checks, w.Evidence, w.Problem = number, c.Found.Evidence, c.Found.Problem
		if c.Verdict == VerdictDrifted {
			w.Status, w.Problem = StatusDrifted, c.message()
		}
	}, &c)
}

// after records a step.
func (s *Service) after(ctx context.Context, t Ticket, w Watch, edit func(*Watch), c *Check) error {
	at := s.now()
	err := postgres.InTx(ctx, s.db, t.Org, func(tx postgres.Tx) error {
		after, err := s.moveTx(ctx, tx, t.Watch, func(now *Watch) error {
			if now.Status != w.Status || now.Checks != w.Checks {
				return errChanged // somebody stopped it, or another attempt was faster
			}
			edit(now)
			switch {
			case now.NextAt.After(w.NextAt): // somebody asked for a check meanwhile
			case now.Status == StatusPreparing:
				now.NextAt = at.Add(min(now.Every, again))
			default:
				now.NextAt = at.Add(now.Every)
			}
			return nil
		}, eventChanged)
		if err != nil {
			return err
		}
		if c == nil {
			if after.Status != StatusWatching {
				return nil
			}
			return s.judges.SetConditionTx(ctx, tx, after.Judge, after.Version, judge.Condition{SettledAt: &at})
		}
		c.At = at
		if err := s.store.insertCheckTx(ctx, tx, t.Watch, *c); err != nil {
			return err
		}
		switch c.Verdict {
		case VerdictQuiet:
			// All that was asked was asked after the check was due.
			return s.judges.SetConditionTx(ctx, tx, after.Judge, after.Version, judge.Condition{QuietAt: &w.NextAt})
		case VerdictDrifted:
			return s.judges.SetConditionTx(ctx, tx, after.Judge, after.Version, judge.Condition{DriftedAt: &at, Message: c.message()})
		}
		return nil
	})
	if errors.Is(err, errChanged) {
		return nil
	}
	return err
}

// asked is what came of asking.
type asked struct {
	labels map[int64]bool // what people say about anchors
	more   bool           // some of it is left for the next step
	// problem is why the judge cannot be asked to the end.
	problem string
}

// ask asks the judge about every anchor so many times, apart from what it has
// answered. When staying ends, no more is asked, and the next attempt asks the rest.
func (s *Service) ask(ctx, staying context.Context, t Ticket, w Watch, number, times int) (out asked, err error) {
	j, err := s.judges.Version(ctx, t.Org, w.Judge, w.Version, provider.NewPace(s.clock, staying.Done()), func(*provider.Failure) {})
	var unusable *provider.Unusable
	if errors.As(err, &unusable) {
		return asked{problem: unusable.Message}, nil
	}
	if err != nil {
		return out, err
	}
	answered, err := s.store.answers(ctx, t.Org, w.ID, number)
	if err != nil {
		return out, err
	}
	type part struct {
		item       int64
		repetition int
	}
	done := map[part]bool{}
	for _, a := range answered {
		done[part{a.Item, a.Repetition}] = true
	}
	out.labels = map[int64]bool{}
	// One that fails does not end the others, which are paid.
	var g errgroup.Group
	g.SetLimit(width)
	var stopped atomic.Bool
	var failed atomic.Int64
	left := stretch
	err = s.eachAnchor(ctx, t, w, func(i dataset.Item) {
		if pass, ok := j.HumanPass(i); ok {
			out.labels[i.ID] = pass
		}
		for n := range times {
			switch {
			case done[part{i.ID, n}]:
			case left == 0:
				out.more = true
			case stopped.Load() || staying.Err() != nil:
			default:
				left--
				g.Go(func() error {
					if stopped.Load() || staying.Err() != nil { // while it waited for its turn
						return nil
					}
					answered, err := s.askOne(ctx, t, w, j, number, n, i)
					switch {
					case err != nil:
						stopped.Store(true)
					case !answered:
						failed.Add(1)
					}
					return err
				})
			}
		}
	})
	err = errors.Join(g.Wait(), err, context.Cause(staying))
	var f *provider.Failure
	if errors.As(err, &f) && ctx.Err() == nil {
		out.more, out.problem = false, strings.TrimSpace(f.Message)
		return out, nil
	}
	// What fails now is asked again, but not at once.
	if n, questions := failed.Load(), stretch-left; number == 0 && n > 0 && (!out.more || float64(n) > maxUnusable*float64(questions)) {
		out.more, out.problem = false, fmt.Sprintf("The judge failed to answer %d of %d questions. The watch asks again within the hour.", n, questions)
	}
	return out, err
}

// askOne asks about one anchor and keeps the answer. A failure that concerns every
// anchor is returned. What the watch begins with has to be an answer: a model that was
// away is asked again.
func (s *Service) askOne(ctx context.Context, t Ticket, w Watch, j *judge.Judge, number, n int, i dataset.Item) (answered bool, err error) {
	v, err := j.Ask(ctx, judge.CaseOf(i, i.Content.Output), fmt.Sprintf("assay-watch-%d-%d-%d-%d", w.ID, number, i.ID, n))
	if err != nil || number == 0 && v.Status == judge.VerdictFailed {
		return false, err
	}
	a := answer{Item: i.ID, Repetition: n}
	if v.Status == judge.VerdictCompleted {
		a.Passed = &v.Passed
	}
	if v.CostNanoUSD != nil {
		a.CostNano = int64(*v.CostNanoUSD)
	}
	// It is paid, whatever ends meanwhile.
	return v.Status != judge.VerdictFailed, s.store.insertAnswer(context.WithoutCancel(ctx), t.Org, w.ID, number, a)
}

// eachAnchor calls fn for every anchor.
func (s *Service) eachAnchor(ctx context.Context, t Ticket, w Watch, fn func(dataset.Item)) error {
	ids, err := s.datasets.ItemIDs(ctx, t.Org, w.Dataset, w.DatasetVersion, 0, maxAnchors)
	if err != nil {
		return err
	}
	for len(ids) > 0 {
		items, read, err := s.datasets.ItemsByID(ctx, t.Org, w.Dataset, w.DatasetVersion, ids)
		if err != nil {
			return err
		}
		for _, id := range slices.Sorted(slices.Values(ids[:read])) {
			if i, ok := items[id]; ok {
				fn(i)
			}
		}
		ids = ids[read:]
	}
	return nil
}
