package gather

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/span"
)

const (
	// lowConfidence is the confidence below which a judge is not sure.
	lowConfidence = 0.6
	// maxScores is how many verdicts about a run are looked at.
	maxScores = 200_000
)

// ofRun makes items of what a run answered to each item the first time.
func (r Reader) ofRun(ctx context.Context, org principal.OrgID, from *Source, g *gathered) error {
	id, err := strconv.ParseInt(from.Run, 10, 64)
	if err != nil {
		return Unknown(evaluation.ErrRunNotFound, "/source/evaluationRunId", "is not the id of a run")
	}
	run, err := r.Evaluations.RunOf(ctx, org, id)
	if err != nil {
		return Unknown(err, "/source/evaluationRunId", "is not the id of a run")
	}
	briefs, err := r.Evaluations.Briefs(ctx, org, run)
	if err != nil {
		return err
	}
	var doubts map[int64]*doubt
	if from.Only == OnlyLowConfidence || from.Only == OnlyInformative {
		if doubts, err = r.doubts(ctx, org, id); err != nil {
			return err
		}
	}
	ids := from.part(briefs, doubts)
	if ids, err = choose(from, ids); err != nil || len(ids) == 0 {
		return err
	}
	f := result.Filter{Items: ids, Limit: maxSourced}
	for {
		page, more, err := r.Evaluations.Results(ctx, org, run.Evaluation, id, f)
		if err != nil {
			return err
		}
		for _, one := range page {
			f.After = one.Key
			if one.Epoch != 0 {
				continue
			}
			i := Item{Run: id, TestCase: one.Key.Item}
			if one.Trace != ([16]byte{}) {
				i.Trace = (*span.TraceID)(&one.Trace)
			}
			if i.Content, err = shownContent(one.Item.Content, one.Output); err != nil {
				return err
			}
			if err := g.add(ctx, i); err != nil {
				return err
			}
		}
		if !more || len(page) == 0 {
			return nil
		}
	}
}

// part are the items of a run that are meant; the most informative come first.
func (s Source) part(briefs []result.Brief, doubts map[int64]*doubt) (ids []int64) {
	for _, b := range briefs {
		if b.Epoch != 0 || b.Status == result.StatusSkipped {
			continue
		}
		d := doubts[b.Item]
		meant := false
		switch s.Only {
		case OnlyAll:
			meant = true
		case OnlyFailed:
			meant = b.Status == result.StatusFailed || b.Status == result.StatusErrored
		case OnlyLowConfidence:
			meant = d != nil && (d.mute || d.sure < lowConfidence)
		case OnlyInformative:
			meant = d != nil
		}
		if meant {
			ids = append(ids, b.Item)
		}
	}
	if s.Only == OnlyInformative {
		slices.SortFunc(ids, func(a, b int64) int {
			return cmp.Or(cmp.Compare(doubts[b].size(), doubts[a].size()), cmp.Compare(a, b))
		})
	}
	return ids
}

// doubt is how far judges leave open what is right about an answer.
type doubt struct {
	low, high float64 // of their scores
	sure      float64 // the least confidence that one of them states
	mute      bool    // one of them would not decide
}

// size is the doubt from 0 to 1: how far judges are apart, or how unsure one of them is.
func (d doubt) size() float64 {
	if d.mute {
		return 1
	}
	return max(d.high-d.low, 1-d.sure)
}

// add takes what a judge says into account.
func (d *doubt) add(value *float64, confidence float64) {
	if confidence > 0 {
		d.sure = min(d.sure, confidence)
	}
	if value == nil {
		d.mute = true
		return
	}
	d.low, d.high = min(d.low, *value), max(d.high, *value)
}

// doubts are what judges leave open about the items of a run that they judged.
func (r Reader) doubts(ctx context.Context, org principal.OrgID, run int64) (map[int64]*doubt, error) {
	about := score.RunItem(run, 0, 0)
	about.Part = ""
	out := map[int64]*doubt{}
	err := r.Scores.Every(ctx, org, score.Page{Source: score.Source{Kind: score.SourceJudge}, Subject: about, Below: 1 << 62, Limit: maxScores}, func(one score.Score) error {
		var said struct {
			Confidence float64 `json:"confidence"`
		}
		if len(one.Detail) > 0 {
			if err := json.Unmarshal(one.Detail, &said); err != nil {
				return fmt.Errorf("verdict %d: %w", one.Record, err)
			}
		}
		text, _, _ := strings.Cut(one.Subject.Part, "/")
		item, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("verdict %d: item: %w", one.Record, err)
		}
		if out[item] == nil {
			out[item] = &doubt{low: 1, sure: 1}
		}
		out[item].add(one.Value, said.Confidence)
		return nil
	})
	return out, err
}
