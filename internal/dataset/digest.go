package dataset

import (
	"crypto/sha256"
	"crypto/sha3"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Digest is the SHA-256 of an item's content in canonical JSON.
type Digest [sha256.Size]byte

// String is the wire form.
func (d Digest) String() string { return "sha256:" + hex.EncodeToString(d[:]) }

// sumSize is 1,024 lanes of 16 bits: the size at which LtHash is shown to be
// collision resistant at 200 bits.
const sumSize = 2048

// contentSum names a set of digests in any order. It is LtHash: each digest is
// stretched by SHAKE-128 to the size of the sum, and lanes are added without
// carry. Adding and removing one item costs the same in a dataset of ten items
// and of a hundred million, so freezing a version never reads its items.
type contentSum [sumSize]byte

func parseSum(b []byte) (contentSum, error) {
	if len(b) != sumSize {
		return contentSum{}, fmt.Errorf("content sum has %d bytes, not %d", len(b), sumSize)
	}
	return contentSum(b), nil
}

func (s *contentSum) add(d Digest)    { s.combine(d, func(a, b uint16) uint16 { return a + b }) }
func (s *contentSum) remove(d Digest) { s.combine(d, func(a, b uint16) uint16 { return a - b }) }

func (s *contentSum) combine(d Digest, op func(a, b uint16) uint16) {
	stretched := sha3.SumSHAKE128(d[:], sumSize)
	for i := 0; i < sumSize; i += 2 {
		lane := op(binary.LittleEndian.Uint16(s[i:]), binary.LittleEndian.Uint16(stretched[i:]))
		binary.LittleEndian.PutUint16(s[i:], lane)
	}
}

// digest is the short name of the set: what a frozen version shows.
func (s *contentSum) digest() Digest { return sha256.Sum256(s[:]) }
