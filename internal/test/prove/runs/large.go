package runs

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// mostMemory is what a process may need while a run is large, however large: it
// never has more of the run in memory than some pages, beside a few numbers for
// each unit.
const mostMemory = 400 << 20

// large executes a run of many recorded items between fresh processes and says
// what each had in memory at most.
func (s *system) large(ctx context.Context, items int) error {
	if items == 0 {
		return nil
	}
	if err := s.System.Restart(ctx); err != nil {
		return err
	}
	j := &journey{load: newLoad(s, s.Seed+1), org: s.orgs[0], kind: kindRecorded, items: items, repetitions: 1, concurrency: 16}
	if err := j.fill(ctx); err != nil {
		return err
	}
	began := time.Now()
	if err := j.start(ctx); err != nil {
		return err
	}
	var p api.RunProgress
	for p.Status == "" || p.Status == "running" {
		var err error
		if p, err = s.As(j.org.Organization, "").GetEvaluationRunProgress(ctx, j.evaluation, j.run); err != nil {
			return err
		}
		if err := rig.Sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	took := time.Since(began)
	if p.Status != "completed" || p.ItemsDone != int64(items) || p.Passed != int64(passing(items)) {
		return fmt.Errorf("a run of %d items is %s with %d done and %d passed", items, p.Status, p.ItemsDone, p.Passed)
	}
	if err := j.files(ctx); err != nil {
		return err
	}
	server, err := bench.PeakMemory(s.Server.PID())
	if err != nil {
		return err
	}
	worker, err := bench.PeakMemory(s.Worker.PID())
	if err != nil {
		return err
	}
	rig.Say("large  %d recorded items in %.1f s, files after %.1f s; most memory: server %d MB, worker %d MB", items, took.Seconds(), time.Since(began).Seconds(), server>>20, worker>>20)
	if most := max(server, worker); most > mostMemory {
		return fmt.Errorf("a run of %d items took %d MB, and %d MB is enough for any", items, most>>20, mostMemory>>20)
	}
	return nil
}

// passing is how many of so many items are to pass.
func passing(items int) (n int) {
	for i := range items {
		if passes(i) {
			n++
		}
	}
	return n
}

// files waits until the run has left its files.
func (j *journey) files(ctx context.Context) error {
	for limit := time.Now().Add(patience); ; {
		page, err := j.load.s.As(j.org.Organization, "").ListEvaluationArtifacts(ctx, j.evaluation, url.Values{"runId": {j.run}})
		if err != nil {
			return err
		}
		for _, a := range page.Artifacts {
			if a.Kind == "log" { // the last
				return nil
			}
		}
		if time.Now().After(limit) {
			return fmt.Errorf("run %s has left no log, but %d files", j.run, len(page.Artifacts))
		}
		if err := rig.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}
