package judge

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/score"
)

func (s *Service) registerAlignment(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "getJudgeAlignment", Method: http.MethodGet, Path: "/api/llm-judge/alignment", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "Check judge alignment",
		Description: "Compares the results of judges with what people say about the same answers: labels of dataset items under the judge's `label_key`, where the judge saw the item's own output, and scores that members gave under that name. " +
			"Items of the split `train` and items that the judge was shown as examples never count. A judge is `aligned` if the intervals of true positive rate, true negative rate and kappa all reach their thresholds, `misaligned` if one of them lies below, and otherwise `insufficient_data` with the number of labels that would probably settle it. " +
			"Without `configId` the newest active judges are compared, up to 20.",
	}, s.getAlignment)
}

type alignmentInput struct {
	ConfigID string `query:"configId" maxLength:"32" doc:"Only this judge."`
	AlignmentFilter
}

// AlignmentFilter says what is compared with people, and what a judge has to reach.
type AlignmentFilter struct {
	ConfigVersion   int     `query:"configVersion" minimum:"1" doc:"This version of the judge instead of the current one; needs a judge."`
	EvaluationRunID string  `query:"evaluationRunId" maxLength:"32" doc:"Only results about answers of this run."`
	CalibrationSet  string  `query:"calibrationSetId" maxLength:"32" doc:"Only results about items of this dataset."`
	Split           string  `query:"split" enum:"test,dev" default:"test" doc:"Split that the judge is measured on. Items without a split belong to test."`
	MinSamples      int     `query:"minSamples" minimum:"1" maximum:"100000" default:"30" doc:"Labelled answers that a verdict needs."`
	MinTPR          float64 `query:"minTpr" minimum:"0" maximum:"1" default:"0.9" doc:"True positive rate that the judge has to reach."`
	MinTNR          float64 `query:"minTnr" minimum:"0" maximum:"1" default:"0.9" doc:"True negative rate that the judge has to reach."`
	MinKappa        float64 `query:"minKappa" minimum:"0" maximum:"1" default:"0.6" doc:"Kappa that the judge has to reach."`
}

func (in *AlignmentFilter) thresholds() Thresholds {
	return Thresholds{TPR: in.MinTPR, TNR: in.MinTNR, Kappa: in.MinKappa, MinSamples: in.MinSamples}
}

type alignmentListBody struct {
	Alignments []alignmentBody `json:"alignments" doc:"The judges, newest first."`
}

// alignmentBody is an alignment on the wire: the plain numbers, and all of them with
// n, interval and method in statistics.
type alignmentBody struct {
	ConfigID       httpapi.ID          `json:"config_id" doc:"The judge."`
	ConfigKey      string              `json:"config_key" doc:"Key of the judge."`
	ConfigVersion  int                 `json:"config_version" doc:"Version of the judge that was measured."`
	N              int                 `json:"n" doc:"Answers with a verdict of the judge and of people."`
	Judged         int                 `json:"judged" doc:"Results of the judge that were selected, with or without a human label."`
	Truncated      bool                `json:"truncated" doc:"Whether there are more results than the 200,000 that are compared at once."`
	Divided        int                 `json:"divided" doc:"Answers on which people disagree; they are left out."`
	Coverage       *float64            `json:"coverage" doc:"Share of the answers labelled by people on which the judge gave a verdict; null without labels."`
	AbstentionRate *float64            `json:"abstention_rate" doc:"Share of the labelled answers on which the judge abstained; null without labels."`
	Confusion      confusionBody       `json:"confusion" doc:"Counts of verdicts; positive is what people let pass."`
	TPR            *float64            `json:"tpr" doc:"True positive rate: share of what people let pass that the judge lets pass."`
	TNR            *float64            `json:"tnr" doc:"True negative rate: share of what people reject that the judge rejects."`
	Accuracy       *float64            `json:"accuracy" doc:"Share of equal verdicts. It decides nothing: where most answers pass, letting all pass is accurate."`
	CohenKappa     *float64            `json:"cohen_kappa" doc:"Cohen's kappa: agreement beyond chance."`
	Alpha          *float64            `json:"krippendorff_alpha" doc:"Krippendorff's alpha."`
	Spearman       *float64            `json:"spearman" doc:"Rank correlation of the scores; null on scales of labels."`
	MeanAbsError   *float64            `json:"mean_abs_error" doc:"Mean distance of the scores; null on scales of labels."`
	CI             alignmentCI         `json:"ci" doc:"95 % intervals of the rates that decide."`
	HumanKappa     *float64            `json:"human_kappa" doc:"Fleiss' kappa among people: a judge cannot be expected to agree better. Null unless several people labelled the same answers."`
	Verdict        agreement.Outcome   `json:"verdict" enum:"aligned,misaligned,insufficient_data" doc:"Whether the judge agrees well enough with people."`
	MoreLabels     *int                `json:"more_labels" doc:"Further labels that would probably settle the verdict; null if it is settled or cannot be said."`
	Rulings        []rulingBody        `json:"rulings" doc:"How each threshold was decided."`
	Thresholds     thresholdsBody      `json:"thresholds" doc:"What the judge has to reach."`
	Disagreements  []disagreementBody  `json:"disagreements" doc:"Up to 50 answers that people and the judge see differently, the largest differences first."`
	Statistics     alignmentStatistics `json:"statistics" doc:"Every number with its n, interval, method and status."`
	MeasuredAt     httpapi.Time        `json:"measured_at" doc:"When this was computed."`
}

