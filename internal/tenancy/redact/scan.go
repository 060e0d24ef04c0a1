package redact

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// The pass over a text reads pairs of bytes, every second position, and looks
// each up in a table. A sign is the literal that secrets of one kind begin
// with; two of its pairs, one at an even and one at an odd distance from its
// start, are in the table, so wherever a sign lies the pass meets one of them.
// Pairs that are rare in prose and JSON are chosen: each meeting costs more
// than a hundred bytes of passing by.
//
// Pairs that can lie inside a card number weigh less: only a word of eight
// bytes with three of them stops the pass. Thirteen characters of a card number
// always fill three pairs of some word.
const (
	redactHot  = 128 // a word of at least this weight is looked at
	cardPair   = 43  // three of them are hot, two are not
	redactWord = 8
)

// redactSign is the literal that one kind of secret begins with.
type redactSign struct {
	mark  string
	text  string // the pass compares up to eight bytes of it, find the rest
	fold  bool   // letters match in either case; text is in lower case
	pairs [2]int // offsets of the two pairs; one is even, one is odd
	last  string // what may follow text, when a pair reaches beyond it
	open  bool   // may begin in the middle of a word
	key   bool   // a member's name in a JSON document, not a secret itself
	least int    // bytes that there must be from the beginning on, at least 8

	// find returns the bounds of what has to go when the sign begins at at; to
	// is 0 when that is no secret.
	find func(v []byte, at int) (from, to int)
}

// redactCheck is a sign as the pass compares it, from one of its pairs.
type redactCheck struct {
	upper, mask, want uint64
	back              int // from the pair to the beginning of the sign
	least             int
	sign              *redactSign
}

// redactTable says what a pass looks for.
type redactTable struct {
	weight [1 << 16]uint8 // by pair; from redactHot on it leads to checks
	checks [][]redactCheck
}

// newRedactTable makes the table of some signs, with or without card numbers.
func newRedactTable(signs []redactSign, cards bool) *redactTable {
	t := &redactTable{}
	byPair := map[uint16][]redactCheck{}
	for i := range signs {
		s := &signs[i]
		c := redactCheck{sign: s, least: s.least}
		for j := range min(len(s.text), redactWord) {
			c.mask |= 0xff << (8 * j)
			c.want |= uint64(s.text[j]) << (8 * j)
			if s.fold && redactClass[s.text[j]]&redactLower != 0 {
				c.upper |= 0x20 << (8 * j)
			}
		}
		for _, at := range s.pairs {
			c.back = at
			for _, pair := range s.variants(at) {
				byPair[pair] = append(byPair[pair], c)
			}
		}
	}
	ids := map[string]uint8{} // pairs of the same signs share their checks
	for pair, checks := range byPair {
		var signs strings.Builder
		for _, c := range checks {
			fmt.Fprintf(&signs, "%s %d\n", c.sign.text, c.back)
		}
		id, ok := ids[signs.String()]
		if !ok {
			id = uint8(redactHot + len(ids))
			ids[signs.String()] = id
			t.checks = append(t.checks, checks)
		}
		t.weight[pair] = id
	}
	if cards {
		t.weighCards()
	}
	return t
}

func (t *redactTable) weighCards() {
	const in = "0123456789 -"
	for _, a := range []byte(in) {
		for _, b := range []byte(in) {
			if (redactClass[a]|redactClass[b])&redactDigit != 0 {
				t.weight[redactPair(a, b)] = cardPair
			}
		}
	}
}

func redactPair(a, b byte) uint16 { return uint16(a) | uint16(b)<<8 }

