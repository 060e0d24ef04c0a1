package annotator

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/core/principal"
	agree "github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/consensus"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/review/annotation"
	"github.com/assayhq/assay/internal/review/label"
)

// auditShare is the share of agreed items that go to adjudication anyway.
const auditShare = 0.02

// Drawn reports whether an item goes to adjudication although its annotators agree. Its
// ids decide: nobody can influence it, and asking again gives the same answer.
func Drawn(org principal.OrgID, task, item int64) bool {
	return consensus.Drawn(org.String(), strconv.FormatInt(task, 10), strconv.FormatInt(item, 10), auditShare)
}

// Audited reports whether agreed items of the task go to adjudication at random: those
// whose answers have a value that a decision can confirm.
func Audited(t annotation.Task) bool { return t.Type.Incomparable() == "" }

// Doubt is a complete item whose label is not certain enough.
type Doubt struct {
	Item    int64
	Reasons []consensus.Reason
}

// Doubts returns the complete items of a task, without a decision, that a model of the
// annotators is not sure of, the least certain first. There are none where the answers
// are too few for a model, or do not show who is right: then the agreement on each item
// decides alone, as it does when the item is completed.
func (s *Service) Doubts(ctx context.Context, org principal.OrgID, task int64) ([]Doubt, error) {
	t, err := s.annotations.Task(ctx, org, task)
	if err != nil || t.Type.Incomparable() != "" {
		return nil, err
	}
	all, without, err := s.annotations.Votes(ctx, org, t, maxAnswers)
	if err != nil || len(all) == 0 || len(all)+without > maxAnswers {
		return nil, err
	}
	known, err := s.annotations.Known(ctx, org, task)
	if err != nil {
		return nil, err
	}
	scale, why := scaleOf(known, t, all)
	if why != "" {
		return nil, nil
	}
	var c consensus.Consensus
	err = admission.From(ctx).Work(ctx, func(pause func() error) (err error) {
		c, err = fitted(newCrowd(all, func(v annotation.Vote) string { return v.Person.String() }), scale, known.Gold, pause)
		return err
	})
	if err != nil || !modelled(c) {
		return nil, err
	}
	items, err := routed(org, t, all, c, scale)
	if err != nil {
		return nil, fmt.Errorf("route the items of task %d: %w", task, err)
	}
	hardest := slices.DeleteFunc(items, func(r routedItem) bool {
		return r.status != annotation.ItemAnnotated && r.status != annotation.ItemConflicted || len(r.Reasons) == 0
	})
	hardestFirst(hardest)
	out := make([]Doubt, len(hardest))
	for i, r := range hardest {
		out[i] = Doubt{r.ID, r.Reasons}
	}
	return out, nil
}

// modelled reports whether a consensus comes from a model of its annotators that can be
// relied on. Votes alone are never certain enough: three of three are 87 % of two labels.
func modelled(c consensus.Consensus) bool {
	return c.Method != consensus.MethodMajority && (c.Status == stat.StatusOK || c.Status == stat.StatusFragile)
}

// crowd is what people said, as measures take it.
type crowd struct {
	ratings []agree.Rating
	votes   []consensus.Vote
}

func newCrowd(all []annotation.Vote, key func(annotation.Vote) string) crowd {
	c := crowd{make([]agree.Rating, len(all)), make([]consensus.Vote, len(all))}
	for i, v := range all {
		item := strconv.FormatInt(v.Item, 10)
		c.ratings[i] = agree.Rating{Item: item, Rater: key(v), Label: v.Label}
		c.votes[i] = consensus.Vote{Item: item, Annotator: key(v), Label: v.Label, Millis: float64(v.Millis)}
	}
	return c
}

// truth has the labels of gold questions as models take them.
func truth(gold map[int64]string) consensus.Truth {
	out := make(consensus.Truth, len(gold))
	for item, label := range gold {
		out[strconv.FormatInt(item, 10)] = label
	}
	return out
}

// fitted is the consensus about items. What is known of gold questions tells how far to
// trust people; the questions themselves have the label that people give them, so that
// they go to adjudication like any other item.
func fitted(c crowd, scale agree.Scale, gold map[int64]string, pause func() error) (consensus.Consensus, error) {
	plain, err := consensus.Fit(c.votes, scale, consensus.Options{Pause: pause})
	if err != nil || len(gold) == 0 {
		return plain, err
	}
	known := truth(gold)
	fit, err := consensus.Fit(c.votes, scale, consensus.Options{Truth: known, Pause: pause})
	if err != nil {
		return fit, err
	}
	for i, item := range plain.Items { // both have the same items in the same order
		if _, ok := known[item.Item]; ok {
			fit.Items[i] = item
		}
	}
	return fit, nil
}

// scaleOf is what people choose from. The labels of gold questions are on it.
func scaleOf(k annotation.Known, t annotation.Task, all []annotation.Vote) (agree.Scale, string) {
	with := slices.Clone(all)
	for _, known := range k.Gold {
		v := annotation.Vote{Label: known}
		if t.Type == label.Rating {
			v.Rating, _ = strconv.ParseFloat(known, 64)
		}
		with = append(with, v)
	}
	return t.Labels(with)
}

