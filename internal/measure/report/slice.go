package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Slices are the pass rates of a run by what its items have in common: their
// cluster or split, or a label.
type Slices struct {
	By     string           `json:"by"`
	Slices []stat.SliceRate `json:"slices"` // the lowest first
	// Hidden is how many others have fewer than ten results, which say too little.
	Hidden int `json:"hidden"`
	// Note says why there are no slices by a label that items have.
	Note string `json:"note,omitzero"`
}

// labelled are results by label and value.
type labelled map[string]map[string][]stat.Observation

// maxValues is how many values a label may have to tell groups of items apart
// rather than items.
const maxValues = 100

// add takes a result down under its labels. A label with too many values stays,
// without results, so that it is not begun again.
func (l labelled) add(labels map[string]string, row stat.Observation) {
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		values, known := l[label]
		if known && values == nil || !known && len(l) >= maxLabels {
			continue
		}
		if !known {
			values = map[string][]stat.Observation{}
			l[label] = values
		}
		value := labels[label]
		if values[value] = append(values[value], row); len(values) > maxValues {
			l[label] = nil
		}
	}
}

// rows is how many results are taken down, once for each label.
func (l labelled) rows(results int) (n int) {
	for _, values := range l {
		if values != nil {
			n += results
		}
	}
	return n
}

// Slices are the pass rates by cluster or split, and by each label. It is empty for
// runs that are too long to be sliced.
func (f *Findings) Slices() ([]Slices, error) {
	all := []Slices{}
	by := func(name string, groups map[string][]stat.Observation) error {
		if len(groups) < 2 {
			return nil
		}
		one, err := slicesBy(name, groups)
		all = append(all, one)
		return err
	}
	if err := by(f.sliceBy, f.slices); err != nil {
		return nil, err
	}
	for _, label := range slices.Sorted(maps.Keys(f.labels)) {
		name := label
		if label == f.sliceBy {
			name = "labels." + label // the items' split has the same name
		}
		switch {
		case f.unlabelled:
			all = append(all, Slices{By: name, Slices: []stat.SliceRate{}, Note: "The run has too many results to be sliced by labels."})
		case f.labels[label] == nil:
			all = append(all, Slices{By: name, Slices: []stat.SliceRate{}, Note: fmt.Sprintf("The label has more than %d values.", maxValues)})
		default:
			if err := by(name, f.labels[label]); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func slicesBy(name string, groups map[string][]stat.Observation) (Slices, error) {
	var parts []stat.Slice
	for _, value := range slices.Sorted(maps.Keys(groups)) {
		parts = append(parts, stat.Slice{Name: value, Rows: groups[value]})
	}
	rates, err := stat.SliceRates(parts, stat.Options{Range: stat.Unit()})
	if err != nil {
		return Slices{}, fmt.Errorf("slices by %s: %w", name, err)
	}
	slices.SortStableFunc(rates, func(a, b stat.SliceRate) int { return compareValues(a.Rate.Value, b.Rate.Value) })
	return Slices{By: name, Slices: rates, Hidden: len(parts) - len(rates)}, nil
}

// maxSlices is how many slices of a kind a report lists.
const maxSlices = 20

func slicesOf(f *Findings) (views []slicesView, err error) {
	if f.slices == nil {
		return []slicesView{{By: f.sliceBy, Note: fmt.Sprintf("Slices are not listed for runs of more than %s results.", grouped(maxSliced))}}, nil
	}
	all, err := f.Slices()
	for _, s := range all {
		views = append(views, s.view())
	}
	return views, err
}

func (s Slices) view() slicesView {
	v := slicesView{By: shorten(s.By, 80).Text, Note: s.Note}
	if s.Hidden > 0 {
		v.Note = fmt.Sprintf("%s of %s slices have fewer than 10 results and are not listed. ", grouped(s.Hidden), grouped(s.Hidden+len(s.Slices)))
	}
	rates := s.Slices
	if len(rates) > maxSlices {
		v.Note += fmt.Sprintf("The %d lowest of %s are shown. ", maxSlices, grouped(len(rates)))
		rates = rates[:maxSlices]
	}
	rate := scale{percent: true}
	for _, one := range rates {
		row := sliceView{Name: shorten(one.Name, 80).Text, Value: "—", Shrunken: "—", Basis: rate.basis(one.Rate), Bar: barOf(one.Rate, 0, 1)}
		if strings.TrimSpace(row.Name) == "" {
			row.Name = "none"
		}
		if one.Rate.Value != nil {
			row.Value = rate.text(*one.Rate.Value)
		}
		if one.Shrunken != nil {
			row.Shrunken = rate.text(*one.Shrunken)
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}
