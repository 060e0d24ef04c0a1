package evaluation

import (
	"github.com/assayhq/assay/internal/evaluation/internal/chunk"
	"github.com/assayhq/assay/internal/platform/failpoint"
)

// The points of a run, in the order in which it passes them.
const (
	RunResolved   failpoint.Point = "run_resolved" // what the run works on is fixed, the engine does not know
	ChunkRead                     = chunk.Read
	ChunkAnswered                 = chunk.Answered
	ChunkJudged                   = chunk.Judged
	ChunkStored                   = chunk.Stored
	ChunkCounted                  = chunk.Counted
	RunConcluding failpoint.Point = "run_concluding" // the figures are computed, the run has not ended
	RunConcluded  failpoint.Point = "run_concluded"  // the run has ended, the engine does not know
)

// Failpoints lists the points of a run. A proof that does not reach all of them
// proves less than it says.
func Failpoints() []failpoint.Point {
	return []failpoint.Point{RunResolved, ChunkRead, ChunkAnswered, ChunkJudged, ChunkStored, ChunkCounted, RunConcluding, RunConcluded}
}
