package people

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// answer is an acknowledged annotation.
type answer struct {
	item   int64
	person int
	label  string
}

// book is what people were given, said and saw, as they know it themselves.
type book struct {
	required int // people that an item needs

	mu        sync.Mutex
	holds     map[int64]map[int]time.Time // who has an item for certain, and until when
	sent      map[int64]map[int]bool      // who has begun to submit an answer
	skipping  map[int64]map[int]bool      // who has begun to skip
	answers   map[int64]answer            // acknowledged, by the annotation's id
	answered  map[int64]map[int]bool      // acknowledged
	skips     map[int64]map[int]bool      // acknowledged
	decisions map[int64]map[int64]int     // acknowledged: who made which decision, by item
	refused   int                         // decisions that came second
	given     int
	seen      int // words of others about complete items
	last      int64
	found     verdict
}

func newBook(required int) *book {
	return &book{
		required: required, holds: map[int64]map[int]time.Time{}, sent: map[int64]map[int]bool{}, skipping: map[int64]map[int]bool{}, answers: map[int64]answer{},
		answered: map[int64]map[int]bool{}, skips: map[int64]map[int]bool{}, decisions: map[int64]map[int64]int{},
	}
}

func note[K comparable, V any](all map[int64]map[K]V, item int64, key K, value V) {
	if all[item] == nil {
		all[item] = map[K]V{}
	}
	all[item][key] = value
}

// give notes that a person was given an item, which they have at least until a time. A
// slot is given twice if more people have the item now than it needs. A hold is struck
// off before its end is asked for, and ends no earlier for the server than here, so that
// what is counted is certain.
func (b *book) give(item int64, who int, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.given++
	if b.answered[item][who] || b.skips[item][who] {
		b.found.givenTwice++
		b.found.Example("item %d was given to person %d again", item, who)
	}
	note(b.holds, item, who, until)
	have := len(b.answered[item])
	for other, until := range b.holds[item] {
		if !b.answered[item][other] && time.Now().Before(until) {
			have++
		}
	}
	if have > b.required {
		b.found.givenTwice++
		b.found.Example("%d people have item %d, which needs %d", have, item, b.required)
	}
}

// submitting notes that a person is about to answer.
func (b *book) submitting(item int64, who int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	note(b.sent, item, who, true)
}

// submitted notes that an answer was acknowledged.
func (b *book) submitted(id int64, a answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers[id], b.last = a, id
	note(b.answered, a.item, a.person, true)
}

// skip notes that a person is about to skip an item.
func (b *book) skip(item int64, who int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.holds[item], who)
	note(b.skipping, item, who, true)
}

// skipped notes that a skip was acknowledged.
func (b *book) skipped(item int64, who int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	note(b.skips, item, who, true)
}

// decided notes that a decision was acknowledged.
func (b *book) decided(item, decision int64, who int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	note(b.decisions, item, decision, who)
}

// second notes that a decision was refused because another was first.
func (b *book) second() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused++
}

// may reports whether an item can be complete: as many people have begun to answer or
// to skip it as it needs.
func (b *book) may(item int64) bool {
	return len(b.sent[item]) >= b.required || len(b.skipping[item]) >= b.required
}

// complete is may for callers without the lock.
func (b *book) complete(item int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.may(item)
}

// progress is how many answers and skips were acknowledged, and the newest annotation.
func (b *book) progress() (n int, newest int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, all := range b.skips {
		n += len(all)
	}
	return n + len(b.answers), b.last
}

// words are what a person says about an item, in every field that takes text.
func words(who int, item int64) string { return fmt.Sprintf("planted-%d-%d.", who, item) }

var planted = regexp.MustCompile(`planted-(\d+)-(\d+)\.`)

// search looks for what others said in what a person was shown. An item that was given to
// nobody is of another task, and in that one's book.
func (b *book) search(who int, where string, shown []byte) {
	for _, m := range planted.FindAllSubmatch(shown, -1) {
		other, _ := strconv.Atoi(string(m[1]))
		item, _ := strconv.ParseInt(string(m[2]), 10, 64)
		if other == who {
			continue
		}
		b.mu.Lock()
		switch {
		case b.holds[item] == nil:
		case b.may(item):
			b.seen++
		default:
			b.found.leaks++
			b.found.Example("%s showed person %d what person %d said about item %d, which is not complete", where, who, other, item)
		}
		b.mu.Unlock()
	}
}
