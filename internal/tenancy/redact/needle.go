package redact

import (
	"bytes"
	"strings"
)

// redactNeedle is a literal that texts are searched for, by the rarest of its
// bytes: the standard library finds a byte much faster than it finds a word.
type redactNeedle struct {
	text []byte // in lower case if fold
	fold bool   // letters match in either case
	then string // bytes of which one has to follow; empty means anything may
	rare int    // offset of the rarest byte
}

// redactCommon holds the bytes of prose and JSON, the most common first. What
// is not in it is rare.
const redactCommon = " etaoinsrlhd\"ucmpf,:gy.w_b0v1k-2\n{}[]3548/6\\79xSjTAIqzCEM"

// newRedactNeedle prepares the search for a piece.
func newRedactNeedle(p redactPiece) redactNeedle {
	n := redactNeedle{text: []byte(p.text), fold: p.fold}
	if n.fold {
		n.text = bytes.ToLower(n.text)
	}
	best := -1
	for i, b := range n.text {
		rank := strings.IndexByte(redactCommon, b)
		if rank < 0 {
			rank = len(redactCommon)
		}
		if rank > best {
			best, n.rare = rank, i
		}
	}
	return n
}

// redactAny reports whether one of the needles is in v.
func redactAny(needles []redactNeedle, v []byte) bool {
	for i := range needles {
		if needles[i].in(v) {
			return true
		}
	}
	return false
}

// in reports whether v holds the needle.
func (n *redactNeedle) in(v []byte) bool {
	rare := n.text[n.rare]
	if n.around(v, rare) {
		return true
	}
	return n.fold && redactClass[rare]&redactLower != 0 && n.around(v, rare&^0x20)
}

// around looks for the needle wherever its rarest byte is.
func (n *redactNeedle) around(v []byte, rare byte) bool {
	for at := n.rare; at < len(v); at++ {
		i := bytes.IndexByte(v[at:], rare)
		if i < 0 {
			return false
		}
		if at += i; n.is(v, at-n.rare) {
			return true
		}
	}
	return false
}

// is reports whether the needle lies at at.
func (n *redactNeedle) is(v []byte, at int) bool {
	end := at + len(n.text)
	if end > len(v) {
		return false
	}
	for i, want := range n.text {
		b := v[at+i]
		if n.fold && redactClass[b]&redactUpper != 0 {
			b |= 0x20
		}
		if b != want {
			return false
		}
	}
	return n.then == "" || end < len(v) && strings.IndexByte(n.then, v[end]) >= 0
}
