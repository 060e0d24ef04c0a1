package probe

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Begun is what a workflow needs to know of its probe.
type Begun struct {
	Ended bool
	Stop  *Error
	Units int
}

// Stretch is a part of a probe's units.
type Stretch struct {
	Ticket
	From, To int
}

// Done is what became of a stretch.
type Done struct {
	Ended bool
	Stop  *Error
}

// Conclusion ends a probe, as failed if there is a reason.
type Conclusion struct {
	Ticket
	Stop      *Error
	Cancelled bool `json:",omitzero"`
}

// Why a probe fails, apart from what providers do.
const (
	CodeNoSubjects = "no_answers"
	CodeSuspended  = "organization_suspended"
)

// width is how many verdicts of a probe are asked for at once.
const width = 8

// begin fixes what a probe judges. Doing it again changes nothing. An *Error means
// that the probe cannot work; a probe that has ended is returned as it is.
func (s *Service) begin(ctx context.Context, t Ticket) (Probe, error) {
	p, err := s.store.find(ctx, t.Org, t.Probe)
	if err != nil || p.Status != StatusRunning || p.Subjects != nil {
		return p, err
	}
	if p.Request.Dataset != 0 {
		p.Subjects, err = s.items(ctx, t.Org, p)
	} else {
		p.Subjects, err = s.results(ctx, t.Org, p)
	}
	if err != nil {
		return p, err
	}
	if len(p.Subjects) == 0 {
		return p, &Error{CodeNoSubjects, "There are no answers to probe with: a dataset needs items with an output, and results need an input and an output of their own."}
	}
	p.Units = len(p.Request.units(len(p.Subjects)))
	return p, s.store.begin(ctx, t.Org, p)
}

// items are items of the dataset that have an answer, so many as are wanted, in an
// order that has nothing to do with when they were added: what they show holds for the
// dataset. The order is a judge's own, so that its versions are probed with the same
// answers, and a larger sample holds a smaller one.
func (s *Service) items(ctx context.Context, org principal.OrgID, p Probe) (out []int64, err error) {
	const page = 1000
	var all []int64
	for above := int64(0); ; above = all[len(all)-1] {
		ids, err := s.datasets.ItemIDs(ctx, org, p.Request.Dataset, p.Request.Version, above, page)
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			break
		}
		all = append(all, ids...)
	}
	shuffle(p.Config, all)
	for len(all) > 0 && len(out) < p.Request.Sample {
		items, read, err := s.datasets.ItemsByID(ctx, org, p.Request.Dataset, p.Request.Version, all[:min(page, len(all))])
		if err != nil {
			return nil, err
		}
		for _, id := range all[:read] {
			if i, ok := items[id]; ok && len(i.Content.Output) > 0 && i.Content.Output.Kind() != 'n' && len(out) < p.Request.Sample {
				out = append(out, id)
			}
		}
		all = all[max(1, read):]
	}
	return out, nil
}

// shuffle brings ids into the order of the SHA-256 of the judge's id, a line feed and
// the id, in decimal digits.
func shuffle(config int64, ids []int64) {
	place := make(map[int64]uint64, len(ids))
	for _, id := range ids {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%d", config, id))
		place[id] = binary.BigEndian.Uint64(sum[:8])
	}
	slices.SortFunc(ids, func(a, b int64) int { return cmp.Or(cmp.Compare(place[a], place[b]), cmp.Compare(a, b)) })
}

// results are the newest results of the judge that keep what was judged.
func (s *Service) results(ctx context.Context, org principal.OrgID, p Probe) (out []int64, err error) {
	below, page := int64(1<<62), 1000
	for read := 0; read < 20*page; read += page {
		all, _, err := s.judges.Results(ctx, org, judge.ResultFilter{Config: p.Config, Below: below, Limit: page})
		if err != nil {
			return nil, err
		}
		for _, r := range all {
			if below = r.ID; len(r.Input) > 0 && len(r.Output) > 0 && r.Code != judge.CodeNoOutput {
				out = append(out, r.ID)
			}
			if len(out) == p.Request.Sample {
				return out, nil
			}
		}
		if len(all) <= page {
			break
		}
	}
	return out, nil
}

