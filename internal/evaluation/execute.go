package evaluation

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/internal/progress"
	"github.com/assayhq/assay/internal/evaluation/internal/suspect"
	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/plan"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/provider"
	"github.com/assayhq/assay/internal/result"
)

// How a chunk is executed.
const (
	readBatch  = 500         // items that are read at once, unless they fill a page
	flushUnits = 2000        // outcomes that are stored at once,
	flushBytes = 8 << 20     // or so many bytes of output,
	flushEvery = time.Second // or after so long
)

// chunk executes a stretch of a run's units.
type chunk struct {
	*Service
	org      principal.OrgID
	run      Run
	index    int
	measures []plan.Measure
	target   plan.Asker
	scorers  plan.Scorers
	width    int // units at once

	// beat tells the engine that the chunk is alive.
	beat func()
	pace *provider.Pace

	mu    sync.Mutex
	count result.Count // of what is stored
	spent int64        // by other chunks of the run
	paid  int64        // by this one, stored or not
	stop  *RunError
	busy  time.Duration
	fresh int // units that were executed now
	noted map[string]bool

	// suspects is nil unless a worker died on the chunk.
	suspects *suspect.List

	cancel sync.Once
	// cancelled is closed when the run is found cancelled.
	cancelled chan struct{}
}

// executeChunk executes the units from one number up to another, those that
// have no outcome yet. When it returns without an error every unit has one,
// unless stop says why the run cannot go on.
//
// Died says that the worker of the attempt before is gone, and that what killed it
// may be a unit.
func (s *Service) executeChunk(ctx context.Context, c ChunkInput, died bool, beat func()) (ChunkDone, error) {
	run, err := s.store.findRun(ctx, s.db.Org(c.Org), c.Org, c.Run)
	if err != nil || run.Status != StatusRunning || run.Resolved == nil {
		return ChunkDone{Ended: true}, err
	}
	if active, err := s.tenancy.Active(ctx, c.Org); err != nil || !active {
		return ChunkDone{Stop: &RunError{CodeSuspended, "The organization is not active. Results so far are kept."}}, err
	}
	e := &chunk{
		Service: s, org: c.Org, run: run, index: c.Index, beat: beat, width: max(1, c.Width),
		noted: map[string]bool{}, count: result.Count{Size: c.To - c.From}, cancelled: make(chan struct{}),
	}
	e.pace = e.newPace()
	if e.measures, err = s.measuresOf(run); err != nil {
		return ChunkDone{}, err
	}
	e.target, e.scorers, err = run.Request.Plan.Askers(ctx, s.provider, c.Org, e.newPace, func(f *provider.Failure) { e.note(ctx, f) })
	if why := stopOf(err); why != nil {
		return ChunkDone{Stop: why}, nil
	}
	if err != nil {
		return ChunkDone{}, err
	}
	if died {
		deaths, err := s.progress.Deaths(ctx, c.Org, run.ID, c.Index)
		if err != nil {
			return ChunkDone{}, err
		}
		e.suspects = suspect.New(deaths, func(ctx context.Context, deaths map[string]int) error {
			return s.progress.PutDeaths(ctx, c.Org, run.ID, c.Index, c.To-c.From, deaths, s.now())
		})
	}
	left, err := e.left(ctx, c.From, c.To)
	if err != nil {
		return ChunkDone{}, err
	}
	failpoint.Hit(ChunkRead)
	if err := e.execute(ctx, left); errors.Is(err, errEnded) {
		return ChunkDone{Ended: true}, nil
	} else if err != nil {
		return ChunkDone{}, err
	}
	done := ChunkDone{Stop: e.stop, Units: e.fresh}
	if e.fresh > 0 {
		done.UnitMicros = max(1, e.busy.Microseconds()/int64(e.fresh))
	}
	return done, nil
}

// errEnded ends a chunk whose run has ended: somebody cancelled it.
var errEnded = errors.New("the run has ended")

// measuresOf finds the metrics of a run's plan, all of which were there when it
// began.
func (s *Service) measuresOf(r Run) ([]plan.Measure, error) {
	all, missing, err := r.Request.Plan.Measures(s.metrics)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("run %d: %s", r.ID, missing[0].Message)
	}
	return all, err
}

