package evaluation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/evaluation/purge"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/tenancy"
)

// The domain's task queues: workflows and short activities on one, chunks on
// the other, whose workers have so many slots and no more.
const (
	Queue      = "evaluation"
	QueueUnits = "evaluation-units"
)

// Topics of the domain's promises.
const (
	TopicStarted   = "run.started"
	TopicCancelled = "run.cancelled"
	TopicFinal     = "run.final"
)

// signalFinal tells a run that waits for a client to look again.
const signalFinal = "final"

// engine starts, cancels and wakes workflows. Each may be done twice.
type engine interface {
	Start(ctx context.Context, domain, id string, workflow, input any) error
	Cancel(ctx context.Context, id string) error
	Signal(ctx context.Context, id, signal string) error
}

// WorkflowID is the id of a run's workflow, so that a run has one.
func (t Ticket) WorkflowID() string { return fmt.Sprintf("run:%s:%d", t.Org, t.Run) }

// Handlers hand the domain's promises to the workflow engine. The runs of an
// organization that is suspended are cancelled.
func (s *Service) Handlers(e engine, keepDeleted time.Duration) map[string]change.Handler {
	read := func(do func(context.Context, Ticket) error) change.Handler {
		return func(ctx context.Context, m change.Message) error {
			var t Ticket
			if err := json.Unmarshal(m.Payload, &t); err != nil {
				return fmt.Errorf("read ticket: %w", err)
			}
			return do(ctx, t)
		}
	}
	return map[string]change.Handler{
		TopicStarted: read(func(ctx context.Context, t Ticket) error {
			return e.Start(ctx, Queue, t.WorkflowID(), RunWorkflow, Execution{Ticket: t})
		}),
		TopicCancelled: read(func(ctx context.Context, t Ticket) error { return e.Cancel(ctx, t.WorkflowID()) }),
		TopicFinal:     read(func(ctx context.Context, t Ticket) error { return e.Signal(ctx, t.WorkflowID(), signalFinal) }),
		purge.TopicDeleted: func(ctx context.Context, m change.Message) error {
			id, p, err := purge.Started(m, keepDeleted)
			if err != nil {
				return err
			}
			return e.Start(ctx, Queue, id, purge.PurgeWorkflow, p)
		},
		tenancy.TopicOrganizationSuspended: func(ctx context.Context, m change.Message) error {
			var who tenancy.Suspended
			if err := json.Unmarshal(m.Payload, &who); err != nil {
				return fmt.Errorf("read suspension: %w", err)
			}
			_, err := s.CancelAll(ctx, who.Org)
			return err
		},
	}
}

// Execution is all that a run's workflow remembers. It begins with a ticket and
// goes on with the rest when its history has become long.
type Execution struct {
	Ticket
	Next       int   // the first unit that no chunk has
	Chunk      int   // the first chunk that does not exist
	UnitMicros int64 // about how long a unit takes; zero is unknown
}

// ChunkInput is a stretch of a run's units.
type ChunkInput struct {
	Ticket
	Index, From, To int
	Width           int // units at once
}

// ChunkDone is what became of a chunk: every unit has an outcome, unless the
// run ended or cannot go on.
type ChunkDone struct {
	Ended      bool
	Stop       *RunError
	Units      int   // that were executed now
	UnitMicros int64 // about how long each took
}

// Begun is what a workflow needs to know of its run.
type Begun struct {
	Ended     bool
	Stop      *RunError
	Client    bool
	Scores    bool // are sent by whoever knows them
	Asks      bool // judges or services for scores of what its client sends; histories of old do not
	Units     int
	Lanes     int
	Width     int
	FirstTime int64 // microseconds that a unit is guessed to take
	ChunkTime time.Duration
	LeastTime time.Duration // what is hardly worth a chunk; histories of old have none
	Heartbeat time.Duration
}

// Sizes of chunks, in units.
const (
	minChunk = 10
	maxChunk = 5000
)

// RunWorkflow executes a run: it begins, its lanes execute one chunk after
// another, it is concluded. Whatever happens, it is concluded.
func RunWorkflow(ctx workflow.Context, x Execution) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 30 * time.Minute, // adding up the largest runs
		HeartbeatTimeout:    20 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
	})
	var a *Activities
	var b Begun
	err := workflow.ExecuteActivity(ctx, a.BeginRun, x.Ticket).Get(ctx, &b)
	switch {
	case err != nil || b.Ended || b.Stop != nil:
	default:
		var long bool
		if b.Stop, long, err = x.work(ctx, b); long {
			return workflow.NewContinueAsNewError(ctx, RunWorkflow, x)
		}
	}
	// A chunk of a cancelled run ends in any way: its worker may be gone, and the
	// engine gives it to no other.
	if err != nil && ctx.Err() == nil {
		return err
	}
	// A cancelled run is added up too.
	end, _ := workflow.NewDisconnectedContext(ctx)
	if b.Heartbeat > 0 {
		end = workflow.WithHeartbeatTimeout(end, b.Heartbeat)
	}
	if err := workflow.ExecuteActivity(end, a.ConcludeRun, Conclusion{x.Ticket, b.Stop}).Get(end, nil); err != nil {
		return err
	}
	return workflow.ExecuteActivity(end, a.WriteArtifacts, x.Ticket).Get(end, nil)
}

