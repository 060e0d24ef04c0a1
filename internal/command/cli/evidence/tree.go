package evidence

import (
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/command/terminal"
)

// branch is the place of an entry in the tree, as it is drawn.
type branch struct {
	depth int
	own   string // in front of the entry
	below string // in front of the lines that belong to it
}

// branches finds the place of each entry from the depths. A depth that no tree has is
// drawn as the nearest one that a tree can have. Deep in a tree only the last levels
// have room, and a sign in the room of two stands for the others.
func branches(entries []Entry, most int) []branch {
	out := make([]branch, len(entries))
	for i := range entries {
		deepest := 0
		if i > 0 {
			deepest = out[i-1].depth + 1
		}
		out[i].depth = min(max(0, entries[i].Depth), deepest)
	}
	var more []bool // whether the tree goes on below, by level
	for i := len(out) - 1; i >= 0; i-- {
		depth := out[i].depth
		kids := len(more) > depth+1
		for len(more) <= depth {
			more = append(more, false)
		}
		out[i].draw(more[:depth+1], kids, most)
		more = more[:depth+1]
		more[depth] = true
	}
	return out
}

// draw writes the branches of an entry, given at which levels the tree goes on below
// it, and whether there is something below the entry itself. The roots have no branch.
func (b *branch) draw(more []bool, kids bool, most int) {
	var own, below strings.Builder
	first := 1
	if b.depth > most {
		first = b.depth - most + 3
		sign := terminal.Left("⋯"+strconv.Itoa(b.depth), 2*step)
		own.WriteString(sign)
		below.WriteString(spaces(2 * step))
	}
	for level := first; level <= b.depth; level++ {
		line := "   "
		if more[level] {
			line = "│  "
		}
		below.WriteString(line)
		switch {
		case level < b.depth:
			own.WriteString(line)
		case more[level]:
			own.WriteString("├─ ")
		default:
			own.WriteString("└─ ")
		}
	}
	if kids {
		below.WriteString("│  ")
	} else {
		below.WriteString("   ")
	}
	b.own, b.below = own.String(), below.String()
}

// step is the room of one level.
const step = 3
