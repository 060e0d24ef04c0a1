package annotator

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	agree "github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/consensus"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/review/annotation"
)

const (
	// maxAnswers is how many answers, and maxPeople of how many people, are compared.
	maxAnswers = 50_000
	maxPeople  = 100
)

// Flag is something that stands out about the work of a person.
type Flag string

// The flags. None of them proves that the person is wrong.
const (
	FlagBelowChance     Flag = "below_chance"     // right less often than guessing would be
	FlagExcluded        Flag = "excluded"         // left out of the consensus for that reason
	FlagLowersAgreement Flag = "lowers_agreement" // the whole interval of the change of alpha is above 0
	FlagOneLabel        Flag = "one_label"        // gave one label throughout, and others clearly did not
	FlagFailsGold       Flag = "fails_gold"       // the whole interval on gold questions is below the required accuracy
)

// Panel is how well the people of a task agree, and what their answers come to. Only
// answers that everybody may read have a part in it, whoever asks.
type Panel struct {
	Task       annotation.Task
	MeasuredAt time.Time
	// Abstained says why nothing is measured; empty if something is.
	Abstained string
	// Answers have a part in it; Without have no value to compare.
	Answers, Without int

	Together  agree.Together
	Consensus consensus.Consensus
	Quality   []consensus.Quality
	// People are those who answered, by the keys that the parts above have for them.
	People map[string]person
	// Hardest are the items that a person should decide, the least certain first.
	Hardest []hard
	// Unseen is what the audit says about the other complete items.
	Unseen consensus.Unseen
	// Gold is what gold questions say; nil if the caller may not know them, for whom
	// they are items like any other. To others, agreement and consensus are those of the
	// items whose label is not known.
	Gold *goldFound

	all  []annotation.Vote
	keys map[uuid.UUID]string // of People
}

// person is somebody who answered, with the name that they have now.
type person struct {
	principal.Actor
	Name string
}

// hard is an item that people are not sure of.
type hard struct {
	ID      int64
	Item    consensus.Item
	Reasons []consensus.Reason
}

// goldFound is what gold questions say besides how well each person answers them.
type goldFound struct {
	Questions, Answered int
	// Contradicted are those whose label is not what the answers come to: either the
	// people are wrong, or the label is.
	Contradicted []int64
}

// Panel measures how well the people of a task agree, as a caller may know it.
func (s *Service) Panel(ctx context.Context, caller principal.Caller, id int64) (Panel, error) {
	org := caller.Org
	t, err := s.annotations.Task(ctx, org, id)
	if err != nil {
		return Panel{}, err
	}
	p := Panel{Task: t, MeasuredAt: s.now()}
	if p.Unseen, err = consensus.Audit(0, 0, 0, 0); err != nil {
		return p, err
	}
	if why := t.Type.Incomparable(); why != "" {
		return p, p.abstain(why)
	}
	if p.all, p.Without, err = s.annotations.Votes(ctx, org, t, maxAnswers); err != nil {
		return p, err
	}
	known, err := s.annotations.Known(ctx, org, id)
	if err != nil {
		return p, err
	}
	knowing, err := s.annotations.Knowing(ctx, caller, t)
	if err != nil {
		return p, err
	}
	if knowing {
		p.Gold = &goldFound{Questions: len(known.Gold), Contradicted: []int64{}}
	} else {
		known.Gold = nil
	}
	p.Answers = len(p.all)
	if err := s.name(ctx, org, &p); err != nil {
		return p, err
	}
	switch {
	case p.Answers+p.Without > maxAnswers:
		return p, p.abstain(fmt.Sprintf("the task has more than %d answers", maxAnswers))
	case len(p.keys) > maxPeople:
		return p, p.abstain(fmt.Sprintf("more than %d people have answered", maxPeople))
	case p.Answers == 0 && t.Blind:
		return p, p.abstain("no answer to a complete item has a value; those to other items of a blind task stay hidden")
	case p.Answers == 0:
		return p, p.abstain("no answer has a value to compare")
	}
	scale, why := scaleOf(known, t, p.all)
	if why != "" {
		return p, p.abstain(why)
	}
	// With many labels that hardly agree it takes a minute at the limits. Others are let in
	// between its steps, and it ends with the request.
	err = admission.From(ctx).Work(ctx, func(pause func() error) error { return p.measure(org, scale, known, pause) })
	if err != nil {
		return p, fmt.Errorf("measure agreement in task %d: %w", id, err)
	}
	return p, nil
}

// name names those who answered. Their keys are in the order of names, and differ
// where names do not.
func (s *Service) name(ctx context.Context, org principal.OrgID, p *Panel) error {
	asserted, order := map[uuid.UUID]bool{}, []uuid.UUID{}
	for _, v := range p.all {
		if _, seen := asserted[v.Person]; !seen {
			order = append(order, v.Person)
		}
		asserted[v.Person] = asserted[v.Person] || v.Asserted
	}
	who := make([]principal.Actor, len(order))
	for i, id := range order {
		who[i] = principal.UserActor(id, asserted[id])
	}
	by, err := s.tenancy.Actors(ctx, org, who...)
	if err != nil {
		return err
	}
	p.keys = make(map[uuid.UUID]string, len(order))
	p.People = make(map[string]person, len(order))
	for i, id := range order {
		one := person{Actor: who[i]}
		if by[i].Name != nil {
			one.Name = *by[i].Name
		}
		key := one.Name + "\x00" + id.String()
		p.keys[id], p.People[key] = key, one
	}
	return nil
}

// abstain says why nothing is measured.
func (p *Panel) abstain(why string) error {
	o, err := stat.Options{}.Checked()
	if err != nil {
		return err
	}
	p.Abstained = why
	for name, e := range map[string]*stat.Estimate{
		"krippendorff_alpha": &p.Together.Overall.Alpha, "gwet_ac1": &p.Together.Overall.AC1, "raw_agreement": &p.Together.Overall.Agreed,
	} {
		*e = o.Estimate(name)
		e.Source = stat.SourceHuman
		e.Abstain(stat.StatusInsufficient, why)
	}
	p.Consensus.Status = stat.StatusInsufficient
	return nil
}

// flags are what stands out about the work of a person.
func flags(a consensus.Annotator, q consensus.Quality) []Flag {
	out := []Flag{}
	add := func(is bool, f Flag) {
		if is {
			out = append(out, f)
		}
	}
	add(a.BelowChance, FlagBelowChance)
	add(a.Excluded, FlagExcluded)
	change, variety := q.Change.CI, q.Labels.Difference.CI
	add(change != nil && change.Lower != nil && *change.Lower > 0, FlagLowersAgreement)
	add(q.Labels.Own != nil && *q.Labels.Own == 0 && variety != nil && variety.Upper != nil && *variety.Upper < 0, FlagOneLabel)
	add(q.Gold.Standing == consensus.StandingFlagged, FlagFailsGold)
	return out
}