// work gets a run its results and their scores. Those of a client are scored when they
// are all there, or no more are waited for: then it is the waiting that failed.
func (x *Execution) work(ctx workflow.Context, b Begun) (stop *RunError, long bool, err error) {
	if b.Client {
		silent, err := x.awaitResults(ctx)
		if err != nil || !b.Asks {
			return silent, false, err
		}
		stop, long, err = x.execute(ctx, b)
		if silent != nil {
			stop = silent
		}
		return stop, long, err
	}
	if stop, long, err = x.execute(ctx, b); b.Scores && stop == nil && !long && err == nil {
		stop, err = x.awaitResults(ctx)
	}
	return stop, long, err
}

// Conclusion ends a run, as failed if there is a reason.
type Conclusion struct {
	Ticket
	Stop *RunError
}

// execute lets every lane execute chunks until there are no units left, the run
// cannot go on, or the history has become long.
func (x *Execution) execute(ctx workflow.Context, b Begun) (stop *RunError, long bool, err error) {
	if x.UnitMicros == 0 {
		x.UnitMicros = b.FirstTime
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           unitsQueue(ctx),
		StartToCloseTimeout: 6 * time.Hour, // targets that are slow, limited, or both
		HeartbeatTimeout:    b.Heartbeat,
		WaitForCancellation: true,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 500 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
		Priority:            temporal.Priority{FairnessKey: x.Org.String()},
	})
	var a *Activities
	ended := false
	lanes := workflow.NewWaitGroup(ctx)
	for range b.Lanes {
		lanes.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer lanes.Done()
			for x.Next < b.Units && stop == nil && err == nil && !ended {
				if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
					long = true
					return
				}
				var done ChunkDone
				if e := workflow.ExecuteActivity(ctx, a.ExecuteChunk, x.take(b)).Get(ctx, &done); e != nil {
					err = e
					return
				}
				ended = ended || done.Ended
				if done.Stop != nil {
					stop = done.Stop
				}
				if done.Units > 0 {
					x.UnitMicros = done.UnitMicros
				}
			}
		})
	}
	lanes.Wait(ctx)
	return stop, long && stop == nil && err == nil && !ended, err
}

// take cuts off the next chunk: about as long as a chunk is to take, and no
// more than leaves every lane its share of what is left, unless that is hardly
// worth a chunk.
func (x *Execution) take(b Begun) ChunkInput {
	left := b.Units - x.Next
	within := func(d time.Duration) int { return int(d.Microseconds() * int64(b.Width) / max(1, x.UnitMicros)) }
	share := (left + b.Lanes - 1) / b.Lanes
	size := min(max(min(within(b.ChunkTime), share), within(b.LeastTime), minChunk), maxChunk, left)
	c := ChunkInput{Ticket: x.Ticket, Index: x.Chunk, From: x.Next, To: x.Next + size, Width: b.Width}
	x.Next, x.Chunk = c.To, x.Chunk+1
	return c
}

// unitsQueue is the queue of chunks beside the workflow's own.
func unitsQueue(ctx workflow.Context) string {
	return workflow.GetInfo(ctx).TaskQueueName + QueueUnits[len(Queue):]
}

// awaitResults waits until all results or scores were sent, or nothing for too long.
func (x *Execution) awaitResults(ctx workflow.Context) (*RunError, error) {
	final, since := workflow.GetSignalChannel(ctx, signalFinal), workflow.Now(ctx)
	for {
		var w Waiting
		if err := workflow.ExecuteActivity(ctx, checkResults, x.Ticket).Get(ctx, &w); err != nil {
			return nil, err
		}
		if w.Ended || w.Final {
			return nil, nil
		}
		left := max(w.Left, w.Patience-workflow.Now(ctx).Sub(since))
		if left <= 0 {
			return &RunError{CodeTimeout, "No result or score was sent for too long, and no request said that they were all."}, nil
		}
		timer, cancel := workflow.WithCancel(ctx)
		s := workflow.NewSelector(ctx)
		s.AddReceive(final, func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, nil) })
		s.AddFuture(workflow.NewTimer(timer, left), func(workflow.Future) {})
		s.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
		s.Select(ctx)
		cancel()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// Waiting says how long a run still waits for its client. Patience is how long one
// that makes its own results waits for scores once it has them.
type Waiting struct {
	Ended, Final   bool
	Left, Patience time.Duration
}

// Register puts the domain's workflows and short activities on its worker.
func (s *Service) Register(r worker.Registry) {
	r.RegisterWorkflow(RunWorkflow)
	r.RegisterWorkflow(purge.PurgeWorkflow)
	r.RegisterActivity(&purge.Activities{Postgres: s.db, Results: s.results, Scores: s.scores, Artifacts: s.artifacts})
	a := &Activities{s}
	r.RegisterActivity(a)
	r.RegisterActivityWithOptions(a.CheckResults, activity.RegisterOptions{Name: checkResults})
}

// checkResults is the name under which workflows know Activities.CheckResults. It
// stays, because workflows that are under way are replayed by their names.
const checkResults = "HearRun"

// RegisterUnits puts the execution of chunks on its worker.
func (s *Service) RegisterUnits(r worker.Registry) {
	r.RegisterActivity(&Activities{s})
}

// stopOf is the reason in an error why a run cannot go on, if there is one.
func stopOf(err error) *RunError {
	var why *RunError
	var unusable *provider.Unusable
	if !errors.As(err, &why) && errors.As(err, &unusable) {
		return &RunError{unusable.Code, unusable.Message}
	}
	return why
}
