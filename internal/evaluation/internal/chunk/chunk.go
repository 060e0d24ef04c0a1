// Package chunk executes a stretch of a run's units: it asks the target, has the
// answers scored, stores what came of each unit and says how far the chunk is. Answers
// that a client sent are there already and are only scored.
//
// A chunk may be executed again after its worker has died. Units that have an
// outcome are then left alone, so that none is paid for twice.
package chunk

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/internal/progress"
	"github.com/assayhq/assay/internal/evaluation/internal/suspect"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/failpoint"
)

// Parts are what a chunk is executed with.
type Parts struct {
	Results  *result.Service
	Progress progress.Store
	Datasets *dataset.Service
	Provider *provider.Service
	Judges   *judge.Service
	// Now is the time as it is shown and stored, Clock the one for durations.
	Now, Clock func() time.Time
	// Look tells whether the run still runs, and what its other chunks have cost if
	// it has a budget.
	Look func(context.Context) (running bool, spent int64, err error)
	// Beat tells the engine that the chunk is alive.
	Beat func()
	// Leaving is closed when the worker is to stop.
	Leaving <-chan struct{}
}

// Work is a stretch of a run's units, with what the run fixed when it began.
type Work struct {
	Run        result.Run
	Resumed    *result.Run // the run whose answers it keeps, if there is one
	Plan       scoring.Plan
	Measures   []scoring.Measure // the plan's metrics
	Dataset    int64             // whose items the units are of,
	Version    int               // and in which version
	ClusterKey string
	BudgetUSD  *float64 // of the whole run; nil without a limit

	Index int // of the chunk in its run
	Units []result.Key
	Width int // units at once
	// Died says that the worker of the attempt before is gone, and that what killed
	// it may be a unit.
	Died bool
}

// Done is what became of a chunk: every unit has an outcome, unless the run ended
// or cannot go on, or its client did not send one.
type Done struct {
	Ended      bool
	Stop       *provider.Unusable // why the run cannot go on
	Units      int                // that were executed now
	UnitMicros int64              // about how long each took
}

// CodeBudgetExceeded is why a run cannot go on that has spent its budget.
const CodeBudgetExceeded = "budget_exceeded"

// execution is a chunk while it is executed.
type execution struct {
	Parts
	Work
	target  scoring.Asker
	scorers scoring.Scorers
	pace    *provider.Pace

	mu    sync.Mutex
	count result.Count // of what is stored
	spent int64        // by other chunks of the run
	paid  int64        // by this one, stored or not
	stop  *provider.Unusable
	busy  time.Duration
	fresh int // units that were executed now
	noted map[string]bool

	// given is what others paid for the outcomes that the run did not make alone: the
	// client that sent them, or the run that it resumes. No budget of this run pays it.
	given map[result.Key]uint64
	// rescored are those of them that are completed: their answers are kept, and scored
	// by those whose scores they lack.
	rescored map[result.Key]bool

	// verdicts are those of judges that are not stored yet, by their unit; numbers are
	// for those to come.
	verdicts  map[result.Key][]judge.Result
	numbering sync.Mutex
	numbers   []int64

	// suspects is nil unless a worker died on the chunk.
	suspects *suspect.List

	end sync.Once
	// over is closed when nothing more is to be begun, and why is then set: errEnded or
	// errLeaving. Cancelled is closed only in the first case: what is answered is still
	// scored when the worker leaves.
	over, cancelled chan struct{}
	why             error
}

// Execute executes those units of a chunk that have no outcome yet, and completes those
// that the run has from a client or from another run without all their scores. An error
// means that another attempt may succeed.
func Execute(ctx context.Context, p Parts, w Work) (Done, error) {
	w.Width = max(1, w.Width)
	e := &execution{Parts: p, Work: w, noted: map[string]bool{}, verdicts: map[result.Key][]judge.Result{}, count: result.Count{Size: len(w.Units)}, over: make(chan struct{}), cancelled: make(chan struct{})}
	e.pace = provider.NewPace(p.Clock, e.over)
	if err := e.prepare(ctx); err != nil {
		var why *provider.Unusable
		if errors.As(err, &why) {
			return Done{Stop: why}, nil
		}
		return Done{}, err
	}
	left, err := e.left(ctx)
	if err != nil {
		return Done{}, err
	}
	failpoint.Hit(Read)
	err = e.execute(ctx, left)
	switch {
	case errors.Is(err, errEnded):
		return Done{Ended: true}, nil
	case errors.Is(err, errLeaving) && e.stop != nil: // nobody else would find out why
	case err != nil:
		return Done{}, err
	}
	done := Done{Stop: e.stop, Units: e.fresh}
	if e.fresh > 0 {
		done.UnitMicros = max(1, e.busy.Microseconds()/int64(e.fresh))
	}
	return done, nil
}

// errEnded ends a chunk whose run has ended: somebody cancelled it.
var errEnded = errors.New("the run has ended")

// errLeaving ends a chunk whose worker is to stop. What was answered is stored, and the
// next attempt goes on with the rest.
var errLeaving = errors.New("the worker is to stop")

// prepare finds out whom to ask and, after a death, which units to suspect. A
// *provider.Unusable means that somebody cannot be asked.
func (e *execution) prepare(ctx context.Context) (err error) {
	e.target, e.scorers, err = e.Plan.Askers(ctx, e.Provider, e.Run.Org, e.newPace, func(f *provider.Failure) { e.note(ctx, f) })
	if err != nil {
		return err
	}
	if err := e.prepareJudges(ctx); err != nil || !e.Died {
		return err
	}
	deaths, err := e.Progress.Deaths(ctx, e.Run.Org, e.Run.ID, e.Index)
	if err != nil {
		return err
	}
	size := len(e.Units)
	e.suspects = suspect.New(deaths, func(ctx context.Context, deaths map[string]int) error {
		return e.Progress.PutDeaths(ctx, e.Run.Org, e.Run.ID, e.Index, size, deaths, e.Now())
	})
	return nil
}

// newPace is the pace of a service that scores. It ends when the run is cancelled.
func (e *execution) newPace() *provider.Pace { return provider.NewPace(e.Clock, e.cancelled) }

// execute works on units, several at once. While some are worked on, the next
// are read and the last are stored, so that a store holds up only those who have
// nothing else to do. When the run is cancelled, or the worker is to stop, nothing more
// is begun, and what is answered is stored.
func (e *execution) execute(ctx context.Context, left []result.Key) error {
	if err := e.look(ctx); err != nil {
		return err
	}
	if e.isOver() {
		return e.why
	}
	ctx, stop := e.outlive(ctx)
	defer stop()
	finished := make(chan struct{})
	defer close(finished)
	go func() {
		select {
		case <-e.Leaving:
			e.finishWith(errLeaving)
		case <-finished:
		}
	}()
	g, ctx := errgroup.WithContext(ctx)
	asking, hangUp := e.asking(ctx)
	defer hangUp()
	pages := make(chan page) // one is handed out while the next is read
	work := make(chan job)
	done := make(chan result.Outcome, e.Width) // a slow store holds up who would fill the memory
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
	if e.isOver() {
		return e.why
	}
	return nil
}
