package policy

import (
	"context"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

type control = rig.Control[*system]

// controls are the guards between an agent and what it must not do.
var controls = []control{
	{
		Noticed: func(ctx context.Context, s *system) (int, error) { return s.overuse(ctx, 3, 20, 0) },
		Guard: rig.Guard{
			Name: "use_again", In: "approval.Service.UseTx",
			Text:    "	uses := r.Values.Uses() + 1\n",
			Instead: "	if sabotage(\"use_again\") {\n		return Refusal{}, nil\n	}\n	uses := r.Values.Uses() + 1\n",
		},
	},
	{
		Noticed: func(ctx context.Context, s *system) (int, error) { return s.approveOwn(ctx) },
		Guard: rig.Guard{
			Name: "approve_own", In: "approval.Service.ballotTx",
			Text:    "	if asked {\n",
			Instead: "	if asked && !sabotage(\"approve_own\") {\n",
		},
		More: []rig.Guard{
			{
				Name: "approve_own", In: "approval.Service.UseTx",
				Text:    "	if own {\n",
				Instead: "	if own && !sabotage(\"approve_own\") {\n",
			},
		},
	},
	{
		Noticed: func(ctx context.Context, s *system) (int, error) { return s.suspend(ctx, 2) },
		Guard: rig.Guard{
			Name: "go_on", In: "policy.decide",
			Text:    "	if stopped := k.stopped(); stopped != (engine.Reason{}) {\n",
			Instead: "	if stopped := k.stopped(); stopped != (engine.Reason{}) && !sabotage(\"go_on\") {\n",
		},
	},
	{
		Noticed: func(ctx context.Context, s *system) (int, error) { return s.pay(ctx, 40) },
		Guard: rig.Guard{
			Name: "stay_quiet", In: "evidence.Service.overdue",
			Text:    "		if err != nil || !effect.Unsettled(r.Values)",
			Instead: "		if sabotage(\"stay_quiet\") || err != nil || !effect.Unsettled(r.Values)",
		},
	},
}
