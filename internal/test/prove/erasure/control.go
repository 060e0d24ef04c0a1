package erasure

import (
	"context"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// controls are guards without which something of an organization outlives it.
var controls = []rig.Control[*system]{{
	Guard: rig.Guard{
		Name: "keep_blocks", In: "trace.Service.Erase",
		Text: "	blocks, err := s.store.CutOrganization(ctx, org)\n",
		Instead: `	if sabotage("keep_blocks") {
		return 0, nil
	}
	blocks, err := s.store.CutOrganization(ctx, org)
`,
	},
	Noticed: func(ctx context.Context, s *system) (int, error) {
		var f figures
		err := s.round(ctx, 0, &f)
		return f.found, err
	},
}}
