package runs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// verdict is what became of runs.
type verdict struct {
	runs, ended, units, cancelled, calls int

	missing    int // units without a result
	doubled    int // units with more than one
	miscounted int // counters that differ from the results, and results that are wrong
	repeated   int // answers that were asked for again
	extra      int // calls that no crash excuses
	held       int // datasets that could not be deleted
	strayed    int // runs that ended in another way than they had to

	rig.Examples
}

func (v verdict) String() string {
	return fmt.Sprintf("checked: runs %d ended %d cancelled %d units %d calls %d missing %d doubled %d miscounted %d repeated %d extra %d held %d strayed %d",
		v.runs, v.ended, v.cancelled, v.units, v.calls, v.missing, v.doubled, v.miscounted, v.repeated, v.extra, v.held, v.strayed)
}

// guilty is an error if a promise was broken.
func (v verdict) guilty() error {
	if v.missing+v.doubled+v.miscounted+v.extra+v.held+v.strayed == 0 && v.ended == v.runs {
		return nil
	}
	return fmt.Errorf("%s\n%s", v, v.Examples)
}

// count changes the verdict.
func (l *load) count(edit func(*verdict)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	edit(&l.verdict)
}

// tally is what results add up to.
type tally struct {
	done, passed, failed, errored, skipped, calls int
	cost                                          float64
}

// counted is what a run says that its results add up to.
func counted(r api.Run) tally {
	return tally{
		done: int(r.Items + r.Skipped), passed: int(r.Passed), failed: int(r.Failed), errored: int(r.Errored), skipped: int(r.Skipped),
		calls: int(r.Calls), cost: r.CostUSD,
	}
}

// check holds a run that has ended against its results.
func (j *journey) check(ctx context.Context) error {
	end, err := j.figures(ctx)
	if err != nil {
		return err
	}
	var t tally
	// What a cancelled chunk was about to store may come a moment later.
	for try := 0; ; try++ {
		if t, err = j.list(ctx, try == 0); err != nil {
			return err
		}
		if t.done == counted(end).done || !j.isCancelled() || try == 10 {
			break
		}
		if err := rig.Sleep(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
	p, err := j.load.s.As(j.org.Organization, "").GetEvaluationRunProgress(ctx, j.evaluation, j.run)
	if err != nil {
		return err
	}
	chunks, err := j.load.s.chunks(ctx, j.org, j.run)
	if err != nil {
		return err
	}
	j.results = t.done
	j.load.count(func(v *verdict) {
		v.units += t.done
		v.calls += t.calls
		if j.isRight(v, end) {
			v.ended++
		}
		if end.Status == "cancelled" {
			v.cancelled++
		}
		j.compare(v, end, t, p, chunks)
	})
	return nil
}

// figures waits until a run that has ended is added up.
func (j *journey) figures(ctx context.Context) (end api.Run, err error) {
	for limit := time.Now().Add(patience); ; {
		if end, err = j.load.s.As(j.org.Organization, "").GetEvaluationRun(ctx, j.evaluation, j.run); err != nil {
			return end, err
		}
		if end.Statistics != nil {
			return end, nil
		}
		if time.Now().After(limit) {
			j.load.count(func(v *verdict) {
				v.miscounted++
				v.Example("run %s (%s) is %s and was never added up", j.run, j.kind, end.Status)
			})
			return end, nil
		}
		if err := rig.Sleep(ctx, 200*time.Millisecond); err != nil {
			return end, err
		}
	}
}

// isRight tells whether a run ended as it had to.
func (j *journey) isRight(v *verdict, end api.Run) bool {
	code := ""
	if end.Error != nil {
		code = end.Error.Code
	}
	want, wantCode := "completed", ""
	switch {
	case j.isCancelled():
		want = "cancelled"
	case j.budget > 0:
		want, wantCode = "failed", "budget_exceeded"
	}
	if end.Status == want && code == wantCode {
		return true
	}
	v.strayed++
	v.Example("run %s (%s) is %s %s and had to be %s %s", j.run, j.kind, end.Status, code, want, wantCode)
	return false
}

// list reads a run's results through the API and holds each against its item.
func (j *journey) list(ctx context.Context, blame bool) (t tally, err error) {
	type unit struct {
		item  string
		epoch int64
	}
	seen := map[unit]int{}
	q := url.Values{"limit": {"100"}}
	for {
		page, err := j.load.s.As(j.org.Organization, "").ListEvaluationRunResults(ctx, j.evaluation, j.run, q)
		if err != nil {
			return t, err
		}
		for _, r := range page.Results {
			t.add(r.Status, int(r.Calls), r.CostUSD)
			seen[unit{r.TestCaseID, r.Epoch}]++
			index, known := j.index[r.TestCaseID]
			wrong := !known || r.Epoch >= int64(j.repetitions) || r.Status != "errored" && (r.Status == "passed") != passes(index)
			if n := seen[unit{r.TestCaseID, r.Epoch}]; blame && (wrong || n > 1) {
				j.load.count(func(v *verdict) {
					if n > 1 {
						v.doubled++
					} else {
						v.miscounted++
					}
					v.Example("run %s (%s) has the result %s of item %s, epoch %d, which is wrong or there %d times", j.run, j.kind, r.Status, r.TestCaseID, r.Epoch, n)
				})
			}
		}
		if page.NextCursor == nil {
			return t, nil
		}
		q.Set("cursor", *page.NextCursor)
	}
}

func (t *tally) add(status string, calls int, cost *float64) {
	t.done++
	t.calls += calls
	if cost != nil {
		t.cost += *cost
	}
	switch status {
	case "passed":
		t.passed++
	case "errored":
		t.failed++
		t.errored++
	case "skipped":
		t.skipped++
	default:
		t.failed++
	}
}

// compare holds every counter against the results.
func (j *journey) compare(v *verdict, end api.Run, t tally, p api.RunProgress, chunks tally) {
	if missing := j.units() - t.done; end.Status == "completed" && missing != 0 {
		v.missing += max(0, missing)
		v.Example("run %s (%s) is completed with %d results of %d", j.run, j.kind, t.done, j.units())
	}
	differ := func(what string, said any) {
		v.miscounted++
		v.Example("run %s (%s, %s): %s %+v and the results %+v", j.run, j.kind, end.Status, what, said, t)
	}
	exact := counted(end)
	exact.cost = t.cost // sums of fractions differ in their last digits
	if exact != t || math.Abs(end.CostUSD-t.cost) > 1e-9 {
		differ("the run says", counted(end))
	}
	said := tally{done: int(p.ItemsDone), passed: int(p.Passed), failed: int(p.Failed), errored: int(p.Errored), skipped: t.skipped, calls: t.calls, cost: t.cost}
	if said != t {
		differ("its progress says", said)
	}
	// A chunk that was stopped may not have counted what it stored last.
	whole := end.Status == "completed"
	if chunks.done > t.done || whole && (chunks.done != t.done || chunks.passed != t.passed || chunks.failed != t.failed || chunks.errored != t.errored) {
		differ("its chunks say", chunks)
	}
}

// chunks adds up the counters of a run's chunks, which the API only shows while
// it runs.
func (s *system) chunks(ctx context.Context, o *organization, run string) (t tally, err error) {
	err = rig.UntilUp(ctx, func() error {
		return pgx.BeginFunc(ctx, s.rows, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SELECT set_config('app.org', $1, true)", o.ID); err != nil {
				return err
			}
			return tx.QueryRow(ctx, `SELECT coalesce(sum(done), 0), coalesce(sum(passed), 0), coalesce(sum(failed), 0), coalesce(sum(errored), 0), coalesce(sum(skipped), 0)
				FROM evaluation_run_chunks WHERE org_id = $1 AND run_id = $2`, o.ID, run).Scan(&t.done, &t.passed, &t.failed, &t.errored, &t.skipped)
		})
	})
	return t, err
}

