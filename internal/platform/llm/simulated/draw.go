package simulated

import "encoding/hex"

// Draws take the place of a random number generator: a number that looks drawn
// and depends on what it is drawn for alone.

// The purposes of draws, beside the rules, which have their places in the list.
const (
	latencyDraw = 1 << 32
	wrongDraw   = 2 << 32
	scoreDraw   = 3 << 32
)

// draw is a number from 0 to below 1.
func draw(seed, purpose, hash, attempt uint64) float64 {
	return float64(mix(seed, purpose, hash, attempt)>>11) / (1 << 53)
}

// mix scatters its parts over all bits.
func mix(parts ...uint64) uint64 {
	var h uint64
	for _, p := range parts {
		h += p + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// id names the answer of one call.
func id(seed, hash, attempt uint64) string {
	var b [16]byte
	for i, h := range [2]uint64{mix(seed, hash, attempt), mix(seed, hash, attempt, 1)} {
		for j := range 8 {
			b[8*i+j] = byte(h >> (8 * j))
		}
	}
	return hex.EncodeToString(b[:12])
}
