package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/prove/rig"
)

// control is a guard that is removed.
type control struct {
	name, file, text, instead string // the guard: see rig.Guard
	// noticed counts what the proof finds without the guard.
	noticed func(context.Context, *system, uint64) (int, error)
}

// controls are the guards between a case and a wrong verdict, a call too many, a cap
// that does not hold, and a key that is known.
var controls = []control{
	{
		name: "forget_done", file: "internal/evaluation/internal/chunk/rest.go", noticed: killed(func(v verdict) int { return v.extra }),
		text:    "		if wanted[b.Key] {\n",
		instead: "		if wanted[b.Key] && !sabotage(\"forget_done\") {\n",
	},
	{
		name: "lose_verdict", file: "internal/evaluation/internal/chunk/judge.go", noticed: undisturbed(func(v verdict) int { return v.missing }),
		text: "	if err := e.Judges.Insert(ctx, e.Run.Org, all); err != nil {\n",
		instead: `	if sabotage("lose_verdict") {
		all = all[1:]
	}
	if err := e.Judges.Insert(ctx, e.Run.Org, all); err != nil {
`,
	},
	{
		name: "pay_again", file: "internal/judge/http_result.go", noticed: undisturbed(func(v verdict) int { return v.extra }),
		text:    "	if out, err := change.Recall[judgedOutput](ctx, s.log); out != nil || err != nil {\n",
		instead: "	if out, err := change.Recall[judgedOutput](ctx, s.log); !sabotage(\"pay_again\") && (out != nil || err != nil) {\n",
	},
	{
		name: "no_reason", file: "internal/judge/verdict.go", noticed: undisturbed(func(v verdict) int { return v.wrong }),
		text:    "			v.Code, v.Message = failed.Code, failed.Message\n",
		instead: "			if v.Code, v.Message = failed.Code, failed.Message; sabotage(\"no_reason\") {\n				v.Code = \"failed\"\n			}\n",
	},
	{
		name: "repair_all", file: "internal/provider/object.go", noticed: undisturbed(func(v verdict) int { return v.extra }),
		text:    "	if wrong.code == CodeTruncated {\n",
		instead: "	if wrong.code == CodeTruncated && !sabotage(\"repair_all\") {\n",
	},
	{
		name: "overspend", file: "internal/provider/ledger.go", noticed: overspent,
		text: "	free := limit - l.spent\n",
		instead: `	if sabotage("overspend") {
		limit *= 2
	}
	free := limit - l.spent
`,
	},
	{
		name: "tell_key", file: "internal/platform/llm/failure.go", noticed: told,
		text:    "	e.Message = excerpt(hidden(beginning(e.Message), to.Secret))\n",
		instead: "	if e.Message = excerpt(beginning(e.Message)); !sabotage(\"tell_key\") {\n		e.Message = hidden(e.Message, to.Secret)\n	}\n",
	},
}

// guards are those of all controls.
func guards() (all []rig.Guard) {
	for _, c := range controls {
		all = append(all, rig.Guard{Name: c.name, File: c.file, Text: c.text, Instead: c.instead})
	}
	return all
}

// control runs controls. Each must be noticed.
func (s *system) control(ctx context.Context, unguarded *rig.Unguarded, chosen []control) (err error) {
	if len(chosen) == 0 {
		return nil
	}
	if s.Binary, err = unguarded.Binary(); err != nil {
		return err
	}
	// One long chunk, so that a crash finds much of it done.
	s.Env = append(s.Env, "ASSAY_EVALUATION_CHUNK_TIME=30s")
	for i, c := range chosen {
		s.worker.Kill()
		s.server.Kill()
		s.Removed = c.name
		s.provider.oracle.Forget()
		if err := errors.Join(s.provider.peace(), s.startServer(ctx), s.startWorker(ctx)); err != nil {
			return err
		}
		n, err := c.noticed(ctx, s, s.Seed+uint64(1000*(i+1)))
		if err != nil {
			return fmt.Errorf("control %s: %w", c.name, err)
		}
		say("control %-12s noticed %d", c.name, n)
		if n == 0 {
			return fmt.Errorf("control %s: %w", c.name, rig.ErrUnnoticed)
		}
	}
	return nil
}

// undisturbed has a run and some single requests judged.
func undisturbed(found func(verdict) int) func(context.Context, *system, uint64) (int, error) {
	return func(ctx context.Context, s *system, seed uint64) (int, error) {
		p := newProof(s, seed)
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
func killed(found func(verdict) int) func(context.Context, *system, uint64) (int, error) {
	return func(ctx context.Context, s *system, seed uint64) (int, error) {
		if err := s.provider.slow(200 * time.Millisecond); err != nil {
			return 0, err
		}
		p := newProof(s, seed)
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
		if err := p.killWorker(ctx); err != nil {
			return 0, err
		}
		v, err := p.verdict(ctx)
		return found(v), err
	}
}

// overspent spends a cap that does not hold.
func overspent(ctx context.Context, s *system, _ uint64) (int, error) { return s.spend(ctx, 0) }

// told looks for a key that is not taken out of what providers say.
func told(ctx context.Context, s *system, _ uint64) (int, error) {
	found, err := s.plant(ctx, s.Removed)
	for place, n := range found {
		if n > 0 {
			say("found  %d times in %s", n, place)
		}
	}
	return found.Sum(), err
}
