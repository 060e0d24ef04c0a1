package judge

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/stat"
)

// What a judge has to reach to be called aligned, unless the caller says otherwise.
const (
	DefaultRate       = 0.9
	DefaultKappa      = 0.6
	DefaultMinSamples = 30
)

// What the routing threshold promises: with this confidence at most this share of
// the verdicts that nobody looks at is wrong.
const (
	routeRisk       = 0.1
	routeConfidence = 0.9
)

// maxDisagreements is how many disagreements a report names.
const maxDisagreements = 50

// Thresholds are what a judge has to reach.
type Thresholds struct {
	TPR, TNR, Kappa float64
	MinSamples      int
}

// Alignment is how well a version of a judge agrees with people, and what that makes
// of its verdicts.
type Alignment struct {
	Config     Config
	Version    Version
	Selection  Selection
	Thresholds Thresholds
	MeasuredAt time.Time

	// Judged are the results that were selected, Labelled those of them with a label
	// of people, Divided those on which people disagree, Abstained and Failed those
	// of the labelled ones without a verdict.
	Judged, Labelled, Divided, Abstained, Failed int
	// Truncated says that there are more results than are compared.
	Truncated bool

	// Passes compares what passes, Labels the labels of scales that have other ones.
	Passes  agreement.Alignment
	Labels  *agreement.Alignment
	Scores  *agreement.Numeric
	Ceiling *agreement.Raters
	Replace *agreement.Replacement
	// Corrected is the mean score of all selected results as people would give it,
	// PassRate the share that would pass.
	Corrected, PassRate correction.Corrected
	Calibration         correction.Calibration
	Route               correction.Route

	Outcome agreement.Outcome
	// Rulings say how each threshold was decided.
	Rulings []Ruling
	// MoreLabels would probably settle the matter; nil if it is settled or cannot be
	// said.
	MoreLabels    *int
	Disagreements []Disagreement

	points []correction.Point
}

// Ruling is the decision on one threshold.
type Ruling struct {
	On       string
	Estimate stat.Estimate
	agreement.Verdict
}

// Disagreement is an answer that people and the judge see differently.
type Disagreement struct {
	Result
	Human Rating
	// Gap is how far their scores are apart.
	Gap float64
}

// Align measures a version of a judge against people.
func (s *Service) Align(ctx context.Context, org principal.OrgID, c Config, v Version, sel Selection, t Thresholds) (Alignment, error) {
	all, truncated, err := s.sample(ctx, org, c, v, sel)
	if err != nil {
		return Alignment{}, err
	}
	a := Alignment{Truncated: truncated, Config: c, Version: v, Selection: sel, Thresholds: t, MeasuredAt: s.now(), Judged: len(all)}
	if err := a.measure(all); err != nil {
		return a, err
	}
	a.decide()
	return a, nil
}

// measure computes what can be said.
func (a *Alignment) measure(all []*judged) error {
	m := measuring{spec: a.Version.Spec, sampling: a.Config.Sampling, all: all}
	m.pair(a)
	a.points = m.points
	o := stat.Options{Seed: stat.Seed{Resource: a.Config.Metric(), DataVersion: strconv.Itoa(a.Version.Number) + "/" + strconv.Itoa(a.Labelled)}}
	var err error
	if a.Passes, err = agreement.Align(m.passes, passFail, agreement.AlignmentOptions{Options: o, Bar: a.Thresholds.Kappa}); err != nil {
		return err
	}
	if scale := a.Version.Spec.labels(); len(scale.Labels) > 2 {
		labels, err := agreement.Align(m.labels, scale, agreement.AlignmentOptions{Options: o})
		if err != nil {
			return err
		}
		a.Labels = &labels
	}
	bounded := o
	bounded.Range = &stat.Range{Lower: 0, Upper: 1}
	if a.Version.Spec.numeric() {
		scores, err := agreement.AlignScores(m.scored, bounded)
		if err != nil {
			return err
		}
		a.Scores = &scores
	}
	if len(m.ratings) > 0 {
		ceiling, err := agreement.Ceiling(m.ratings, passFail, stat.SourceHuman, o)
		if err != nil {
			return err
		}
		a.Ceiling = &ceiling
		replace, err := agreement.Replace(m.panel(), agreement.EpsilonExpert, o)
		if err != nil {
			return err
		}
		a.Replace = &replace
	}
	if a.Corrected, err = correction.Correct(m.scores, bounded); err != nil {
		return err
	}
	if a.PassRate, err = correction.Correct(m.rates, bounded); err != nil {
		return err
	}
	if a.Calibration, err = correction.Calibrate(m.points, o); err != nil {
		return err
	}
	a.Route, err = correction.Learn(m.trials, correction.Grid(), routeRisk, routeConfidence)
	return err
}

