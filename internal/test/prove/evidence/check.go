package evidence

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// verdict is what became of the events of a load.
type verdict struct {
	events, answers, repeats, pairs  int
	unanswered, refused, looks       int64
	lost, doubled, missing, unmerged int
	rig.Examples
	checkedRecords, checkedOccurrences int
}

func (v verdict) String() string {
	return fmt.Sprintf("checked: events %d records %d pairs %d occurrences %d answers %d repeats %d unanswered %d refused %d looks %d lost %d doubled %d missing_results %d unmerged %d",
		v.events, v.checkedRecords, v.pairs, v.checkedOccurrences, v.answers, v.repeats, v.unanswered, v.refused, v.looks, v.lost, v.doubled, v.missing, v.unmerged)
}

// guilty is an error if anything is not as it must be, or if the load was not one that
// could have shown it.
func (v verdict) guilty() error {
	switch {
	case v.lost+v.doubled+v.missing+v.unmerged > 0:
		return fmt.Errorf("%s\n%s", v, v.Examples)
	case v.repeats == 0 || v.unanswered == 0 || v.pairs == 0 || v.looks == 0:
		return fmt.Errorf("the load could not have shown anything: %s", v)
	}
	return nil
}

func (v *verdict) lose(n int, format string, args ...any) {
	v.lost += n
	v.Example(format, args...)
}

func (v *verdict) double(n int, format string, args ...any) {
	v.doubled += n
	v.Example(format, args...)
}

// verdict compares what senders know with what is stored.
func (l *load) verdict(all []stored) verdict {
	v := l.seen
	v.Examples = slices.Clone(v.Examples)
	v.events, v.repeats = len(l.entries), l.repeats
	v.unanswered, v.refused, v.looks = l.unanswered.Load(), l.refused.Load(), l.looks.Load()
	for org, s := range all {
		c := newCheck(l, org, s, &v)
		for _, p := range c.places {
			c.event(p)
			c.named(p)
			c.merged(p)
		}
		c.strays()
		c.counts()
		c.occurrences()
	}
	return v
}

// check is the comparison for one organization.
type check struct {
	*verdict
	calls
	ledger *ledger
	org    int
	has    stored
	places []place // of all events that were acknowledged
	want   expectation

	byID   map[int64]*record
	byName map[named][]*record
	// byFirst are the raw events by source and by the id that they had first.
	byFirst map[string][]*record
}

func newCheck(l *load, org int, s stored, v *verdict) *check {
	c := &check{
		verdict: v, calls: l.calls, ledger: &l.ledger, org: org, has: s,
		byID: map[int64]*record{}, byName: map[named][]*record{}, byFirst: map[string][]*record{},
	}
	for p := range l.entries {
		if p.org == org {
			c.places = append(c.places, p)
		}
	}
	c.want = c.expect(c.places)
	for _, k := range kinds {
		for i := range s.records[k] {
			c.add(&s.records[k][i])
		}
	}
	return c
}

func (c *check) add(r *record) {
	if c.byID[r.ID] != nil {
		c.double(1, "%s %d is listed twice", r.Resource, r.ID)
		return
	}
	c.byID[r.ID] = r
	n := r.name()
	c.byName[n] = append(c.byName[n], r)
	if r.Resource == rawEvents {
		first, _, _ := strings.Cut(n.name, "~")
		c.byFirst[first] = append(c.byFirst[first], r)
	}
}

// event looks for the event itself, as it was sent.
func (c *check) event(p place) {
	e := c.ledger.entries[p]
	sent := c.calls.event(p)
	found := c.byFirst[sent.Source+" "+sent.ID]
	status := "normalized"
	if p.shape() == unmapped {
		status = "unmapped"
	}
	switch {
	case len(found) == 0:
		c.lose(1, "event %s was acknowledged as the raw event %d, which is not there", p.id(), e.raw)
		return
	case len(found) > 1:
		c.double(len(found)-1, "event %s is there %d times: raw events %d and %d", p.id(), len(found), found[0].ID, found[1].ID)
	}
	r := found[len(found)-1] // the oldest
	if r.ID != e.raw || r.Status != status || !slices.Equal(r.Records, e.refs) || !same(r.Payload, sent.Data) {
		c.lose(1, "event %s was acknowledged as the raw event %d with the records %v, and there is %d, which is %s, with %v: %.200s", p.id(), e.raw, e.refs, r.ID, r.Status, r.Records, r.Payload)
	}
}

