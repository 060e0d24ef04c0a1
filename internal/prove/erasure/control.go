package main

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/prove/rig"
)

// controls are guards without which something of an organization outlives it.
var controls = []rig.Guard{{
	Name: "keep_blocks", File: "internal/trace/deletion.go",
	Text: "	blocks, err := s.store.CutOrganization(ctx, org)\n",
	Instead: `	if sabotage("keep_blocks") {
		return 0, nil
	}
	blocks, err := s.store.CutOrganization(ctx, org)
`,
}}

// control does a round without a guard and returns how many canaries are left.
func (s *system) control(ctx context.Context, g rig.Guard) (int, error) {
	unguarded, err := s.BuildUnguarded(ctx, []rig.Guard{g}, "assay-sabotaged-erasure").Binary()
	if err != nil {
		return 0, err
	}
	binary := s.Binary
	defer func() { s.Binary, s.Removed = binary, "" }()
	s.Binary, s.Removed = unguarded, g.Name
	f := figures{points: map[string]bool{}}
	if err := s.round(ctx, 0, &f); err != nil {
		return 0, err
	}
	fmt.Printf("control %s: %d found\n", g.Name, f.found)
	if f.found == 0 {
		return 0, rig.ErrUnnoticed
	}
	return f.found, nil
}