// verdict ends the load, and compares what ClickHouse has and what targets were
// asked with what runs say.
func (p *proof) verdict(ctx context.Context) (verdict, error) {
	v, err := p.results(ctx)
	if err != nil {
		return v, err
	}
	crashes := p.s.Downs()
	repeated, again := p.s.targets.oracle.Repeated(crashes)
	v.repeated = repeated
	for _, j := range p.load.all {
		if j.isCancelled() {
			again = append(again, p.s.targets.oracle.Late(prefix(j.run), j.endedAt.Add(p.s.Heartbeat+5*time.Second), crashes)...)
		}
	}
	v.extra = len(again)
	for _, text := range again {
		v.Example("%s", text)
	}
	if v.extra > 0 {
		for _, c := range crashes {
			v.Example("%s was down from %s to %s", c.What, c.Began.Format(rig.Clock), c.End.Format(rig.Clock))
		}
	}
	return v, nil
}

// results ends the load, and compares what ClickHouse has with what runs say.
func (p *proof) results(ctx context.Context) (verdict, error) {
	p.load.end()
	v := &p.load.verdict
	if err := p.load.complaint(); err != nil {
		return *v, errors.Join(err, v.guilty())
	}
	v.runs = len(p.load.all)
	err := p.stored(ctx, v)
	return *v, err
}

// stored counts the results of every run in ClickHouse.
func (p *proof) stored(ctx context.Context, v *verdict) error {
	type count struct{ rows, units uint64 }
	found := map[string]count{}
	err := rig.UntilUp(ctx, func() error {
		rows, err := p.s.results.Query(ctx, "SELECT toString(org_id), toString(run_id), count(), uniqExact(item_id, epoch) FROM run_results FINAL WHERE metric = '' GROUP BY 1, 2")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var org, run string
			var c count
			if err := rows.Scan(&org, &run, &c.rows, &c.units); err != nil {
				return err
			}
			found[org+"/"+run] = c
		}
		return rows.Err()
	})
	for _, j := range p.load.all {
		c := found[j.org.ID+"/"+j.run]
		if c.rows != c.units {
			v.doubled += int(c.rows - c.units)
			v.Example("ClickHouse has %d rows for %d units of run %s (%s)", c.rows, c.units, j.run, j.kind)
		}
		if int(c.units) != j.results {
			v.miscounted++
			v.Example("ClickHouse has %d results of run %s (%s), and the API listed %d", c.units, j.run, j.kind, j.results)
		}
	}
	return err
}
