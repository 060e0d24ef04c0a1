package stat

import "fmt"

// minMatched is the share of the baseline's items that the candidate must have,
// before two runs are comparable. A run over some of them could choose which.
const minMatched = 0.8

// pairs are the items of two runs side by side.
type pairs struct {
	d, a, b sample // the differences b-a, and the two sides; aligned
}

// match finds the items that both runs measured, and says what cannot be
// compared.
type match struct {
	a, b    *table
	partner []int32 // for each item of a, its like in b, or -1
	matched int
	changed int
}

func matchItems(a, b *table, weighted bool) (*match, error) {
	m := &match{a: a, b: b, partner: make([]int32, len(a.items))}
	next := 0 // runs of one dataset mostly keep its order
	for i, e := range a.items {
		m.partner[i] = -1
		ra := &a.rows[e.row]
		j := int32(next)
		if next >= len(b.items) || b.rows[b.items[next].row].Item != ra.Item {
			var ok bool
			if j, ok = b.index()[ra.Item]; !ok {
				continue
			}
		}
		next = int(j) + 1
		rb := &b.rows[b.items[j].row]
		switch {
		case ra.Content != "" && rb.Content != "" && ra.Content != rb.Content:
			m.changed++
			continue
		case ra.Cluster != rb.Cluster:
			return nil, inputErrorf("item %q is in two clusters, %q and %q", ra.Item, ra.Cluster, rb.Cluster)
		case weighted && ra.Weight != rb.Weight:
			return nil, inputErrorf("item %q has two weights, %v and %v", ra.Item, ra.Weight, rb.Weight)
		}
		m.partner[i] = j
		m.matched++
	}
	return m, nil
}

func (m *match) onlyA() int { return len(m.a.items) - m.matched - m.changed }
func (m *match) onlyB() int { return len(m.b.items) - m.matched - m.changed }

// reasons says why the runs are not comparable, if they are not.
func (m *match) reasons() []string {
	reasons := []string{}
	if m.changed > 0 {
		reasons = append(reasons, fmt.Sprintf("the content of %d items differs", m.changed))
	}
	if all := len(m.a.items); float64(m.matched) < minMatched*float64(all) {
		reasons = append(reasons, fmt.Sprintf("the candidate has only %d of the baseline's %d items", m.matched, all))
	}
	if m.a.seen && m.b.seen && m.a.version != m.b.version {
		reasons = append(reasons, fmt.Sprintf("the scores were made by different versions, %q and %q", m.a.version, m.b.version))
	}
	return reasons
}

// pairs puts the matched items side by side; value gives an item's score on
// either side.
func (m *match) pairs(o Options, value func(t *table, e entry, second bool) (float64, bool)) pairs {
	var p pairs
	n := m.matched
	p.a.x, p.b.x = make([]float64, 0, n), make([]float64, 0, n)
	p.d = m.a.sample(o, func(i int) (float64, bool) {
		if m.partner[i] < 0 {
			return 0, false
		}
		a, oka := value(m.a, m.a.items[i], false)
		b, okb := value(m.b, m.b.items[m.partner[i]], true)
		if !oka || !okb {
			return 0, false
		}
		p.a.x, p.b.x = append(p.a.x, a), append(p.b.x, b)
		return b - a, true
	})
	a, b := p.a.x, p.b.x
	p.a, p.b = p.d, p.d
	p.a.x, p.b.x = a, b
	return p
}

// scored pairs the items that both runs scored.
func (m *match) scored(o Options) pairs {
	return m.pairs(o, func(_ *table, e entry, _ bool) (float64, bool) { return e.mean, e.scored > 0 })
}

// extreme pairs all matched items, with missing scores such that the
// difference is as small, or as large, as they allow.
func (m *match) extreme(o Options, smallest bool) pairs {
	return m.pairs(o, func(t *table, e entry, second bool) (float64, bool) {
		if second == smallest {
			return e.filledWith(t, o, o.Range.Lower), e.fit()
		}
		return e.filledWith(t, o, o.Range.Upper), e.fit()
	})
}

// missing counts what either run lacks of the matched items.
func (m *match) missing(o Options) (a, b Missing) {
	a.Policy, b.Policy = o.Missing, o.Missing
	var rowsA, rowsB int
	count := func(t *table, e entry, out *Missing, rows *int) {
		out.Rows += int(e.lost)
		*rows += int(e.scored)
		if !t.filled {
			*rows += int(e.lost)
		}
	}
	for i, j := range m.partner {
		if j >= 0 {
			count(m.a, m.a.items[i], &a, &rowsA)
			count(m.b, m.b.items[j], &b, &rowsB)
		}
	}
	a.Share, b.Share = float64(a.Rows)/float64(max(1, rowsA)), float64(b.Rows)/float64(max(1, rowsB))
	return a, b
}
