package judge

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// journey is one run whose answers a judge scores: those that are recorded, or those
// that a client sends.
type journey struct {
	load        *load
	number      uint64
	org         tenant
	units       []unit
	judge       string // key of the judge; that of runs if it is empty
	concurrency int
	client      bool // sends the answers

	evaluation, run string
	index           map[string]int // of items, by their id
}

// key makes a request of this run safe to repeat.
func (j *journey) key(what string) string {
	return fmt.Sprintf("%s-%d-%s", j.load.s.Removed, j.number, what)
}

// metric is the judge's.
func (j *journey) metric() string {
	if j.judge == "" {
		return "judge:runs"
	}
	return "judge:" + j.judge
}

// travel makes a run, sees it through and holds it against what it must be.
func (j *journey) travel(ctx context.Context) error {
	if err := j.start(ctx); err != nil {
		return err
	}
	end, err := j.follow(ctx)
	if err != nil {
		return err
	}
	return j.check(ctx, end)
}

// start makes a dataset and an evaluation and starts the run.
func (j *journey) start(ctx context.Context) error {
	s := j.load.s
	made, err := s.As(j.org.Organization, j.key("dataset")).CreateDataset(ctx, api.CreateDataset{Name: j.key("")})
	if err != nil {
		return err
	}
	items := make([]api.DatasetItemInput, len(j.units))
	for i, u := range j.units {
		if items[i] = (api.DatasetItemInput{Input: u.input(), Output: u.output()}); j.client {
			items[i].Output = nil
		}
	}
	added, err := s.As(j.org.Organization, j.key("items")).AddDatasetItems(ctx, made.ID, api.AddDatasetItems{Items: items})
	if err != nil {
		return err
	}
	j.index = map[string]int{}
	for _, i := range added.Items {
		j.index[i.ID] = int(i.Index)
	}
	target := "recorded"
	if j.client {
		target = "client"
	}
	var evaluation api.Evaluation
	if err := s.Post(ctx, j.org.Organization, "/api/evaluations", j.key("evaluation"), map[string]any{
		"name": j.key(""), "datasetId": made.ID, "metrics": []string{j.metric()}, "target": map[string]any{"type": target},
	}, &evaluation); err != nil {
		return err
	}
	var started api.Run
	err = s.Post(ctx, j.org.Organization, "/api/evaluations/"+evaluation.ID+"/runs", j.key("run"), map[string]any{"concurrency": j.concurrency}, &started)
	j.evaluation, j.run = evaluation.ID, started.ID
	if err != nil || !j.client {
		return err
	}
	return j.send(ctx)
}

// send sends the answers as a client does: some, and then the rest.
func (j *journey) send(ctx context.Context) error {
	all := make([]map[string]any, 0, len(j.units))
	for id, i := range j.index {
		all = append(all, map[string]any{"testCaseId": id, "output": j.units[i].output()})
	}
	path, half := "/api/evaluations/"+j.evaluation+"/runs/"+j.run+"/results", len(all)/2
	if err := j.load.s.Post(ctx, j.org.Organization, path, j.key("some"), map[string]any{"results": all[:half]}, nil); err != nil {
		return err
	}
	return j.load.s.Post(ctx, j.org.Organization, path, j.key("rest"), map[string]any{"results": all[half:], "final": true}, nil)
}

// follow waits until a run has ended and is added up.
func (j *journey) follow(ctx context.Context) (api.Run, error) {
	for limit := time.Now().Add(4 * rig.Patience); ; {
		r, err := j.load.s.As(j.org.Organization, "").GetEvaluationRun(ctx, j.evaluation, j.run)
		if err != nil || r.Status != "running" && r.Statistics != nil {
			return r, err
		}
		if time.Now().After(limit) {
			return r, fmt.Errorf("it has not ended in %s: %s", 4*rig.Patience, r.Status)
		}
		if err := rig.Sleep(ctx, 250*time.Millisecond); err != nil {
			return r, err
		}
	}
}

// check holds a run that has ended against its verdicts, and these against what they
// must be.
func (j *journey) check(ctx context.Context, end api.Run) error {
	verdicts, err := j.verdicts(ctx)
	if err != nil {
		return err
	}
	scores, err := j.scores(ctx)
	if err != nil {
		return err
	}
	j.load.count(func(v *verdict) {
		v.runs++
		if end.Status != "completed" {
			v.wrong++
			v.Example("run %s is %s and had to be completed", j.run, end.Status)
		}
		seen := map[int]int{}
		for _, r := range verdicts {
			i, known := 0, false
			if r.TestCaseID != nil {
				i, known = j.index[*r.TestCaseID]
			}
			if seen[i]++; !known || seen[i] > 1 {
				v.doubled++
				v.Example("run %s has one verdict too many, %s of case %d", j.run, r.ID, i)
				continue
			}
			v.verdicts++
			v.hold(j.units[i], r)
			if score, ok := scores[*r.TestCaseID]; !ok || (score == nil) != (r.Score == nil) || score != nil && *score != *r.Score {
				v.wrong++
				v.Example("run %s scores %s otherwise than its verdict does", j.run, j.units[i].name)
			}
		}
		if missing := len(j.units) - len(seen); missing > 0 {
			v.missing += missing
			v.Example("run %s has verdicts of %d cases of %d", j.run, len(seen), len(j.units))
		}
		if len(scores) != len(j.units) {
			v.missing++
			v.Example("run %s has results of %d cases of %d", j.run, len(scores), len(j.units))
		}
	})
	return nil
}

// verdicts are those of the run.
func (j *journey) verdicts(ctx context.Context) (all []api.JudgeResult, err error) {
	q := url.Values{"limit": {"100"}, "evaluationRunId": {j.run}}
	for {
		page, err := j.load.s.As(j.org.Organization, "").ListJudgeResults(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Results...)
		if page.NextCursor == nil {
			return all, nil
		}
		q.Set("cursor", *page.NextCursor)
	}
}

// scores are what the results of the run say that the judge said, by item.
func (j *journey) scores(ctx context.Context) (map[string]*float64, error) {
	all, q := map[string]*float64{}, url.Values{"limit": {"100"}}
	for {
		page, err := j.load.s.As(j.org.Organization, "").ListEvaluationRunResults(ctx, j.evaluation, j.run, q)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Results {
			all[r.TestCaseID] = r.Scores[j.metric()]
		}
		if page.NextCursor == nil {
			return all, nil
		}
		q.Set("cursor", *page.NextCursor)
	}
}
