package stat

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// Seed names the data that something random is computed from. The same names
// give the same draws, and an auditor who knows them can repeat the
// computation. None of the names contains a vertical bar.
type Seed struct {
	Organization string
	Resource     string // a run, or two of them
	DataVersion  string // changes whenever the data do
}

// Draws returns the random numbers of one method, and the seed as it is shown.
func (s Seed) Draws(method string) (*rand.Rand, string) {
	sum := sha256.Sum256([]byte(s.Organization + "|" + s.Resource + "|" + method + "|" + s.DataVersion + "|" + AlgoVersion))
	high, low := binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])
	return rand.New(rand.NewPCG(high, low)), hex.EncodeToString(sum[:16]) //nolint:gosec // draws must be repeatable, not secret
}
