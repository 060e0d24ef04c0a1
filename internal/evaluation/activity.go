package evaluation

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/platform/temporal"
)

// Activities are the side effects of a run. Each may run again after a failure.
type Activities struct {
	s *Service
}

// Lanes of a run: one for so many units at once, and no more than leave others
// their slots.
const (
	laneWidth = 16
	maxLanes  = 8
)

// erased reports whether a run is gone, as its organization is: there is nothing
// left to do, and no later attempt finds more.
func erased(err error) bool { return errors.Is(err, ErrRunNotFound) }

// BeginRun fixes what a run works on.
func (a *Activities) BeginRun(ctx context.Context, t Ticket) (Begun, error) {
	defer temporal.KeepBeating(ctx)()
	r, err := a.s.begin(ctx, t)
	if erased(err) {
		return Begun{Ended: true}, nil
	}
	if why := stopOf(err); why != nil {
		return Begun{Stop: why}, nil
	}
	if err != nil {
		return Begun{}, err
	}
	if r.Status != StatusRunning {
		return Begun{Ended: true}, nil
	}
	target := r.Request.Plan.Target
	b := Begun{Units: r.Resolved.Units, Client: target.Type == scoring.TargetClient, Scores: r.Request.Plan.AwaitsScores(), Asks: r.Request.Plan.Asks(), ChunkTime: a.s.cfg.ChunkTime, LeastTime: a.s.cfg.ChunkTime / 20, Heartbeat: a.s.cfg.Heartbeat}
	b.Lanes = min(maxLanes, max(1, r.Request.Concurrency/laneWidth))
	b.Width = (r.Request.Concurrency + b.Lanes - 1) / b.Lanes
	b.FirstTime = time.Second.Microseconds()
	if !r.Request.Plan.Paid() {
		b.Lanes, b.FirstTime = min(2, b.Lanes+1), 100
	}
	return b, nil
}

func unlessErased(err error) error {
	if erased(err) {
		return nil
	}
	return err
}

// ExecuteChunk executes a stretch of units, those that have no outcome yet.
func (a *Activities) ExecuteChunk(ctx context.Context, c ChunkInput) (ChunkDone, error) {
	died := diedBefore(ctx)
	// It is alive while it keeps the last answers of a run that was cancelled.
	alive := context.WithoutCancel(ctx)
	beat := func() { activity.RecordHeartbeat(alive, working) }
	beat()
	stop := temporal.KeepBeating(alive, working)
	done, err := a.s.executeChunk(ctx, c, died, beat, temporal.Leaving(ctx))
	stop()
	if erased(err) {
		return ChunkDone{Ended: true}, nil
	}
	if err != nil {
		activity.RecordHeartbeat(alive, ended)
	}
	return done, err
}

// What the last heartbeat of an attempt says.
const (
	working = "working"
	ended   = "ended" // it has failed by itself
)

// diedBefore reports whether an attempt before this one has begun and neither
// succeeded nor failed: its worker is gone.
func diedBefore(ctx context.Context) bool {
	var last string
	return activity.HasHeartbeatDetails(ctx) && (activity.GetHeartbeatDetails(ctx, &last) != nil || last != ended)
}

// CheckResults looks whether a client has sent all its results.
func (a *Activities) CheckResults(ctx context.Context, t Ticket) (Waiting, error) {
	r, err := a.s.store.findRun(ctx, a.s.db.Org(t.Org), t.Org, t.Run)
	if erased(err) {
		return Waiting{Ended: true}, nil
	}
	if err != nil {
		return Waiting{}, err
	}
	last := r.StartedAt
	if r.HeardAt != nil {
		last = *r.HeardAt
	}
	w := Waiting{Ended: r.Status != StatusRunning, Final: r.Final, Left: last.Add(a.s.cfg.ClientTimeout).Sub(a.s.now())}
	if r.Request.Plan.Target.Type != scoring.TargetClient {
		w.Patience = a.s.cfg.ClientTimeout
	}
	return w, nil
}

// ConcludeRun adds a run up and ends it.
func (a *Activities) ConcludeRun(ctx context.Context, c Conclusion) error {
	defer temporal.KeepBeating(ctx)()
	return unlessErased(a.s.conclude(ctx, c.Ticket, c.Stop))
}

// WriteArtifacts writes the files that a run leaves behind.
func (a *Activities) WriteArtifacts(ctx context.Context, t Ticket) error {
	defer temporal.KeepBeating(ctx)()
	return unlessErased(a.s.writeArtifacts(ctx, t))
}
