package main

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/prove/rig"
)

// control is a guard that is removed.
type control struct {
	name  string
	parts []rig.Guard
	// noticed counts what the proof finds without the guard.
	noticed func(context.Context, *system) (int, error)
}

// controls are the guards between an agent and what it must not do.
var controls = []control{
	{
		name: "use_again", noticed: func(ctx context.Context, s *system) (int, error) { return s.overuse(ctx, 3, 20, 0) },
		parts: []rig.Guard{{
			Name: "use_again", File: "internal/approval/use.go",
			Text:    "	uses := r.Values.Integer(\"uses\") + 1\n",
			Instead: "	if sabotage(\"use_again\") {\n		return Refusal{}, nil\n	}\n	uses := r.Values.Integer(\"uses\") + 1\n",
		}},
	},
	{
		name: "approve_own", noticed: func(ctx context.Context, s *system) (int, error) { return s.approveOwn(ctx) },
		parts: []rig.Guard{
			{
				Name: "approve_own", File: "internal/approval/vote.go",
				Text:    "	if asked {\n",
				Instead: "	if asked && !sabotage(\"approve_own\") {\n",
			},
			{
				Name: "approve_own", File: "internal/approval/use.go",
				Text:    "	if own {\n",
				Instead: "	if own && !sabotage(\"approve_own\") {\n",
			},
		},
	},
	{
		name: "go_on", noticed: func(ctx context.Context, s *system) (int, error) { return s.suspend(ctx, 2) },
		parts: []rig.Guard{{
			Name: "go_on", File: "internal/policy/decide.go",
			Text:    "	if stopped := stop(parties); stopped != (engine.Reason{}) {\n",
			Instead: "	if stopped := stop(parties); stopped != (engine.Reason{}) && !sabotage(\"go_on\") {\n",
		}},
	},
	{
		name: "stay_quiet", noticed: func(ctx context.Context, s *system) (int, error) { return s.pay(ctx, 40) },
		parts: []rig.Guard{{
			Name: "stay_quiet", File: "internal/evidence/effect.go",
			Text:    "		if err != nil || !effect.Unsettled(r.Values)",
			Instead: "		if sabotage(\"stay_quiet\") || err != nil || !effect.Unsettled(r.Values)",
		}},
	},
}

// guards are those of all controls.
func guards() (all []rig.Guard) {
	for _, c := range controls {
		all = append(all, c.parts...)
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
	for _, c := range chosen {
		for _, r := range s.replicas {
			r.server.Kill()
		}
		s.Removed = c.name
		if err := s.serve(ctx); err != nil {
			return err
		}
		n, err := c.noticed(ctx, s)
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