// measuring is a sample in the forms that statistics take.
type measuring struct {
	spec     Spec
	sampling Sampling
	all      []*judged

	passes, labels []agreement.Pair
	scored         []agreement.Scored
	ratings        []agreement.Rating // of items with several people
	scores, rates  []correction.Item
	points         []correction.Point
	trials         []correction.Trial
}

// pair brings every result together with what people say.
func (m *measuring) pair(a *Alignment) {
	version := strconv.Itoa(a.Version.Number)
	labelled, total := 0, 0
	humans := make([]*Rating, len(m.all))
	for i, j := range m.all {
		human, ok := m.spec.consensus(j.labels)
		if len(j.labels) > 0 && !ok {
			a.Divided++
		}
		if ok {
			humans[i] = &human
			a.Labelled++
		}
		if j.Status == VerdictCompleted {
			total++
			if ok {
				labelled++
			}
		}
	}
	// Where people labelled a random part, each item had the same chance.
	probability := 0.0
	if total > 0 && (m.sampling == SamplingRandom || labelled == total) {
		probability = float64(labelled) / float64(total)
	}
	for i, j := range m.all {
		m.add(a, j, humans[i], probability, version)
	}
	slices.SortFunc(a.Disagreements, func(x, y Disagreement) int {
		return cmp.Or(-cmp.Compare(x.Gap, y.Gap), -cmp.Compare(x.Confidence, y.Confidence), cmp.Compare(x.ID, y.ID))
	})
	a.Disagreements = a.Disagreements[:min(len(a.Disagreements), maxDisagreements)]
}

func (m *measuring) add(a *Alignment, j *judged, human *Rating, probability float64, version string) {
	completed := j.Status == VerdictCompleted
	if human != nil {
		switch j.Status {
		case VerdictAbstained:
			a.Abstained++
		case VerdictFailed:
			a.Failed++
		}
		pass := m.passed(*human)
		p := agreement.Pair{Item: j.item, Cluster: j.Cluster, Human: word(pass), Probability: probability}
		l := agreement.Pair{Item: j.item, Cluster: j.Cluster, Human: human.Label, Probability: probability}
		if completed {
			p.Judge, l.Judge = word(j.Passed), j.Label
			m.scored = append(m.scored, agreement.Scored{Item: j.item, Cluster: j.Cluster, Human: human.Score, Judge: j.Score, Probability: probability})
			m.points = append(m.points, correction.Point{Cluster: j.cluster(), Score: j.Score, Good: pass})
			m.trials = append(m.trials, correction.Trial{Confidence: j.Confidence, Wrong: pass != j.Passed})
			if pass != j.Passed {
				a.Disagreements = append(a.Disagreements, Disagreement{j.Result, *human, abs(human.Score - j.Score)})
			}
		}
		m.passes, m.labels = append(m.passes, p), append(m.labels, l)
		if len(j.labels) > 1 {
			for _, one := range j.labels {
				m.ratings = append(m.ratings, agreement.Rating{Item: strconv.FormatInt(j.ID, 10), Cluster: j.cluster(), Rater: one.rater, Label: word(m.passed(one.Rating))})
			}
		}
	}
	if !completed {
		return
	}
	item := strconv.FormatInt(j.ID, 10)
	score := correction.Item{Item: item, Cluster: j.cluster(), Judge: j.Score, Probability: probability, Version: version}
	rate := correction.Item{Item: item, Cluster: j.cluster(), Judge: share(j.Passed), Probability: probability, Version: version}
	if human != nil {
		pass := share(m.passed(*human))
		score.Human, rate.Human = &human.Score, &pass
	}
	m.scores, m.rates = append(m.scores, score), append(m.rates, rate)
}

