package judge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/telemetry/score"
)

// maxSample is how many results are compared with people at once.
const maxSample = 200_000

// Selection says which results of a judge are compared with people.
type Selection struct {
	Version int
	// Run and Dataset restrict the results to those about items of one; zero does
	// not.
	Run, Dataset int64
	// Split restricts them to items of one split. Items without a split belong to
	// test.
	Split string
}

// measures reports whether items of a split are selected. What a judge may learn
// from never measures it.
func (s Selection) measures(split string) bool {
	switch split {
	case splitTrain:
		return false
	case "":
		return s.Split != splitDev
	}
	return split == cmp.Or(s.Split, splitTest)
}

// The splits that a judge is measured on.
const (
	splitTest = "test"
	splitDev  = "dev"
)

// judged is a result with what people say about the same answer.
type judged struct {
	Result
	item   string
	labels []humanLabel
}

// cluster names what varies together: the item's cluster, or the item, whose
// repetitions are not independent.
func (j *judged) cluster() string {
	if j.Cluster != "" {
		return "cluster " + j.Cluster
	}
	return "item " + j.item
}

// humanLabel is what one person says.
type humanLabel struct {
	rater string
	Rating
}

// raterDataset is who says what the labels of an item say.
const raterDataset = "dataset"

// sample gathers the results of a judge's version with what people say. Items that
// the judge has seen as examples are left out: it would be asked what it was told.
func (s *Service) sample(ctx context.Context, org principal.OrgID, c Config, v Version, sel Selection) (all []*judged, truncated bool, err error) {
	page := score.Page{
		Source: score.Source{Kind: score.SourceJudge, ID: strconv.FormatInt(c.ID, 10)}, ConfigVersion: int64(v.Number), Below: 1 << 62, Limit: maxSample + 1,
	}
	if sel.Run != 0 {
		page.Subject = score.RunItem(sel.Run, 0, 0)
		page.Subject.Part = ""
	}
	seen := map[int64]bool{}
	for _, x := range v.Spec.Examples {
		seen[x.Item] = true
	}
	read := 0
	bySubject := map[score.Subject]*judged{}
	byItem := map[int64][]*judged{}
	datasets := map[int64]bool{}
	err = s.scores.Every(ctx, org, page, func(one score.Score) error {
		if read++; read > maxSample {
			truncated = true
			return nil
		}
		r, err := fromScore(one)
		if err != nil {
			return err
		}
		j := &judged{Result: r, item: r.Subject.ID + " " + r.Subject.Part}
		if r.Subject.Kind == score.KindRunItem {
			text, _, _ := strings.Cut(r.Subject.Part, "/")
			item, _ := strconv.ParseInt(text, 10, 64)
			if seen[item] || !sel.measures(r.Split) || sel.Dataset != 0 && r.Dataset != sel.Dataset {
				return nil
			}
			j.item = text
			byItem[item] = append(byItem[item], j)
			if r.Dataset != 0 {
				datasets[r.Dataset] = true
			}
		} else if sel.Dataset != 0 {
			return nil
		}
		all = append(all, j)
		bySubject[r.Subject] = j
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	for id := range datasets {
		if err := s.datasetLabels(ctx, org, c, v, id, byItem); err != nil {
			return nil, false, err
		}
	}
	return all, truncated, s.personLabels(ctx, org, c, v, page.Subject, bySubject)
}

// datasetLabels adds what the labels of a dataset's items say now. A label is about
// the answer that its item has: where the judge saw another one, or the item has
// changed since, it says nothing.
func (s *Service) datasetLabels(ctx context.Context, org principal.OrgID, c Config, v Version, id int64, byItem map[int64][]*judged) error {
	j := Judge{Version: v}
	above := int64(0)
	for {
		items, err := s.datasets.Labelled(ctx, org, id, c.LabelKey, above)
		if errors.Is(err, dataset.ErrNotFound) || len(items) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		for _, i := range items {
			above = i.ID
			of := byItem[i.ID]
			if len(of) == 0 {
				continue
			}
			rating, ok := labelOf(i, c.LabelKey, v.Spec)
			if !ok {
				continue
			}
			prompt := j.Prompt(CaseOf(i, i.Content.Output))
			for _, r := range of {
				if r.Prompt == prompt {
					r.labels = append(r.labels, humanLabel{raterDataset, rating})
				}
			}
		}
	}
}

// personLabels adds what people said about the same subjects: their annotations under
// the judge's label key. What a person said last counts, once.
func (s *Service) personLabels(ctx context.Context, org principal.OrgID, c Config, v Version, of score.Subject, bySubject map[score.Subject]*judged) error {
	type opinion struct {
		of score.Subject
		by string
	}
	last := map[opinion]score.Score{}
	for _, metric := range []string{c.LabelKey, score.LabelMetric(c.LabelKey)} {
		page := score.Page{Source: score.Source{Kind: score.SourcePerson}, Metric: metric, Subject: of, Below: 1 << 62, Limit: maxSample}
		err := s.scores.Every(ctx, org, page, func(one score.Score) error {
			at := opinion{one.Subject, one.Source.ID}
			if before, ok := last[at]; bySubject[one.Subject] != nil && (!ok || before.At.Before(one.At)) {
				last[at] = one
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for at, one := range last {
		if rating, ok := v.Spec.personRating(one); ok {
			j := bySubject[at.of]
			j.labels = append(j.labels, humanLabel{at.by, rating})
			slices.SortFunc(j.labels, func(a, b humanLabel) int { return strings.Compare(a.rater, b.rater) })
		}
	}
	return nil
}

// personRating is a person's score as a rating on the judge's scale.
func (s Spec) personRating(one score.Score) (Rating, bool) {
	if text, err := jsontext.AppendQuote(nil, one.Label); err == nil && one.Label != "" {
		if r, ok := s.humanRating(text); ok {
			return r, true
		}
	}
	if one.Value == nil {
		return Rating{}, false
	}
	return s.humanRating([]byte(strconv.FormatFloat(*one.Value, 'g', -1, 64)))
}

// consensus is what people say together: the most frequent label, or the median of
// numbers. People who are divided say nothing.
func (s Spec) consensus(labels []humanLabel) (Rating, bool) {
	if len(labels) == 0 {
		return Rating{}, false
	}
	opinions := make([]opinion, len(labels))
	for i, l := range labels {
		opinions[i] = opinion{Rating: l.Rating}
	}
	common, _, ok := s.common(opinions)
	return common.Rating, ok
}