type confusionBody struct {
	TP int `json:"tp" doc:"Both let pass."`
	FP int `json:"fp" doc:"The judge lets pass what people reject."`
	TN int `json:"tn" doc:"Both reject."`
	FN int `json:"fn" doc:"The judge rejects what people let pass."`
}

type alignmentCI struct {
	TPR   []float64 `json:"tpr" doc:"Lower and upper limit; empty without an interval."`
	TNR   []float64 `json:"tnr" doc:"Lower and upper limit; empty without an interval."`
	Kappa []float64 `json:"cohen_kappa" doc:"Lower and upper limit; empty without an interval."`
}

type thresholdsBody struct {
	TPR        float64 `json:"tpr" doc:"True positive rate."`
	TNR        float64 `json:"tnr" doc:"True negative rate."`
	Kappa      float64 `json:"cohen_kappa" doc:"Kappa."`
	MinSamples int     `json:"min_samples" doc:"Labelled answers."`
}

type rulingBody struct {
	On         string            `json:"on" doc:"What was compared with the threshold."`
	Threshold  float64           `json:"threshold" doc:"The threshold."`
	Outcome    agreement.Outcome `json:"outcome" enum:"aligned,misaligned,insufficient_data" doc:"aligned: the whole interval reaches the threshold. misaligned: none of it does."`
	MoreLabels *int              `json:"more_labels" doc:"Further labels that would probably settle it; null if it is settled or cannot be said."`
	Reason     *string           `json:"reason" doc:"Why it is not settled; null if it is."`
}

type disagreementBody struct {
	ResultID        httpapi.ID `json:"result_id" doc:"The judge's result."`
	EvaluationRunID *string    `json:"evaluation_run_id" doc:"Run that the answer is from."`
	TestCaseID      *string    `json:"test_case_id" doc:"Item that the answer is to."`
	TraceID         *string    `json:"trace_id" doc:"Trace that the answer is from."`
	Judge           string     `json:"judge" doc:"Rating of the judge."`
	Human           string     `json:"human" doc:"Rating of people."`
	Reasoning       *string    `json:"reasoning" doc:"What the judge's model observed."`
}

type alignmentStatistics struct {
	Passes      agreement.Alignment                 `json:"passes" doc:"Agreement on what passes."`
	Labels      httpapi.Null[agreement.Alignment]   `json:"labels" doc:"Agreement on labels, for scales of more than two; null for others."`
	Scores      httpapi.Null[agreement.Numeric]     `json:"scores" doc:"Agreement of scores, for scales of numbers; null for others."`
	Ceiling     httpapi.Null[agreement.Raters]      `json:"human_ceiling" doc:"Agreement among people; null unless several labelled the same answers."`
	Replacement httpapi.Null[agreement.Replacement] `json:"replacement" doc:"Whether the judge may take a person's place; null unless several people labelled the same answers."`
	Corrected   correction.Corrected                `json:"corrected" doc:"Mean score of all selected results as people would give it."`
	PassRate    correction.Corrected                `json:"corrected_pass_rate" doc:"Share of all selected results that people would let pass."`
	Calibration correction.Calibration              `json:"calibration" doc:"Curve that turns scores into probabilities."`
	Route       correction.Route                    `json:"route" doc:"Confidence from which a verdict needs no person."`
}

func (s *Service) getAlignment(ctx context.Context, in *alignmentInput) (*httpapi.Body[alignmentListBody], error) {
	org := principal.From(ctx).Org
	out := httpapi.Body[alignmentListBody]{Body: alignmentListBody{Alignments: []alignmentBody{}}}
	sel, possible := in.selection()
	configs, err := s.aligned(ctx, org, in)
	if err != nil || !possible {
		return &out, err
	}
	for _, c := range configs {
		v, err := s.versionOf(ctx, org, c, in.ConfigVersion)
		if err != nil {
			return nil, err
		}
		a, err := s.Align(ctx, org, c, v, sel, in.thresholds())
		if err != nil {
			return nil, err
		}
		if a.Judged == 0 && (sel.Run != 0 || sel.Dataset != 0) {
			continue // the filter matches nothing
		}
		out.Body.Alignments = append(out.Body.Alignments, toAlignmentBody(a))
	}
	return &out, nil
}

// maxAligned is how many judges are compared without a choice.
const maxAligned = 20

