package evidence

import (
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// item is an event of an envelope.
type item struct {
	event
	place place
	valid bool
}

// envelope puts the events of a batch into an envelope, with one of them twice, one of
// the batch before and, now and then, one that is not valid. Again is appended to the ids.
func (c calls) envelope(p place, again string) (items []item, body jsontext.Value) {
	add := func(p place) { items = append(items, item{c.event(p), p, true}) }
	for p.number = range batchEvents {
		if p.number == batchEvents/2 && p.batch%4 == 0 {
			items = append(items, item{p.invalid(), p, false})
		}
		add(p)
	}
	p.number = p.batch % batchEvents
	add(p)
	if before := p; p.batch > 0 {
		before.batch--
		add(before)
	}
	events := make([]event, len(items))
	for i := range items {
		items[i].ID += again
		events[i] = items[i].event
	}
	return items, encoded(map[string]any{"producer": map[string]any{"runtimeKey": p.runtime()}, "events": events})
}

// answer is what the server says about an envelope.
type answer struct {
	Received   int      `json:"received"`
	Accepted   int      `json:"accepted"`
	Duplicates int      `json:"duplicates"`
	Unmapped   int      `json:"unmapped"`
	Rejected   int      `json:"rejected"`
	Results    []result `json:"results"`
}

// result is what the server says about an event.
type result struct {
	Index   int            `json:"index"`
	ID      string         `json:"id"`
	Status  string         `json:"status"`
	Raw     int64          `json:"raw_event_id"`
	Records []ref          `json:"records"`
	Errors  jsontext.Value `json:"errors"`
}

// ref names a record.
type ref struct {
	Resource string `json:"resource"`
	ID       int64  `json:"id"`
}

// missing counts the events without a result in their place, and the results without an
// event.
func (a answer) missing(items []item) int {
	n := max(0, len(a.Results)-len(items))
	for i, it := range items {
		if i >= len(a.Results) || a.Results[i].Index != i || a.Results[i].ID != it.ID {
			n++
		}
	}
	return n
}

// unexpected says what is wrong with a result, in itself.
func (it item) unexpected(r result) string {
	good := []string{"accepted", "duplicate"}
	switch {
	case !it.valid:
		good = []string{"rejected"}
	case it.place.shape() == unmapped:
		good[0] = "unmapped"
	}
	switch {
	case !slices.Contains(good, r.Status):
		return fmt.Sprintf("event %s is %s: %s", it.ID, r.Status, r.Errors)
	case it.valid != (r.Raw != 0):
		return fmt.Sprintf("event %s is %s with the raw event %d", it.ID, r.Status, r.Raw)
	}
	return ""
}

// sum is an error if the counts of an answer are not those of its results.
func (a answer) sum() error {
	count := map[string]int{}
	for _, r := range a.Results {
		count[r.Status]++
	}
	if a.Received != len(a.Results) || a.Accepted != count["accepted"] || a.Duplicates != count["duplicate"] || a.Unmapped != count["unmapped"] || a.Rejected != count["rejected"] {
		return fmt.Errorf("an answer counts %d accepted, %d duplicates, %d unmapped and %d rejected of %d, and its results are %v",
			a.Accepted, a.Duplicates, a.Unmapped, a.Rejected, a.Received, count)
	}
	return nil
}

// entry is what a sender knows about an acknowledged event.
type entry struct {
	raw  int64
	refs []ref
}

// ledger is what answers said to senders.
type ledger struct {
	mu      sync.Mutex
	entries map[place]*entry
	repeats int // events that were acknowledged as duplicates
	seen    verdict
	// one of the answers, with what was sent.
	items  []item
	answer jsontext.Value
}

// acknowledge notes an answer. Known tells that the sender had one to the same envelope
// before. What is returned is wrong with the answer, whatever is stored.
func (b *ledger) acknowledge(items []item, text jsontext.Value, known bool) error {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return fmt.Errorf("an answer cannot be read: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items, b.answer = items, text
	b.seen.answers++
	if n := a.missing(items); n > 0 {
		b.seen.missing += n
		b.seen.Example("an answer lacks %d of %d results: %.300s", n, len(items), text)
		return nil
	}
	for i, r := range a.Results {
		if wrong := items[i].unexpected(r); wrong != "" {
			return fmt.Errorf("%s", wrong)
		}
		if items[i].valid {
			b.note(items[i], r, known)
		}
	}
	return a.sum()
}

// note notes one result. It is called under mu.
func (b *ledger) note(it item, r result, known bool) {
	if r.Status == "duplicate" {
		b.repeats++
	} else if known {
		b.seen.doubled++
		b.seen.Example("event %s was acknowledged, and is %s when it comes again", it.ID, r.Status)
	}
	e := b.entries[it.place]
	if e == nil {
		e = &entry{raw: r.Raw}
		b.entries[it.place] = e
	}
	if e.raw != r.Raw {
		b.seen.doubled++
		b.seen.Example("event %s is the raw event %d and then %d", it.ID, e.raw, r.Raw)
	}
	switch {
	case len(r.Records) == 0:
	case e.refs == nil:
		e.refs = r.Records
	case !slices.Equal(e.refs, r.Records):
		b.seen.doubled++
		b.seen.Example("event %s made the records %v and then %v", it.ID, e.refs, r.Records)
	}
}

// entryOf is what is known about an event.
func (b *ledger) entryOf(p place) entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return *b.entries[p]
}

// size is how many events were acknowledged.
func (b *ledger) size() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.entries)
}
