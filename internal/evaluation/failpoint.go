package evaluation

import "github.com/assayhq/assay/internal/platform/failpoint"

// The points of a run, in the order in which it passes them.
const (
	RunResolved   failpoint.Point = "run_resolved"   // what the run works on is fixed, the engine does not know
	ChunkRead     failpoint.Point = "chunk_read"     // what is left of a chunk is known, nothing is asked
	ChunkAnswered failpoint.Point = "chunk_answered" // answers are there and paid for, none is stored
	ChunkStored   failpoint.Point = "chunk_stored"   // outcomes are stored, the chunk has not counted them
	ChunkCounted  failpoint.Point = "chunk_counted"  // they are counted, the engine does not know
	RunConcluding failpoint.Point = "run_concluding" // the figures are computed, the run has not ended
	RunConcluded  failpoint.Point = "run_concluded"  // the run has ended, the engine does not know
)

// Failpoints lists the points of a run. A proof that does not reach all of them
// proves less than it says.
func Failpoints() []failpoint.Point {
	return []failpoint.Point{RunResolved, ChunkRead, ChunkAnswered, ChunkStored, ChunkCounted, RunConcluding, RunConcluded}
}
