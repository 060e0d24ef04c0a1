package annotator

import (
	"context"
	"net/http"
	"slices"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	agree "github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/consensus"
	"github.com/assayhq/assay/internal/measure/report"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/review/annotation"
)

const tag = "Annotations"

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	httpapi.Register(e, httpapi.Op{
		ID: "getAnnotationAgreement", Method: http.MethodGet, Path: "/api/annotations/tasks/{id}/agreement", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "Get the agreement of a task's annotators",
		Description: "Returns how well people agree beyond chance, how well each of them works, and what their answers come to. " +
			"Labels are compared as equal or not, ratings by their order; tasks of other types are not measured, and `abstained` says why. Of a blind task only answers to complete items are used. At most 50,000 answers of 100 people are compared. " +
			"Gold questions have no part in agreement and are measured apart. To people who answer the task, and to members whose role is annotator, they are not shown, and count as ordinary items.",
	}, s.getAgreement)
	httpapi.Register(e, httpapi.Op{
		ID: "getAnnotationReport", Method: http.MethodGet, Path: "/api/annotations/tasks/{id}/report", Tag: tag, Scope: principal.EvalRead, Status: 200,
		ContentType: "text/html",
		Summary:     "Get the agreement of a task's annotators as a page",
		Description: "Returns agreement, the work of each annotator and the hardest items as one web page that needs neither a key nor a network. " +
			"It contains text from your applications, so a browser that displays it is kept from running scripts in it.",
	}, s.getReport)
}

// agreementBody is a panel on the wire.
type agreementBody struct {
	TaskID     int64                  `json:"task_id" doc:"The task."`
	Abstained  *string                `json:"abstained" doc:"Why nothing is measured; null if something is."`
	Answers    int                    `json:"answers" doc:"Answers that are compared."`
	LeftOut    int                    `json:"left_out" doc:"Further answers, which have no value to compare."`
	Items      int                    `json:"items" doc:"Items with such answers."`
	Shared     int                    `json:"shared" doc:"Items with at least two of them."`
	Ordered    bool                   `json:"ordered" doc:"Whether it counts how far labels are apart, as for ratings."`
	Scale      []string               `json:"scale" doc:"Labels that people choose from."`
	Alpha      stat.Estimate          `json:"krippendorff_alpha" doc:"Krippendorff's alpha of all annotators: 0 is chance, 1 is perfect."`
	AC1        stat.Estimate          `json:"ac1" doc:"Gwet's coefficient, which holds up where one label is rare."`
	Pairs      []pairBody             `json:"pairs" doc:"Annotators who answered the same items, pair by pair."`
	Labels     []specificBody         `json:"labels" doc:"Agreement on each label, in the order of the scale."`
	Annotators []qualityBody          `json:"annotators" doc:"How each annotator works, in the order of their names, which is not a ranking."`
	Consensus  consensusBody          `json:"consensus" doc:"What the answers come to."`
	Hardest    []hardBody             `json:"hardest" doc:"Uncertain items, the least certain first; at most 20."`
	Audit      auditBody              `json:"audit" doc:"How many labels are probably wrong of items that no rule sends to adjudication, as those of them show that were drawn at random and decided."`
	Gold       httpapi.Null[goldBody] `json:"gold" doc:"What gold questions say; null if the task has none, for callers who answer the task and for members whose role is annotator."`
	MeasuredAt httpapi.Time           `json:"measured_at" volatile:"true" doc:"When this was measured."`
}

type pairBody struct {
	First  httpapi.Actor  `json:"first" doc:"An annotator."`
	Second httpapi.Actor  `json:"second" doc:"Another annotator."`
	Shared int            `json:"shared" doc:"Items that both answered."`
	Agreed stat.Estimate  `json:"agreement" doc:"Share of them with equal labels."`
	Kappa  *stat.Optional `json:"kappa" doc:"Cohen's kappa, for ratings by squared distance; null below 20 shared items."`
}

type specificBody agree.Specific

type auditBody consensus.Unseen

type goldBody struct {
	Questions    int     `json:"questions" doc:"Gold questions of the task."`
	Answered     int     `json:"answered" doc:"Those that are complete."`
	Contradicted []int64 `json:"contradicted" doc:"Complete gold questions whose label is not what the answers come to: either the annotators are wrong, or the label is. At most 20."`
}

// annotatorGold is how an annotator answers gold questions.
type annotatorGold consensus.Gold

type qualityBody struct {
	Annotator    httpapi.Actor               `json:"annotator" doc:"The annotator; asserted if another person or key created a key that was used."`
	Labels       int                         `json:"labels" doc:"Answers that are compared."`
	Accuracy     stat.Estimate               `json:"accuracy" doc:"Accuracy measured by the consensus of the others, in which the annotator has no part."`
	AlphaWithout stat.Estimate               `json:"alpha_without" doc:"Krippendorff's alpha of all others."`
	AlphaChange  stat.Estimate               `json:"alpha_change" doc:"That minus the alpha of all: above 0 the annotator lowers agreement."`
	MedianMS     stat.Estimate               `json:"median_ms" doc:"Median time for an answer, in milliseconds."`
	Gold         httpapi.Null[annotatorGold] `json:"gold" doc:"How the annotator answers gold questions; null if the task has none, or if they are not shown to the caller."`
	Flags        []Flag                      `json:"flags" doc:"What stands out. below_chance: right less often than guessing would be; excluded: left out of the consensus for that reason; lowers_agreement: the whole interval of alpha_change is above 0; one_label: gave one label throughout, while others clearly did not; fails_gold: the whole interval on gold questions is below 0.8."`
}