// left is the units without an outcome; the others are counted. Where units cost
// nothing all are left: to do them again is quicker than to look for them, unless
// each is done with care, or somebody may have scored those that are done.
func (e *chunk) left(ctx context.Context, from, to int) ([]unit, error) {
	units, err := e.units(ctx, e.org, e.run, from, to)
	if err != nil || !e.run.Request.Plan.Paid() && !e.run.Request.Plan.AwaitsScores() && e.suspects == nil {
		return units, err
	}
	wanted := make(map[result.Key]bool, len(units))
	items := make([]int64, 0, len(units))
	for _, u := range units {
		wanted[result.Key{Item: u.item, Epoch: u.epoch}] = true
		items = append(items, u.item)
	}
	done, err := e.results.Done(ctx, e.run.at(e.org), items)
	if err != nil {
		return nil, err
	}
	copied, err := e.copied(ctx, items)
	if err != nil {
		return nil, err
	}
	for _, b := range done {
		if wanted[b.Key] {
			delete(wanted, b.Key)
			if copied[b.Key] {
				b.CostNanoUSD = 0 // another run's budget paid for it
			}
			e.count.Add(b)
		}
	}
	e.paid = e.count.CostNanoUSD
	left := units[:0]
	for _, u := range units {
		if wanted[result.Key{Item: u.item, Epoch: u.epoch}] {
			left = append(left, u)
		}
	}
	return left, nil
}