// routedItem is an item with the reasons for which a person should decide it.
type routedItem struct {
	hard
	status annotation.ItemStatus
	// agreed says that the rule by which the item was completed found no conflict.
	agreed bool
}

// routed says of each item why a person should decide it; chance is not a reason here.
func routed(org principal.OrgID, t annotation.Task, all []annotation.Vote, c consensus.Consensus, scale agree.Scale) ([]routedItem, error) {
	said, of := map[string][]string{}, map[string]annotation.Vote{}
	for _, v := range all {
		item := strconv.FormatInt(v.Item, 10)
		said[item], of[item] = append(said[item], v.Label), v
	}
	out := make([]routedItem, len(c.Items))
	for i, item := range c.Items {
		r, err := consensus.Route(consensus.Case{Organization: org.String(), Task: strconv.FormatInt(t.ID, 10), Consensus: item, Said: said[item.Item]}, scale, consensus.Rules{Audit: auditShare})
		if err != nil {
			return nil, err
		}
		v := of[item.Item]
		why := slices.DeleteFunc(r.Reasons, func(r consensus.Reason) bool { return r == consensus.ReasonAudit })
		out[i] = routedItem{hard{v.Item, item, why}, v.Status, v.Agreement == nil || *v.Agreement >= t.Threshold}
	}
	return out, nil
}

func hardestFirst(items []routedItem) {
	open := func(h routedItem) float64 {
		if h.Item.Entropy == nil {
			return math.Inf(1)
		}
		return *h.Item.Entropy
	}
	slices.SortFunc(items, func(a, b routedItem) int { return cmp.Or(cmp.Compare(open(b), open(a)), cmp.Compare(a.ID, b.ID)) })
}

// measure fills a panel. Agreement is that of the items whose label is not known. Others
// are let in at each pause.
func (p *Panel) measure(org principal.OrgID, scale agree.Scale, known annotation.Known, pause func() error) (err error) {
	o := stat.Options{Seed: stat.Seed{Organization: org.String(), Resource: "annotation task " + strconv.FormatInt(p.Task.ID, 10), DataVersion: strconv.Itoa(len(p.all))}, Pause: pause}
	key := func(v annotation.Vote) string { return p.keys[v.Person] }
	everything := newCrowd(p.all, key)
	open := slices.DeleteFunc(slices.Clone(p.all), func(v annotation.Vote) bool { _, gold := known.Gold[v.Item]; return gold })
	p.Answers = len(open)
	if p.Together, err = agree.Among(newCrowd(open, key).ratings, scale, stat.SourceHuman, o); err != nil {
		return err
	}
	if p.Consensus, err = fitted(everything, scale, known.Gold, pause); err != nil {
		return err
	}
	if p.Quality, err = consensus.Grade(consensus.Work{Votes: everything.votes, Truth: truth(known.Gold), Without: p.Together.Without}, scale, consensus.QualityOptions{Required: requiredAccuracy, Options: o}); err != nil {
		return err
	}
	items, err := routed(org, p.Task, p.all, p.Consensus, scale)
	if err != nil {
		return err
	}
	items = p.separate(items, known)
	if err := p.audit(org, items, known); err != nil {
		return err
	}
	hardest := slices.DeleteFunc(items, func(r routedItem) bool { return r.status == annotation.ItemAdjudicated || len(r.Reasons) == 0 })
	hardestFirst(hardest)
	for _, r := range hardest {
		p.Hardest = append(p.Hardest, r.hard)
	}
	return nil
}

// separate takes gold questions out of what is about the other items.
func (p *Panel) separate(items []routedItem, known annotation.Known) []routedItem {
	if len(known.Gold) == 0 {
		return items
	}
	names := truth(known.Gold)
	p.Consensus.Items = slices.DeleteFunc(p.Consensus.Items, func(i consensus.Item) bool { _, gold := names[i.Item]; return gold })
	return slices.DeleteFunc(items, func(r routedItem) bool {
		label, gold := known.Gold[r.ID]
		if gold && r.status.Complete() {
			p.Gold.Answered++
			if said := string(r.Item.Label); said != "" && said != label {
				p.Gold.Contradicted = append(p.Gold.Contradicted, r.ID)
			}
		}
		return gold
	})
}

// audit estimates how many items have a wrong label that no rule sends to a person,
// from those of them that were drawn and decided.
func (p *Panel) audit(org principal.OrgID, items []routedItem, known annotation.Known) (err error) {
	unseen, decided, wrong := 0, 0, 0
	model := modelled(p.Consensus)
	for _, r := range items {
		if !r.status.Complete() || r.status == annotation.ItemSkipped || !r.agreed || model && len(r.Reasons) > 0 {
			continue
		}
		unseen++
		label, named := known.Decided[r.ID]
		confirmed, said := known.Confirmed[r.ID]
		if !Drawn(org, p.Task.ID, r.ID) || r.Item.Label == "" || !named && !said {
			continue
		}
		decided++
		if named && label != string(r.Item.Label) || !named && !confirmed {
			wrong++
		}
	}
	p.Unseen, err = consensus.Audit(unseen, decided, wrong, 0)
	return err
}
