package judge

import (
	"context"
	"fmt"
	"strconv"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Correct estimates the mean score that people would give to the answers of a run
// that a version of a judge scored, from what people say about some of them. Without
// labels it is the judge's opinion and has no interval. Answers on which the judge
// gave no verdict are missing; items that the judge may have learnt from do not
// count.
// There is an estimate for each level that is asked for.
func (s *Service) Correct(ctx context.Context, org principal.OrgID, id int64, version int, run int64, levels ...float64) ([]correction.Corrected, error) {
	c, v, err := s.used(ctx, org, id, version)
	if err != nil {
		return nil, err
	}
	r, err := s.read(ctx, org, c, v, run)
	if err != nil {
		return nil, err
	}
	return r.means(levels...)
}

// reading is what a version of a judge and people say about the answers of a run.
type reading struct {
	measuring
	run       int64
	version   int
	truncated bool
}

func (s *Service) read(ctx context.Context, org principal.OrgID, c Config, v Version, run int64) (r reading, err error) {
	r = reading{measuring: measuring{spec: v.Spec, sampling: c.Sampling}, run: run, version: v.Number}
	r.all, r.truncated, err = s.sample(ctx, org, c, v, Selection{Run: run})
	if err == nil {
		r.pair(&Alignment{Version: v})
	}
	return r, err
}

// means are the corrected mean at some levels.
func (r *reading) means(levels ...float64) ([]correction.Corrected, error) {
	all := make([]correction.Corrected, len(levels))
	for i, level := range levels {
		out, err := correction.Correct(r.scores, stat.Options{
			Level: level, Range: stat.Unit(), Seed: stat.Seed{Resource: "run/" + strconv.FormatInt(r.run, 10), DataVersion: strconv.Itoa(r.version)},
		})
		if err != nil {
			return nil, err
		}
		if missing := len(r.all) - len(r.scores); missing > 0 {
			out.Headline.Missing = &stat.Missing{Rows: missing, Share: float64(missing) / float64(len(r.all)), Policy: stat.MissingExclude}
		}
		if r.truncated {
			out.Headline.Abstain(stat.StatusInsufficient, tooMany)
		}
		all[i] = out
	}
	return all, nil
}

var tooMany = fmt.Sprintf("the judge scored more than %d answers, which is more than are compared with people", maxSample)

// used is a judge with the version of it that was used.
func (s *Service) used(ctx context.Context, org principal.OrgID, id int64, version int) (Config, Version, error) {
	c, err := s.Find(ctx, org, id)
	if err != nil || c.Current.Number == version {
		return c, c.Current, err
	}
	v, err := s.store.version(ctx, s.db.Org(org), org, id, version)
	return c, v, err
}

// Difference is how the mean score of a judge differs between two runs, at some
// levels.
type Difference struct {
	// At has an estimate for each level that was asked for.
	At []correction.Corrected
	// Pairs are the answers that the judge scored in both runs.
	Pairs int
	// Baseline and Candidate are the corrected means of the runs, at the first level.
	Baseline, Candidate correction.Corrected
}

// CorrectDifference estimates by how much the mean score that people would give to the
// answers of a candidate differs from that of a baseline. Answers to the same items
// are compared; where people labelled both, their labels say how far the judge's
// difference is from theirs.
func (s *Service) CorrectDifference(ctx context.Context, org principal.OrgID, id int64, version int, baseline, candidate int64, levels ...float64) (Difference, error) {
	c, v, err := s.used(ctx, org, id, version)
	if err != nil {
		return Difference{}, err
	}
	var means [2][]correction.Corrected
	var of [2]reading
	for i, run := range []int64{baseline, candidate} {
		if of[i], err = s.read(ctx, org, c, v, run); err != nil {
			return Difference{}, err
		}
		if means[i], err = of[i].means(levels[0]); err != nil {
			return Difference{}, err
		}
	}
	items := differences(v.Spec, c.Sampling, of[0].all, of[1].all)
	out := Difference{Pairs: len(items), Baseline: means[0][0], Candidate: means[1][0]}
	for _, level := range levels {
		one, err := correction.Correct(items, stat.Options{
			Level: level, Range: &stat.Range{Lower: -1, Upper: 1},
			Seed: stat.Seed{Resource: fmt.Sprintf("run/%d:run/%d", baseline, candidate), DataVersion: strconv.Itoa(version)},
		})
		if err != nil {
			return out, err
		}
		if of[0].truncated || of[1].truncated {
			one.Headline.Abstain(stat.StatusInsufficient, tooMany)
		}
		out.At = append(out.At, one)
	}
	return out, nil
}

// differences are the differences of the scores that answers to the same items have in
// two runs.
func differences(spec Spec, sampling Sampling, before, after []*judged) []correction.Item {
	first := make(map[string]*judged, len(before))
	for _, j := range before {
		if j.Status == VerdictCompleted {
			first[j.Subject.Part] = j
		}
	}
	var items []correction.Item
	labelled := 0
	for _, j := range after {
		was := first[j.Subject.Part]
		if was == nil || j.Status != VerdictCompleted {
			continue
		}
		one := correction.Item{Item: strconv.FormatInt(j.ID, 10), Cluster: j.cluster(), Judge: j.Score - was.Score}
		a, known := spec.consensus(was.labels)
		b, too := spec.consensus(j.labels)
		if known && too {
			d := b.Score - a.Score
			one.Human = &d
			labelled++
		}
		items = append(items, one)
	}
	if len(items) > 0 && (sampling == SamplingRandom || labelled == len(items)) {
		for i := range items {
			items[i].Probability = float64(labelled) / float64(len(items))
		}
	}
	return items
}