// aligned are the judges that a request is about.
func (s *Service) aligned(ctx context.Context, org principal.OrgID, in *alignmentInput) ([]Config, error) {
	if in.ConfigID == "" {
		all, _, err := s.List(ctx, org, Filter{Status: []Status{StatusActive}, Page: postgres.Page{Below: 1 << 62, Limit: maxAligned}})
		return all[:min(len(all), maxAligned)], err
	}
	id, ok := httpapi.ParseID(in.ConfigID)
	if !ok {
		return nil, nil
	}
	c, err := s.Find(ctx, org, id)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return []Config{c}, err
}

// selection reads the filters. An id that cannot be one matches nothing.
func (in *AlignmentFilter) selection() (sel Selection, possible bool) {
	sel, possible = Selection{Split: in.Split}, true
	for text, to := range map[string]*int64{in.EvaluationRunID: &sel.Run, in.CalibrationSet: &sel.Dataset} {
		if text == "" {
			continue
		}
		var ok bool
		*to, ok = httpapi.ParseID(text)
		possible = possible && ok
	}
	return sel, possible
}

func toAlignmentBody(a Alignment) alignmentBody {
	p := a.Passes
	b := alignmentBody{
		ConfigID: httpapi.ID(a.Config.ID), ConfigKey: a.Config.Key, ConfigVersion: a.Version.Number, N: p.Items, Judged: a.Judged, Truncated: a.Truncated, Divided: a.Divided,
		Accuracy: p.Accuracy.Value, CohenKappa: p.Kappa.Nominal.Value, Alpha: p.Alpha.Value, Verdict: a.Outcome, MoreLabels: a.MoreLabels,
		CI:         alignmentCI{Kappa: limits(p.Kappa.Nominal)},
		Thresholds: thresholdsBody{a.Thresholds.TPR, a.Thresholds.TNR, a.Thresholds.Kappa, a.Thresholds.MinSamples},
		Rulings:    []rulingBody{}, Disagreements: []disagreementBody{}, MeasuredAt: httpapi.Time(a.MeasuredAt),
		Statistics: alignmentStatistics{
			Passes: p, Labels: httpapi.NullOf(a.Labels), Scores: httpapi.NullOf(a.Scores), Ceiling: httpapi.NullOf(a.Ceiling), Replacement: httpapi.NullOf(a.Replace),
			Corrected: a.Corrected, PassRate: a.PassRate, Calibration: a.Calibration, Route: a.Route,
		},
	}
	if len(p.Confusion) == 2 { // fail comes first
		b.Confusion = confusionBody{TP: p.Confusion[1][1], FP: p.Confusion[0][1], TN: p.Confusion[0][0], FN: p.Confusion[1][0]}
	}
	if a.Labelled > 0 {
		coverage, abstained := float64(a.Labelled-a.Abstained-a.Failed)/float64(a.Labelled), float64(a.Abstained)/float64(a.Labelled)
		b.Coverage, b.AbstentionRate = &coverage, &abstained
	}
	if r := p.Rates; r != nil {
		b.TPR, b.TNR, b.CI.TPR, b.CI.TNR = r.TPR.Value, r.TNR.Value, limits(r.TPR), limits(r.TNR)
	}
	if a.Scores != nil {
		b.Spearman, b.MeanAbsError = a.Scores.Spearman.Value, a.Scores.Error.Value
	}
	if a.Ceiling != nil {
		b.HumanKappa = a.Ceiling.Fleiss.Value
	}
	for _, r := range a.Rulings {
		b.Rulings = append(b.Rulings, rulingBody{On: r.On, Threshold: r.Bar, Outcome: r.Outcome, MoreLabels: r.MoreLabels, Reason: httpapi.OrNull(string(r.Reason))})
	}
	for _, d := range a.Disagreements {
		b.Disagreements = append(b.Disagreements, toDisagreement(d))
	}
	return b
}

func toDisagreement(d Disagreement) disagreementBody {
	b := disagreementBody{ResultID: httpapi.ID(d.ID), Judge: ratingText(d.Rating), Human: ratingText(d.Human), Reasoning: httpapi.OrNull(d.Reasoning)}
	switch d.Subject.Kind {
	case score.KindRunItem:
		item, _, _ := strings.Cut(d.Subject.Part, "/")
		b.EvaluationRunID, b.TestCaseID = &d.Subject.ID, &item
	case score.KindTrace, score.KindSpan:
		b.TraceID = &d.Subject.ID
	}
	return b
}

// ratingText is a rating in a word.
func ratingText(r Rating) string {
	if r.Label != "" {
		return r.Label
	}
	return strconv.FormatFloat(r.Score, 'g', 4, 64)
}

// limits are the ends of an interval, none if there is none.
func limits(e stat.Estimate) []float64 {
	if e.CI == nil || e.CI.Lower == nil || e.CI.Upper == nil {
		return []float64{}
	}
	return []float64{*e.CI.Lower, *e.CI.Upper}
}
