package report

import (
	"fmt"
	"math"
)

// gridOf shows how often each two annotators agree. Kappa is in the small print.
func gridOf(t Task) *gridView {
	var all []string
	for _, a := range t.Consensus.Annotators {
		if !a.Watched {
			all = append(all, a.Annotator)
		}
	}
	if len(t.Agreement.Pairs) == 0 || len(all) > maxAnnotators {
		return nil
	}
	at := map[string]int{}
	v := &gridView{Note: "Share of the items that both labelled with equal labels; below it Cohen’s kappa, from 20 items on. The interval is in the tooltip."}
	for i, annotator := range all {
		at[annotator] = i
		name := shorten(annotator, 24).Text
		v.Heads = append(v.Heads, name)
		v.Rows = append(v.Rows, matrixRow{Label: name, Cells: make([]matrixCell, len(all))})
	}
	for i := range v.Rows {
		for j := range v.Rows[i].Cells {
			v.Rows[i].Cells[j] = matrixCell{Tone: "none", Title: "no items in common"}
		}
		v.Rows[i].Cells[i] = matrixCell{Tone: "self"}
	}
	s := scale{percent: true}
	for _, p := range t.Agreement.Pairs {
		c := matrixCell{Count: "—", Tone: "calm"}
		if value := p.Agreed.Value; value != nil {
			c.Count, c.Heat = share(*value), heat(*value)
		}
		if p.Kappa != nil && p.Kappa.Value != nil {
			c.Share = "κ " + decimals(*p.Kappa.Value, 2)
		}
		c.Title = fmt.Sprintf("%s and %s: %s", shorten(p.First, 64).Text, shorten(p.Second, 64).Text, s.basis(p.Agreed))
		a, first := at[p.First]
		b, second := at[p.Second]
		if first && second {
			v.Rows[a].Cells[b], v.Rows[b].Cells[a] = c, c
		}
	}
	return v
}

// heat is a share in tenths, one for anything above nothing.
func heat(p float64) int {
	if p <= 0 {
		return 0
	}
	return min(10, max(1, int(math.Ceil(10*p-1e-9))))
}

// annotatorMatrices shows what each annotator says, given what the consensus says.
func annotatorMatrices(t Task) (all []matrixView, note string) {
	for _, a := range t.Consensus.Annotators[:min(len(t.Consensus.Annotators), maxAnnotators)] {
		v := matrixView{Name: shorten(a.Annotator, 64).Text, Note: counted(a.Votes, "label", "labels")}
		for _, l := range t.Consensus.Labels {
			v.Heads = append(v.Heads, shorten(l, 24).Text)
		}
		for i, row := range a.Confusion {
			r := matrixRow{Label: v.Heads[i]}
			for j, p := range row {
				c := matrixCell{Count: share(p), Tone: "bad", Heat: heat(p), Title: fmt.Sprintf("consensus %s, %s says %s: %s", v.Heads[i], v.Name, v.Heads[j], share(p))}
				if i == j {
					c.Tone = "good"
				}
				r.Cells = append(r.Cells, c)
			}
			v.Rows = append(v.Rows, r)
		}
		all = append(all, v)
	}
	if len(all) == 0 {
		return nil, ""
	}
	note = "Rows are the consensus, columns what the annotator says. A few labels are counted in advance, so that nobody looks perfect after a handful."
	if more := len(t.Consensus.Annotators) - len(all); more > 0 {
		note += fmt.Sprintf(" %s not shown.", counted(more, "further annotator is", "further annotators are"))
	}
	return all, note
}
