package runs

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// The kinds of runs, by what they ask.
const (
	kindRecorded    = "recorded"
	kindModel       = "model"
	kindApplication = "http"
	kindHanging     = "hanging http"
	kindPaid        = "paid http"
)

// journey is one run from its dataset to its end.
type journey struct {
	load        *load
	number      int
	org         *organization
	kind        string
	items       int
	repetitions int
	concurrency int
	budget      float64
	cancel      string  // the stage at which it is cancelled
	at          float64 // when executing: after this share of the units

	dataset, evaluation, run string
	index                    map[string]int // of items, by their id

	over      atomic.Bool
	once      sync.Once
	cancelled chan struct{} // closed when a cancellation was acknowledged
	mu        sync.Mutex
	endedAt   time.Time // when it was cancelled
	isRunning bool      // it was started, and runs or has run
	results   int       // that the API listed
}

// units is how many results a whole run has.
func (j *journey) units() int { return j.items * j.repetitions }

// passes tells whether an item is to pass.
func passes(index int) bool { return index%4 != 0 }

// travel makes a run, sees it through and holds it against what it must be.
func (j *journey) travel(ctx context.Context) error {
	if err := j.prepare(ctx); err != nil {
		return err
	}
	if err := j.follow(ctx); err != nil {
		return err
	}
	if err := j.check(ctx); err != nil {
		return err
	}
	return j.release(ctx)
}

// key makes a request of this run safe to repeat.
func (j *journey) key(what string) string {
	return fmt.Sprintf("%s-%d-%d-%s", j.load.s.Removed, j.load.seed, j.number, what)
}

// prepare makes a dataset and an evaluation and starts the run.
func (j *journey) prepare(ctx context.Context) error {
	if err := j.fill(ctx); err != nil {
		return err
	}
	return j.start(ctx)
}

// fill makes a dataset with the run's items.
func (j *journey) fill(ctx context.Context) error {
	s := j.load.s
	made, err := s.As(j.org.Organization, j.key("dataset")).CreateDataset(ctx, api.CreateDataset{Name: j.key("")})
	if err != nil {
		return err
	}
	j.dataset, j.index = made.ID, map[string]int{}
	const most = 1000 // that one request takes
	for from := 0; from < j.items; from += most {
		items := make([]api.DatasetItemInput, min(most, j.items-from))
		for i := range items {
			text := "run " + strconv.Itoa(j.number) + " item " + strconv.Itoa(from+i)
			items[i] = api.DatasetItemInput{Input: text, ExpectedOutput: text, Output: text}
			if !passes(from + i) {
				items[i].ExpectedOutput = "something else"
			}
		}
		added, err := s.As(j.org.Organization, j.key("items "+strconv.Itoa(from))).AddDatasetItems(ctx, j.dataset, api.AddDatasetItems{Items: items})
		if err != nil {
			return err
		}
		for _, i := range added.Items {
			j.index[i.ID] = from + int(i.Index)
		}
	}
	return nil
}

// start makes an evaluation and starts the run.
func (j *journey) start(ctx context.Context) error {
	s := j.load.s
	var made api.Evaluation
	if err := s.Post(ctx, j.org.Organization, "/api/evaluations", j.key("evaluation"), map[string]any{
		"name": j.key(""), "datasetId": j.dataset, "metrics": []string{"exact_match"}, "target": j.target(),
	}, &made); err != nil {
		return err
	}
	j.evaluation = made.ID
	want := map[string]any{"repetitions": j.repetitions, "concurrency": j.concurrency}
	if j.budget > 0 {
		want["budgetUsd"] = j.budget
	}
	var started api.Run
	if err := s.Post(ctx, j.org.Organization, "/api/evaluations/"+j.evaluation+"/runs", j.key("run"), want, &started); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.run, j.isRunning = started.ID, true
	return nil
}

func (j *journey) target() map[string]any {
	t := j.load.s.targets
	wait := int(t.waits.Milliseconds())
	switch j.kind {
	case kindRecorded:
		return map[string]any{"type": "recorded"}
	case kindModel:
		return map[string]any{"type": "model", "providerKeyId": j.org.providerKey, "model": "echo", "timeoutMs": wait}
	case kindHanging:
		return map[string]any{"type": "http", "url": t.app + "/hang", "timeoutMs": 600_000}
	case kindPaid:
		return map[string]any{"type": "http", "url": t.app + "/paid", "timeoutMs": wait}
	default:
		return map[string]any{"type": "http", "url": t.app + "/", "timeoutMs": wait}
	}
}

// follow watches a run until it has ended, and cancels it if that is its fate.
func (j *journey) follow(ctx context.Context) error {
	s := j.load.s
	done := int64(0)
	for limit := time.Now().Add(4 * patience); ; {
		p, err := s.As(j.org.Organization, "").GetEvaluationRunProgress(ctx, j.evaluation, j.run)
		if err != nil {
			return err
		}
		if p.ItemsDone < done || p.ItemsTotal > 0 && p.ItemsDone > p.ItemsTotal {
			j.load.count(func(v *verdict) {
				v.miscounted++
				v.Example("run %s says %d of %d are done, and said %d before", j.run, p.ItemsDone, p.ItemsTotal, done)
			})
		}
		done = p.ItemsDone
		if p.Status != "running" {
			return nil
		}
		if j.isDue(p) {
			if err := j.end(ctx); err != nil {
				return err
			}
		}
		if time.Now().After(limit) {
			return fmt.Errorf("it has not ended in %s: %s, %s, %d of %d", 4*patience, p.Status, p.Phase, p.ItemsDone, p.ItemsTotal)
		}
		if err := rig.Sleep(ctx, 250*time.Millisecond); err != nil {
			return err
		}
	}
}

// isDue tells whether the stage is reached at which the run is cancelled.
func (j *journey) isDue(p api.RunProgress) bool {
	switch j.cancel {
	case "queued":
		return p.Phase == "queued"
	case "executing":
		return p.Phase == "executing" && float64(p.ItemsDone) >= j.at*float64(j.units())
	case "hanging":
		_, open := j.load.s.targets.oracle.Of(prefix(j.run))
		return open >= j.concurrency
	}
	return false
}

// end cancels the run, unless it has ended.
func (j *journey) end(ctx context.Context) error {
	after, err := j.load.s.As(j.org.Organization, j.key("cancel")).CancelEvaluationRun(ctx, j.evaluation, j.run)
	if rig.IsConflict(err) {
		return nil // it was quicker
	}
	if err != nil {
		return err
	}
	if after.Status != "cancelled" {
		return fmt.Errorf("it was cancelled and says that it is %s", after.Status)
	}
	j.once.Do(func() {
		j.mu.Lock()
		j.endedAt = time.Now()
		j.mu.Unlock()
		close(j.cancelled)
	})
	return nil
}

// isCancelled tells whether somebody was told that the run is cancelled.
func (j *journey) isCancelled() bool {
	select {
	case <-j.cancelled:
		return true
	default:
		return false
	}
}

// release deletes the dataset, which a run that has ended does not hold.
func (j *journey) release(ctx context.Context) error {
	err := j.load.s.Insist(ctx, j.org.Organization, http.MethodDelete, "/api/datasets/"+j.dataset, j.key("delete"), nil, nil)
	if rig.IsConflict(err) {
		j.load.count(func(v *verdict) {
			v.held++
			v.Example("run %s (%s) has ended and holds its dataset: %v", j.run, j.kind, err)
		})
		return nil
	}
	return err
}
