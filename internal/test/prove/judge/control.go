package judge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

type control = rig.Control[*system]

// controls are the guards between a case and a wrong verdict, a call too many, a cap
// that does not hold, and a key that is known.
var controls = []control{
	{
		Noticed: killed(func(v verdict) int { return v.extra }),
		Guard: rig.Guard{
			Name: "forget_done", In: "chunk.execution.left",
			Text:    "		if wanted[b.Key] {\n",
			Instead: "		if wanted[b.Key] && !sabotage(\"forget_done\") {\n",
		},
	},
	{
		Noticed: undisturbed(func(v verdict) int { return v.missing }),
		Guard: rig.Guard{
			Name: "lose_verdict", In: "chunk.execution.keepVerdicts",
			Text: "	if err := e.Judges.Insert(ctx, e.Run.Org, all); err != nil {\n",
			Instead: `	if sabotage("lose_verdict") {
		all = all[1:]
	}
	if err := e.Judges.Insert(ctx, e.Run.Org, all); err != nil {
`,
		},
	},
	{
		Noticed: undisturbed(func(v verdict) int { return v.extra }),
		Guard: rig.Guard{
			Name: "pay_again", In: "judge.Service.postEvaluate",
			Text:    "	if out, err := change.Recall[judgedOutput](ctx, s.log); out != nil || err != nil {\n",
			Instead: "	if out, err := change.Recall[judgedOutput](ctx, s.log); !sabotage(\"pay_again\") && (out != nil || err != nil) {\n",
		},
	},
	{
		Noticed: undisturbed(func(v verdict) int { return v.wrong }),
		Guard: rig.Guard{
			Name: "no_reason", In: "judge.Spec.decide",
			Text:    "			v.Code, v.Message = failed.Code, failed.Message\n",
			Instead: "			if v.Code, v.Message = failed.Code, failed.Message; sabotage(\"no_reason\") {\n				v.Code = \"failed\"\n			}\n",
		},
	},
	{
		Noticed: undisturbed(func(v verdict) int { return v.extra }),
		Guard: rig.Guard{
			Name: "repair_all", In: "provider.Inquiry.Ask",
			Text:    "	if wrong.code == CodeTruncated {\n",
			Instead: "	if wrong.code == CodeTruncated && !sabotage(\"repair_all\") {\n",
		},
	},
	{
		Noticed: overspent,
		Guard: rig.Guard{
			Name: "overspend", In: "provider.ledger.take",
			Text: "	free := limit - l.spent\n",
			Instead: `	if sabotage("overspend") {
		limit *= 2
	}
	free := limit - l.spent
`,
		},
	},
	{
		Noticed: told,
		Guard: rig.Guard{
			Name: "tell_key", In: "llm.Error.of",
			Text:    "	e.Message = excerpt(hidden(beginning(e.Message), to.Secret))\n",
			Instead: "	if e.Message = excerpt(beginning(e.Message)); !sabotage(\"tell_key\") {\n		e.Message = hidden(e.Message, to.Secret)\n	}\n",
		},
	},
}

// Restart starts the application as it is when guards are removed: with one long chunk, so
// that a crash finds much of it done.
func (s *system) Restart(ctx context.Context) error {
	s.Env = append(s.Env, "ASSAY_EVALUATION_CHUNK_TIME=30s")
	s.Seed += 1000
	s.provider.oracle.Forget()
	return errors.Join(s.provider.peace(), s.System.Restart(ctx))
}

// undisturbed has a run and some single requests judged.
func undisturbed(found func(verdict) int) func(context.Context, *system) (int, error) {
	return func(ctx context.Context, s *system) (int, error) {
		p := newProof(s, s.Seed)
		j := p.load.plan()
		p.load.done.Go(func() { p.load.travel(ctx, j) })
		for range 8 {
			p.load.ask(ctx)
		}
		v, err := p.verdict(ctx)
		return found(v), err
	}
}

// killed has a run judged whose worker is killed when most of a chunk is done.
func killed(found func(verdict) int) func(context.Context, *system) (int, error) {
	return func(ctx context.Context, s *system) (int, error) {
		if err := s.provider.slow(200 * time.Millisecond); err != nil {
			return 0, err
		}
		p := newProof(s, s.Seed)
		j := p.load.plan()
		j.concurrency, j.units, j.client = 2, nil, false
		for i := range 48 {
			j.units = append(j.units, unit{newUnit(ofRuns, j.number, i).name, kinds[0]})
		}
		p.load.done.Go(func() { p.load.travel(ctx, j) })
		defer p.load.end()
		prefix := fmt.Sprintf("%s%d-", ofRuns, j.number)
		for calls := 0; calls < 40; calls, _ = s.provider.oracle.Of(prefix) {
			if err := errors.Join(rig.Sleep(ctx, 50*time.Millisecond), p.load.complaint()); err != nil {
				return 0, err
			}
		}
		if err := s.KillWorker(ctx); err != nil {
			return 0, err
		}
		v, err := p.verdict(ctx)
		return found(v), err
	}
}

// overspent spends a cap that does not hold.
func overspent(ctx context.Context, s *system) (int, error) { return s.spend(ctx, 0) }

// told looks for a key that is not taken out of what providers say.
func told(ctx context.Context, s *system) (int, error) {
	found, err := s.plant(ctx, s.Removed)
	for place, n := range found {
		if n > 0 {
			rig.Say("found  %d times in %s", n, place)
		}
	}
	return found.Sum(), err
}