// variants returns the pairs that may stand at an offset of the sign.
func (s *redactSign) variants(at int) []uint16 {
	choices := func(i int) string {
		switch {
		case i == len(s.text):
			return s.last
		case s.fold:
			return strings.ToLower(s.text[i:i+1]) + strings.ToUpper(s.text[i:i+1])
		}
		return s.text[i : i+1]
	}
	var all []uint16
	for _, a := range []byte(choices(at)) {
		for _, b := range []byte(choices(at + 1)) {
			if p := redactPair(a, b); !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// hot returns where the next word begins that has to be looked at, or -1. The
// last word may begin before at.
//
// It stays a function of its own so that the loop has the registers.
//
//go:noinline
func (t *redactTable) hot(v []byte, at int) int {
	weight := &t.weight
	for ; at+4*redactWord <= len(v); at += 4 * redactWord {
		p := (*[4 * redactWord]byte)(v[at:])
		a := redactWeigh(weight, binary.LittleEndian.Uint64(p[0:]))
		b := redactWeigh(weight, binary.LittleEndian.Uint64(p[8:]))
		c := redactWeigh(weight, binary.LittleEndian.Uint64(p[16:]))
		d := redactWeigh(weight, binary.LittleEndian.Uint64(p[24:]))
		if a|b|c|d >= redactHot {
			// Which of them is found without another branch to mispredict:
			// a word weighs less than 1024.
			const lift = 1024 - redactHot
			which := (a+lift)>>10 | (b+lift)>>10<<1 | (c+lift)>>10<<2 | (d+lift)>>10<<3
			return at + redactWord*bits.TrailingZeros32(which)
		}
	}
	for ; at+redactWord <= len(v); at += redactWord {
		if redactWeigh(weight, binary.LittleEndian.Uint64(v[at:])) >= redactHot {
			return at
		}
	}
	// The pairs of the last word begin at the same distances as the others, or
	// a sign could slip between.
	rest := (len(v) - at) &^ 1
	if last := at + rest - redactWord; rest > 0 && last >= 0 {
		return last
	}
	return -1
}

// redactWeigh adds up the pairs of a word.
func redactWeigh(weight *[1 << 16]uint8, w uint64) uint32 {
	return uint32(weight[uint16(w)]) + uint32(weight[uint16(w>>16)]) + uint32(weight[uint16(w>>32)]) + uint32(weight[uint16(w>>48)])
}

// next returns the first thing that has to go, at or after floor.
//
// A probe is for JSON documents. It sees strings as they are escaped, so of a
// secret it asks for no more than the sign, and says only whether there is one.
func (t *redactTable) next(v []byte, floor int, probe bool) (first redactSpan, ok bool) {
	for at := floor; ; {
		i := t.hot(v, at)
		if i < 0 {
			return redactSpan{}, false
		}
		at = i + redactWord
		w := binary.LittleEndian.Uint64(v[i:])
		a, b, c, d := uint32(t.weight[uint16(w)]), uint32(t.weight[uint16(w>>16)]), uint32(t.weight[uint16(w>>32)]), uint32(t.weight[uint16(w>>48)])
		signs := a>>7 | b>>7<<2 | c>>7<<4 | d>>7<<6 // a bit for the first byte of each pair
		cards := a*(1-a>>7) + b*(1-b>>7) + c*(1-c>>7) + d*(1-d>>7)
		for ; signs != 0; signs &= signs - 1 {
			s, found := t.sign(v, i+bits.TrailingZeros32(signs), floor, probe)
			if found && (!ok || s.from < first.from) {
				first, ok = s, true
			}
		}
		if cards >= redactHot {
			card, end := cardNear(v, i, floor)
			if card.to > 0 && (!ok || card.from < first.from) {
				first, ok = card, true
			}
			at = max(at, end)
		}
		if ok {
			return first, true
		}
	}
}

// sign returns the secret that begins with a sign of which a pair is at k.
func (t *redactTable) sign(v []byte, k, floor int, probe bool) (redactSpan, bool) {
	checks := t.checks[t.weight[redactPair(v[k], v[k+1])]-redactHot]
	for i := range checks {
		c := &checks[i]
		at := k - c.back
		if at < floor || at+c.least > len(v) || (binary.LittleEndian.Uint64(v[at:])|c.upper)&c.mask != c.want {
			continue
		}
		s := c.sign
		if len(s.text) > redactWord && string(v[at:at+len(s.text)]) != s.text || !s.open && !redactBegins(v, at) {
			continue
		}
		if probe && !s.key {
			return redactSpan{}, true
		}
		from, to := s.find(v, at)
		if to == 0 {
			continue
		}
		if from > at {
			if own, ok := t.own(v, from); ok && own.to >= to {
				return own, true
			}
		}
		return redactSpan{from, to, s.mark}, true
	}
	return redactSpan{}, false
}

// own returns the secret that begins at at by a sign of its own: what follows
// the word Bearer may have a more telling name.
func (t *redactTable) own(v []byte, at int) (redactSpan, bool) {
	for k := at; k < at+redactWord; k += 2 {
		if t.weight[redactPair(v[k], v[k+1])] >= redactHot {
			if s, ok := t.sign(v, k, at, false); ok && s.from == at {
				return s, true
			}
		}
	}
	return redactSpan{}, false
}