// same tells whether two values are the same but for the order of members.
func same(a, b jsontext.Value) bool {
	a, b = a.Clone(), b.Clone()
	return a.Canonicalize() == nil && b.Canonicalize() == nil && bytes.Equal(a, b)
}

// named looks for the records that the result of an event named.
func (c *check) named(p place) {
	want, refs := c.records(p), c.ledger.entries[p].refs
	if len(refs) > len(want) {
		c.double(len(refs)-len(want), "event %s made the records %v and should have made %v", p.id(), refs, want)
	}
	for _, n := range want {
		c.checkedRecords++
		if !slices.ContainsFunc(refs, func(r ref) bool { return r.Resource == n.kind && c.byID[r.ID] != nil && c.byID[r.ID].name() == n }) {
			c.lose(1, "event %s was acknowledged with the records %v, none of which is %s %q", p.id(), refs, n.kind, n.name)
		}
	}
}

// merged looks at the call that a reply belongs to: the record must have what the request
// said and what the reply said. Every other call must have what its only event said.
func (c *check) merged(p place) {
	var asked place
	switch p.shape() {
	case reply:
		asked = c.asked(p)
		if c.ledger.entries[asked] == nil {
			return
		}
		c.pairs++
	case native:
		asked = p
	default:
		return
	}
	for _, n := range c.records(p) {
		for _, r := range c.byName[n] {
			whole := r.ToolName == asked.tool() && bytes.Contains(r.Arguments, []byte(asked.text()))
			switch {
			case p.shape() == native && !whole:
				c.lose(1, "%s %d of event %s is not what was sent: %s %s", r.Resource, r.ID, p.id(), r.ToolName, r.Arguments)
			case p.shape() == reply && (!whole || r.Status != "succeeded" || !bytes.Contains(r.Result, []byte(p.text()))):
				c.unmerged++
				c.Example("%s %d of the request %s and the reply %s is %s with the arguments %s and the result %s", r.Resource, r.ID, asked.id(), p.id(), r.Status, r.Arguments, r.Result)
			}
		}
	}
}

// strays looks for records that come from no event.
func (c *check) strays() {
	sent := map[string]bool{}
	for _, p := range c.places {
		e := c.calls.event(p)
		sent[e.Source+" "+e.ID] = true
	}
	for name, all := range c.byFirst {
		if !sent[name] {
			c.double(len(all), "there is the raw event %d, %s, which was not acknowledged", all[0].ID, name)
		}
	}
	for n, all := range c.byName {
		switch {
		case n.kind == rawEvents:
		case !c.want.records[n]:
			c.double(len(all), "there is %s %d, %q, which was not reported", n.kind, all[0].ID, n.name)
		case len(all) > 1:
			c.double(len(all)-1, "%s %q is there %d times: %d and %d", n.kind, n.name, len(all), all[0].ID, all[1].ID)
		}
	}
	for n := range c.want.records {
		if len(c.byName[n]) == 0 {
			c.lose(1, "%s %q was reported and is not there", n.kind, n.name)
		}
	}
}

// counts holds what the API counts and what the tables have against what it lists.
func (c *check) counts() {
	for _, k := range kinds {
		listed := len(c.has.records[k])
		for what, n := range map[string]int{"the list counts": c.has.totals[k], "the tables have": c.has.rows[k]} {
			if n > listed {
				c.double(n-listed, "%s %d %s, of which %d are listed", what, n, k, listed)
			}
			if n < listed {
				c.lose(listed-n, "%s %d %s, and %d are listed", what, n, k, listed)
			}
		}
	}
}

// occurrences holds how often failures occurred against the events that report them.
func (c *check) occurrences() {
	for n, want := range c.want.occurrences {
		for _, r := range c.byName[n] {
			c.checkedOccurrences += want
			if r.Occurrences > want {
				c.double(r.Occurrences-want, "failure %q occurred %d times, and %d events report it", n.name, r.Occurrences, want)
			}
			if r.Occurrences < want {
				c.lose(want-r.Occurrences, "failure %q occurred %d times, and %d events report it", n.name, r.Occurrences, want)
			}
		}
	}
}
