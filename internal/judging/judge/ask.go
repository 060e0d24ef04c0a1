package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/llm"
)

// Judge is a version of a judge, ready to be asked. It is safe for concurrent use.
type Judge struct {
	Version Version

	config   Config
	question question
	shape    provider.Shape    // of an answer
	models   []*provider.Model // one for each repetition, or one for all
	pace     *provider.Pace
	failed   func(*provider.Failure)
	clock    func() time.Time
}

// Prepare makes a version of a judge ready. All that is asked through it waits
// together while the provider asks for time; failed is called after attempts that
// are made again. It is paid from the judge's purse, and from others as well. A
// *provider.Unusable means that the model cannot be asked.
func (s *Service) Prepare(ctx context.Context, org principal.OrgID, c Config, v Version, pace *provider.Pace, failed func(*provider.Failure), others ...provider.Purse) (*Judge, error) {
	j := &Judge{Version: v, config: c, pace: pace, failed: failed, clock: s.clock}
	var err error
	if j.question, err = newQuestion(v.Spec, v.salt); err != nil {
		return nil, fmt.Errorf("judge %q: %w", c.Key, err)
	}
	schema, err := v.Spec.schema()
	if err != nil {
		return nil, fmt.Errorf("judge %q: %w", c.Key, err)
	}
	if j.shape, err = provider.NewShape(schema); err != nil {
		return nil, fmt.Errorf("judge %q: its schema %w", c.Key, err)
	}
	params, seeded, err := v.Spec.params()
	if err != nil {
		return nil, fmt.Errorf("judge %q: %w", c.Key, err)
	}
	if !seeded {
		params = params[:1]
	}
	for _, p := range params {
		m, err := s.provider.Model(ctx, org, provider.ModelConfig{KeyID: v.Spec.KeyID, Provider: v.Spec.Provider, Model: v.Spec.Model, Params: p, Purses: append([]provider.Purse{c.purse()}, others...)})
		if err != nil {
			return nil, err
		}
		j.models = append(j.models, m)
	}
	return j, nil
}

// purse is what the judge's calls are paid from.
func (c Config) purse() provider.Purse {
	p := provider.Purse{Kind: "judge", ID: strconv.FormatInt(c.ID, 10), Name: fmt.Sprintf("the judge %q", c.Key)}
	if c.CapNanoUSD != nil {
		most := uint64(*c.CapNanoUSD)
		p.CapNanoUSD = &most
	}
	return p
}

// Version makes a version of a judge ready by its number; see Prepare.
func (s *Service) Version(ctx context.Context, org principal.OrgID, id int64, number int, pace *provider.Pace, failed func(*provider.Failure), others ...provider.Purse) (*Judge, error) {
	c, err := s.Find(ctx, org, id)
	if err != nil {
		return nil, err
	}
	v := c.Current
	if number != v.Number {
		if v, err = s.store.version(ctx, s.db.Org(org), org, id, number); err != nil {
			return nil, err
		}
	}
	return s.Prepare(ctx, org, c, v, pace, failed, others...)
}

// ID is the judge's.
func (j *Judge) ID() int64 { return j.config.ID }

// params are the parameters of each repetition: the same, apart from the seed. With
// one seed all opinions would be the same one.
func (s Spec) params() (each []jsontext.Value, seeded bool, err error) {
	for n := range max(1, s.Repeats) {
		all := map[string]jsontext.Value{}
		if len(s.Params) > 0 {
			if err := json.Unmarshal(s.Params, &all); err != nil {
				return nil, false, err
			}
		}
		var seed int64
		if given, ok := all["seed"]; ok && json.Unmarshal(given, &seed) == nil {
			seeded = true
			all["seed"] = jsontext.Value(strconv.FormatInt(seed+int64(n), 10))
		}
		text, err := json.Marshal(all, json.Deterministic(true))
		if err != nil {
			return nil, false, err
		}
		each = append(each, text)
	}
	return each, seeded, nil
}

// Ask judges a case. Key is the same for every attempt at it. A case that cannot be
// judged, or that the model does not answer, has a verdict that says so. An error is
// a *provider.Failure after which no other case can be judged either, or the end of
// ctx; the verdict says then what was spent.
func (j *Judge) Ask(ctx context.Context, c Case, key string) (Verdict, error) {
	if j.Version.Spec.Pairwise {
		return j.ask(ctx, c, key, ours, theirs)
	}
	return j.ask(ctx, c, key, single)
}

// AskFirst is Ask of a judge that compares, which sees the answer in the first place
// alone; AskSecond shows it in the second place alone. They are for finding out what
// the place does.
func (j *Judge) AskFirst(ctx context.Context, c Case, key string) (Verdict, error) {
	return j.ask(ctx, c, key, ours)
}