// cases reads what is judged, by its place among the subjects. What is gone is left
// out.
func (s *Service) cases(ctx context.Context, org principal.OrgID, p Probe, places []int) (map[int]judge.Case, error) {
	out := map[int]judge.Case{}
	if p.Request.Dataset == 0 {
		for _, i := range places {
			r, err := s.judges.FindResult(ctx, org, p.Subjects[i])
			if errors.Is(err, judge.ErrResultNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			out[i] = judge.Case{Input: r.Input, Output: r.Output}
		}
		return out, nil
	}
	at := map[int64]int{}
	ids := make([]int64, len(places))
	for n, i := range places {
		ids[n], at[p.Subjects[i]] = p.Subjects[i], i
	}
	for len(ids) > 0 {
		items, read, err := s.datasets.ItemsByID(ctx, org, p.Request.Dataset, p.Request.Version, ids)
		if errors.Is(err, dataset.ErrNotFound) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		for id, i := range items {
			out[at[id]] = judge.CaseOf(i, i.Content.Output)
		}
		ids = ids[max(1, read):]
	}
	return out, nil
}

// execute asks for the verdicts of the units from one number up to another, those
// that there are none of yet. It reports whether the probe has ended; an *Error means
// that it cannot go on. When staying ends, no more are asked for, and the next attempt
// asks for the rest.
func (s *Service) execute(ctx, staying context.Context, in Stretch) (ended bool, err error) {
	t := in.Ticket
	p, err := s.store.find(ctx, t.Org, t.Probe)
	if err != nil || p.Status != StatusRunning || p.Subjects == nil {
		return true, err
	}
	if active, err := s.tenancy.Active(ctx, t.Org); err != nil {
		return false, err
	} else if !active {
		return false, &Error{CodeSuspended, "The organization is not active. Verdicts so far are kept."}
	}
	j, err := s.judges.Version(ctx, t.Org, p.Config, p.Version, provider.NewPace(s.clock, staying.Done()), func(*provider.Failure) {})
	var unusable *provider.Unusable
	if errors.As(err, &unusable) {
		return false, &Error{unusable.Code, unusable.Message}
	}
	if err != nil {
		return false, err
	}
	// What answers are worth as they are is asked first: it decides what is attacked.
	for _, plain := range []bool{true, false} {
		if err := s.ask(ctx, staying, t, p, j, func(n int, u unit) bool { return n >= in.From && n < in.To && (u.kind == "") == plain }); err != nil {
			if errors.Is(err, errEnded) {
				return true, nil
			}
			return false, err
		}
	}
	return false, nil
}

// errEnded says that a probe was cancelled while it asked for verdicts.
var errEnded = errors.New("the probe has ended")

// ask asks for the verdicts of the units that are wanted, those that there are none of
// yet. It begins no more of them when staying ends.
func (s *Service) ask(ctx, staying context.Context, t Ticket, p Probe, j *judge.Judge, wanted func(int, unit) bool) error {
	have, err := s.store.verdicts(ctx, s.db.Org(t.Org), t.Org, t.Probe)
	if err != nil {
		return err
	}
	units := placed(p.Request.units(len(p.Subjects)), have)
	var left, places []int
	for n, u := range units {
		if _, ok := have[n]; !ok && u.subject >= 0 && wanted(n, u) {
			left = append(left, n)
			places = append(places, u.subject)
		}
	}
	if len(left) == 0 {
		return ctx.Err()
	}
	slices.Sort(places)
	cases, err := s.cases(ctx, t.Org, p, slices.Compact(places))
	if err != nil {
		return err
	}
	// A unit that fails does not end those that are under way, which are paid: they
	// are kept. No more are begun.
	var g errgroup.Group
	g.SetLimit(width)
	stop, cancel := context.WithCancelCause(staying)
	defer cancel(nil)
	for _, n := range left {
		g.Go(func() error {
			if stop.Err() != nil {
				return nil
			}
			running, err := s.store.isRunning(stop, t)
			switch {
			case err != nil:
				cancel(err)
			case !running:
				cancel(errEnded)
			default:
				if err := s.judge(ctx, t, p, j, n, units[n], cases); err != nil {
					cancel(err)
				}
			}
			return nil
		})
	}
	_ = g.Wait()
	if err := context.Cause(stop); err != nil && ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}

// judge asks for one verdict and keeps it.
func (s *Service) judge(ctx context.Context, t Ticket, p Probe, j *judge.Judge, n int, u unit, cases map[int]judge.Case) error {
	c, ok := cases[u.subject]
	if !ok { // it was deleted since
		return s.store.keep(ctx, t.Org, t.Probe, n, Verdict{Status: judge.VerdictFailed, Code: judge.CodeNoOutput}, s.now())
	}
	ask := j.Ask
	switch {
	case u.kind == KindPosition && u.side == after:
		ask = j.AskFirst
	case u.kind == KindPosition:
		ask = j.AskSecond
	}
	// A call that is under way is paid, so it is waited for and kept, also when the
	// probe is cancelled or the worker is to stop.
	ctx = context.WithoutCancel(ctx)
	v, err := ask(ctx, u.altered(c, p.Request, j.Version.Spec.Model), fmt.Sprintf("assay-probe-%d-%d", p.ID, n))
	var f *provider.Failure
	if errors.As(err, &f) {
		return &Error{f.Code, f.Message}
	}
	if err != nil {
		return err
	}
	return s.store.keep(ctx, t.Org, t.Probe, n, FromJudge(v), s.now())
}

// conclude ends a probe: as completed, as cancelled, or as failed if there is a reason.
// One that was cancelled before stays so; verdicts that came after it are reported. Doing
// it again changes nothing.
func (s *Service) conclude(ctx context.Context, c Conclusion) error {
	return postgres.InTx(ctx, s.db, c.Org, func(tx postgres.Tx) error {
		p, err := s.store.lockTx(ctx, tx, c.Probe)
		if err != nil {
			return err
		}
		to := StatusCompleted
		switch {
		case p.Status == StatusCancelled:
			return s.reportTx(ctx, tx, p)
		case p.Status != StatusRunning:
			return nil
		case c.Cancelled:
			to = StatusCancelled
		case c.Stop != nil:
			to = StatusFailed
		}
		_, err = s.endTx(ctx, tx, p, to, c.Stop)
		return err
	})
}
