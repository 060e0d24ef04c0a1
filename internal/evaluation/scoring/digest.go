package scoring

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/go-json-experiment/json"
)

// Digest names everything that can change the result of an item, apart from the
// target's own mind. Which items were drawn is not in it.
func (p Plan) Digest(version string, repetitions int, clusterKey string) string {
	text, err := json.Marshal(struct {
		Plan        Plan   `json:"plan"`
		Version     string `json:"version"`
		Repetitions int    `json:"repetitions"`
		ClusterKey  string `json:"cluster_key"`
	}{p, version, repetitions, clusterKey}, json.Deterministic(true))
	if err != nil {
		panic(err) // a plan was read from JSON
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Seed is the seed that a run was given, or one that only this run has.
func Seed(given *int64, run int64) int64 {
	if given != nil {
		return *given
	}
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("assay run seed\x00"), uint64(run)))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 11) // a safe integer
}