// execute works on units, several at once. While some are worked on, the next
// are read and the last are stored, so that nobody waits for a store who has
// something else to do. When the run is cancelled nothing more is begun, and what
// is answered is stored.
func (e *chunk) execute(ctx context.Context, left []unit) error {
	if err := e.look(ctx); err != nil {
		return err
	}
	if e.isCancelled() {
		return errEnded
	}
	ctx, stop := e.outlive(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	asking, hangUp := e.asking(ctx)
	defer hangUp()
	pages := make(chan page) // one is handed out while the next is read
	work := make(chan job)
	done := make(chan result.Outcome, e.width) // a slow store holds up who would fill the memory
	g.Go(func() error {
		defer close(pages)
		return e.read(ctx, left, pages)
	})
	g.Go(func() error {
		defer close(work)
		return handOut(ctx, pages, work)
	})
	g.Go(func() error {
		defer close(done)
		return e.answer(ctx, asking, work, done)
	})
	g.Go(func() error { return e.keep(ctx, done) })
	if err := g.Wait(); err != nil {
		return err
	}
	if e.isCancelled() {
		return errEnded
	}
	return nil
}

// answer executes units until there are none. Calls are made with a context of
// their own, which ends before the work does.
func (e *chunk) answer(ctx, asking context.Context, work <-chan job, done chan<- result.Outcome) error {
	width := e.width
	if !e.run.Request.Plan.Paid() {
		width = min(width, runtime.GOMAXPROCS(0))
	}
	g, ctx := errgroup.WithContext(ctx)
	for range width {
		g.Go(func() error {
			for j := range work {
				if err := e.unit(ctx, asking, j, done); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// job is a unit with its item.
type job struct {
	unit
	content dataset.Item
}

// page is units with their items, and the bytes that these take of the process's
// budget until the units are handed out.
type page struct {
	jobs  []job
	bytes int
}

// read reads items, a page at a time, until there are none or the run cannot go
// on.
func (e *chunk) read(ctx context.Context, left []unit, pages chan<- page) error {
	r := e.run.Resolved
	for len(left) > 0 && !e.ended() {
		ids := make([]int64, min(len(left), readBatch))
		for i := range ids {
			ids[i] = left[i].item
		}
		items, read, err := e.datasets.ItemsByID(ctx, e.org, r.Dataset, r.Version, ids)
		if err != nil {
			return err
		}
		next := page{jobs: make([]job, read)}
		for i, u := range left[:read] {
			item, ok := items[u.item]
			if !ok {
				return fmt.Errorf("version %d of dataset %d has lost item %d", r.Version, r.Dataset, u.item)
			}
			next.jobs[i] = job{u, item}
			next.bytes += item.Content.Bytes()
		}
		if err := admission.From(ctx).Wait(ctx, next.bytes); err != nil {
			return err
		}
		left = left[read:]
		select {
		case pages <- next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// handOut gives the units of pages to whoever works next.
func handOut(ctx context.Context, pages <-chan page, work chan<- job) error {
	for next := range pages {
		for _, j := range next.jobs {
			select {
			case work <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		admission.From(ctx).Give(next.bytes)
	}
	return nil
}

// ended reports whether the run cannot go on.
func (e *chunk) ended() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b := e.run.Request.BudgetUSD; b != nil && e.stop == nil && float64(e.spent+e.paid) >= *b*1e9 {
		e.stop = &RunError{CodeBudgetExceeded, fmt.Sprintf("The run has cost US$ %.4f of its budget of US$ %.4f. Results so far are kept.", float64(e.spent+e.paid)/1e9, *b)}
	}
	return e.stop != nil || e.isCancelled()
}

// unit executes one unit, unless the run cannot go on.
func (e *chunk) unit(ctx, asking context.Context, j job, done chan<- result.Outcome) error {
	if e.ended() {
		return nil
	}
	began := e.clock()
	if e.suspects.GaveUp(j.String()) {
		return e.finish(ctx, began, e.failed(j, errDeadly), done)
	}
	a, tries, err := e.try(asking, j)
	var f *provider.Failure
	definite := errors.As(err, &f) && asking.Err() == nil
	switch {
	case err != nil && !definite && e.isCancelled():
		return nil // there is no answer to keep, and none is asked for any more
	case err != nil && f == nil:
		return err
	}
	if f != nil && f.Stop {
		e.halt(f)
		return nil // it has no outcome: a run that goes on later would try it again
	}
	scores, err := e.score(asking, j, a, f)
	if err != nil {
		return err
	}
	o, err := e.outcome(ctx, j, a, f, tries, scores)
	if err != nil {
		return err
	}
	return e.finish(ctx, began, o, done)
}

// halt ends the run with what it has.
func (e *chunk) halt(f *provider.Failure) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stop == nil {
		e.stop = &RunError{f.StopCode(), f.Message}
	}
}

// score has services score an answer, if there is one. It is paid: whatever they do,
// it is kept, unless it is this worker that ends.
func (e *chunk) score(asking context.Context, j job, a provider.Answer, unanswered *provider.Failure) (map[string]metric.Score, error) {
	if unanswered != nil {
		return nil, nil
	}
	scores, err := e.scorers.Score(asking, e.run.ID, j.content, j.epoch, a)
	var f *provider.Failure
	if errors.As(err, &f) {
		e.halt(f)
	} else if err != nil && !e.isCancelled() {
		return nil, err
	}
	return scores, nil
}

// finish counts an outcome and hands it on to be stored.
func (e *chunk) finish(ctx context.Context, began time.Time, o result.Outcome, done chan<- result.Outcome) error {
	e.mu.Lock()
	e.busy += e.clock().Sub(began)
	e.fresh++
	if o.CostNanoUSD != nil {
		e.paid += int64(*o.CostNanoUSD)
	}
	e.mu.Unlock()
	select {
	case done <- o:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// try asks the target until it answers, or will not.
func (e *chunk) try(ctx context.Context, j job) (provider.Answer, []provider.Attempt, error) {
	return e.pace.Ask(ctx, func(ctx context.Context) (provider.Answer, error) {
		return e.target.Ask(ctx, e.run.ID, j.content, j.epoch)
	}, func(f *provider.Failure) { e.note(ctx, f) })
}

// note says once in the run's notes that a target has trouble.
func (e *chunk) note(ctx context.Context, f *provider.Failure) {
	e.mu.Lock()
	seen := e.noted[f.Code]
	e.noted[f.Code] = true
	e.mu.Unlock()
	if !seen {
		// A note that is lost loses nothing else.
		_ = e.progress.PutNote(ctx, e.org, e.run.ID, "target/"+f.Code, progress.Note{At: e.now(), Level: "warning", Message: f.Message + " It is tried again."})
	}
}

// keep stores outcomes, many at once but none much later than it came, until
// there are no more.
func (e *chunk) keep(ctx context.Context, done <-chan result.Outcome) error {
	late := time.NewTicker(flushEvery)
	defer late.Stop()
	var ready []result.Outcome
	bytes := 0
	for {
		due := false
		select {
		case o, more := <-done:
			if !more {
				return e.flush(ctx, ready)
			}
			ready = append(ready, o)
			bytes += len(o.Output) + len(o.ToolCalls)
			due = len(ready) >= flushUnits || bytes >= flushBytes
		case <-late.C:
			if due = len(ready) > 0; !due {
				if err := e.look(ctx); err != nil {
					return err
				}
			}
		}
		if due {
			if err := e.flush(ctx, ready); err != nil {
				return err
			}
			ready, bytes = ready[:0], 0
		}
	}
}

// flush stores outcomes, then says how far the chunk is. An outcome counts when
// it can be read.
func (e *chunk) flush(ctx context.Context, ready []result.Outcome) error {
	failpoint.Hit(ChunkAnswered)
	if err := e.results.Insert(ctx, e.run.at(e.org), ready); err != nil {
		return err
	}
	failpoint.Hit(ChunkStored)
	e.mu.Lock()
	for i := range ready {
		e.count.Add(ready[i].Brief())
	}
	count := e.count
	e.mu.Unlock()
	if err := e.progress.PutChunk(ctx, e.org, e.run.ID, e.index, count, e.now()); err != nil {
		return err
	}
	failpoint.Hit(ChunkCounted)
	e.beat()
	return e.look(ctx)
}

// newPace is the pace of a target or a service. It ends when the run is cancelled.
func (e *chunk) newPace() *provider.Pace { return provider.NewPace(e.clock, e.cancelled) }