type consensusBody struct {
	Status    stat.Status `json:"status" enum:"ok,fragile,insufficient,not_identified" doc:"not_identified: most annotators are right less often than guessing would be, so that the answers do not show who is right."`
	Method    *string     `json:"method" doc:"How labels were found, such as majority_vote, dawid_skene or one_coin; null if nothing is measured."`
	Reason    stat.Note   `json:"reason" nullable:"true" doc:"Why this method was chosen."`
	Uncertain int         `json:"uncertain_items" doc:"Items without an adjudication that a person should decide: no label has a probability of 0.9, the entropy is above 0.5 bit, or ratings are two steps apart."`
	Warnings  []string    `json:"warnings" doc:"Reasons for caution."`
}

type hardBody struct {
	ID        int64     `json:"id" doc:"The item."`
	Label     stat.Note `json:"label" nullable:"true" doc:"Label that the answers come to; null if they are tied or come to nothing."`
	Posterior []float64 `json:"posterior" doc:"Probability of each label, in the order of the scale; empty if the consensus is not identified."`
	Entropy   *float64  `json:"entropy" doc:"Uncertainty of the label in bits: 0 is certainty, 1 a coin."`
	N         int       `json:"n" doc:"Answers that count."`
}

func (s *Service) getAgreement(ctx context.Context, in *annotation.TaskPath) (*httpapi.Body[agreementBody], error) {
	p, err := s.Panel(ctx, principal.From(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return httpapi.NewBody(toAgreement(p)), nil
}

func toAgreement(p Panel) agreementBody {
	o := p.Together.Overall
	b := agreementBody{
		TaskID: p.Task.ID, Abstained: httpapi.OrNull(p.Abstained), Answers: p.Answers, LeftOut: p.Without, Items: o.Items, Shared: o.Shared, Ordered: o.Ordered, Scale: httpapi.OrEmpty(p.Consensus.Labels),
		Alpha: o.Alpha, AC1: o.AC1, Pairs: []pairBody{}, Labels: []specificBody{}, Annotators: []qualityBody{}, Hardest: []hardBody{}, Audit: auditBody(p.Unseen), MeasuredAt: httpapi.Time(p.MeasuredAt),
		Consensus: consensusBody{
			Status: p.Consensus.Status, Method: httpapi.OrNull(string(p.Consensus.Method)), Reason: p.Consensus.Reason, Uncertain: len(p.Hardest), Warnings: httpapi.OrEmpty(p.Consensus.Warnings),
		},
	}
	for _, two := range p.Together.Pairs {
		b.Pairs = append(b.Pairs, pairBody{First: p.People[two.First].shown(), Second: p.People[two.Second].shown(), Shared: two.Shared, Agreed: two.Agreed, Kappa: two.Kappa})
	}
	for _, l := range p.Together.Labels {
		b.Labels = append(b.Labels, specificBody(l))
	}
	// Both are in the order of the keys. Without somebody who answered gold questions alone,
	// agreement is that of all.
	for i, q := range p.Quality {
		one := qualityBody{
			Annotator: p.People[q.Annotator].shown(), Labels: q.Votes, Accuracy: q.Consensus, AlphaWithout: o.Alpha, AlphaChange: q.Change, MedianMS: q.Time,
			Flags: flags(p.Consensus.Annotators[i], q),
		}
		if w := slices.IndexFunc(p.Together.Without, func(w agree.Without) bool { return w.Rater == q.Annotator }); w >= 0 {
			one.AlphaWithout = p.Together.Without[w].Alpha
		}
		if p.Gold != nil && p.Gold.Questions > 0 {
			one.Gold = httpapi.NullOf((*annotatorGold)(&q.Gold))
		}
		b.Annotators = append(b.Annotators, one)
	}
	if p.Gold != nil && p.Gold.Questions > 0 {
		b.Gold = httpapi.NullOf(&goldBody{p.Gold.Questions, p.Gold.Answered, p.Gold.Contradicted[:min(len(p.Gold.Contradicted), report.MaxHardest)]})
	}
	for _, h := range p.Hardest[:min(len(p.Hardest), report.MaxHardest)] {
		b.Hardest = append(b.Hardest, hardBody{ID: h.ID, Label: h.Item.Label, Posterior: append([]float64{}, h.Item.Posterior...), Entropy: h.Item.Entropy, N: h.Item.Votes})
	}
	return b
}

func (p person) shown() httpapi.Actor { return httpapi.ToActor(p.Actor, p.Name) }