// AskSecond is AskFirst with the answer in the second place.
func (j *Judge) AskSecond(ctx context.Context, c Case, key string) (Verdict, error) {
	return j.ask(ctx, c, key, theirs)
}

// ask judges a case in each of the orders.
func (j *Judge) ask(ctx context.Context, c Case, key string, orders ...order) (Verdict, error) {
	spec := j.Version.Spec
	if why := spec.unfit(c); why != nil {
		return Verdict{Status: VerdictFailed, Code: why.Code, Message: why.Message}, nil
	}
	began := j.clock()
	wanted := max(1, spec.Repeats)
	all := make([]asked, wanted*len(orders))
	opine := func(i int) {
		all[i] = j.opinion(ctx, i/len(orders), orders[i%len(orders)], c, fmt.Sprintf("%s-%d", key, i))
	}
	var others sync.WaitGroup // an opinion that fails does not end the others, which are paid
	for i := range all[1:] {
		others.Go(func() { opine(i + 1) })
	}
	opine(0) // most judges are asked once, and need nobody else for it
	others.Wait()
	v, err := j.verdict(ctx, all, wanted, len(orders))
	v.Took = j.clock().Sub(began)
	return v, err
}

// asked is one call with what came of it.
type asked struct {
	opinion
	provider.Answer
	err error
}

// verdict decides on what was asked.
func (j *Judge) verdict(ctx context.Context, all []asked, wanted, orders int) (Verdict, error) {
	var opinions []opinion
	var spent Spent
	var failed *provider.Failure
	var stopped error
	divided := 0
	for i := 0; i < len(all); i += orders {
		pair := all[i : i+orders]
		usable := true
		for _, a := range pair {
			spent.add(a.Answer)
			var f *provider.Failure
			switch {
			case errors.As(a.err, &f):
				usable = false
				if failed == nil || f.Stop {
					failed = f
				}
				if f.Stop {
					stopped = f
				}
			case a.err != nil:
				usable, stopped = false, a.err
			}
		}
		switch {
		case !usable:
		case orders == 2 && !pair[0].abstained && !pair[1].abstained && pair[0].Label != pair[1].Label:
			divided++
			opinions = append(opinions, opinion{abstained: true, reasoning: pair[0].reasoning})
		case orders == 2 && pair[1].abstained:
			opinions = append(opinions, pair[1].opinion)
		default:
			opinions = append(opinions, pair[0].opinion)
		}
	}
	if ctx.Err() != nil && stopped == nil && failed == nil && len(opinions) < wanted {
		stopped = ctx.Err()
	}
	v := j.Version.Spec.decide(opinions, wanted, failed)
	if v.Status == VerdictAbstained && divided > 0 {
		v.Code, v.Message = CodeOrderDependent, "The verdict depends on which answer the judge sees first."
	}
	v.Spent = spent
	for _, a := range all {
		if a.err == nil {
			v.Model, v.ReplyID = cmp.Or(a.Answer.Model, j.Version.Spec.Model), a.ReplyID
			break
		}
	}
	return v, stopped
}

// opinion asks for one opinion, until there is one or there will be none.
func (j *Judge) opinion(ctx context.Context, n int, o order, c Case, key string) asked {
	text, check, err := message(j.Version.salt, c, o)
	if err != nil {
		return asked{err: err}
	}
	var op opinion
	inquiry := j.models[n%len(j.models)].Inquire(provider.Question{
		System: j.question.instructions, Messages: append(j.question.examples[:len(j.question.examples):len(j.question.examples)], llm.Message{Role: llm.RoleUser, Content: text}),
		IdempotencyKey: key, CacheSalt: strconv.Itoa(n),
	}, j.shape)
	a, _, err := j.pace.Ask(ctx, func(ctx context.Context) (provider.Answer, error) {
		object, err := inquiry.Ask(ctx)
		if err != nil {
			return object.Answer, err
		}
		var f *provider.Failure
		if op, f = j.Version.Spec.read(object.Value, check, o); f != nil {
			return object.Answer, f
		}
		return object.Answer, nil
	}, j.failed)
	return asked{op, a, err}
}

// unfit says why a case is not shown to the model. To ask about nothing costs as
// much as to ask about something, and models are known to let an empty answer pass.
func (s Spec) unfit(c Case) *provider.Failure {
	switch {
	case blank(c.Output):
		return &provider.Failure{Code: CodeNoOutput, Message: "The answer is empty, so there is nothing to judge."}
	case s.Pairwise && blank(c.Expected):
		return &provider.Failure{Code: CodeNoExpected, Message: "The judge compares the answer with the expected output, and there is none."}
	}
	return nil
}

// blank reports whether a value has no text at all.
func blank(v jsontext.Value) bool {
	u := foreign(v)
	return u == nil || strings.TrimSpace(u.text) == ""
}