// passed reports whether people let an answer pass.
func (m *measuring) passed(human Rating) bool { return human.Score >= m.spec.PassThreshold }

func word(pass bool) string {
	if pass {
		return LabelPass
	}
	return LabelFail
}

func share(pass bool) float64 {
	if pass {
		return 1
	}
	return 0
}

func abs(x float64) float64 { return max(x, -x) }

// panel is what each person and the judge said.
func (m *measuring) panel() agreement.Panel {
	p := agreement.Panel{Judge: map[string]float64{}}
	at := map[string]int{}
	for _, j := range m.all {
		if j.Status != VerdictCompleted {
			continue
		}
		item := strconv.FormatInt(j.ID, 10)
		p.Judge[item] = share(j.Passed)
		for _, l := range j.labels {
			n, ok := at[l.rater]
			if !ok {
				n = len(p.Annotators)
				at[l.rater] = n
				p.Annotators = append(p.Annotators, map[string]float64{})
			}
			p.Annotators[n][item] = share(m.passed(l.Rating))
		}
	}
	return p
}

// labels is the scale on which the labels of the judge and of people are compared;
// it has none if they have no common labels.
func (s Spec) labels() agreement.Scale {
	if s.Pairwise || len(s.Criteria) > 0 {
		return agreement.Scale{}
	}
	if a := s.Scale.Agreement(); len(a.Labels) > 2 {
		return a
	}
	return agreement.Scale{}
}

// decide compares what was measured with the thresholds. A judge is aligned if each
// of them is reached for certain, and misaligned if one of them is missed for
// certain. Accuracy does not decide: where most answers pass, letting all pass is
// accurate.
func (a *Alignment) decide() {
	add := func(on string, e stat.Estimate, bar float64) {
		a.Rulings = append(a.Rulings, Ruling{on, e, agreement.Decide(e, agreement.Measure(on), bar)})
	}
	if r := a.Passes.Rates; r != nil {
		add("tpr", r.TPR, a.Thresholds.TPR)
		add("tnr", r.TNR, a.Thresholds.TNR)
	}
	add(string(agreement.MeasureKappa), a.Passes.Kappa.Nominal, a.Thresholds.Kappa)
	a.Outcome = agreement.OutcomeAligned
	for _, r := range a.Rulings {
		switch {
		case r.Outcome == agreement.OutcomeMisaligned:
			a.Outcome = agreement.OutcomeMisaligned
		case r.Outcome == agreement.OutcomeInsufficient && a.Outcome == agreement.OutcomeAligned:
			a.Outcome = agreement.OutcomeInsufficient
		}
	}
	if a.Passes.Items < a.Thresholds.MinSamples {
		missing := a.Thresholds.MinSamples - a.Passes.Items
		a.Outcome, a.MoreLabels = agreement.OutcomeInsufficient, &missing
		return
	}
	if a.Outcome != agreement.OutcomeInsufficient {
		return
	}
	for _, r := range a.Rulings {
		if r.Outcome == agreement.OutcomeInsufficient && r.Verdict.MoreLabels != nil && (a.MoreLabels == nil || *r.Verdict.MoreLabels > *a.MoreLabels) {
			a.MoreLabels = r.Verdict.MoreLabels
		}
	}
}
