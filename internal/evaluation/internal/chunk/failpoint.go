package chunk

import "github.com/assayhq/assay/internal/platform/failpoint"

// The points of a chunk, in the order in which it passes them.
const (
	Read     failpoint.Point = "chunk_read"     // what is left of it is known, nothing is asked
	Answered failpoint.Point = "chunk_answered" // answers are there and paid for, none is stored
	Judged   failpoint.Point = "chunk_judged"   // verdicts of judges are stored, the outcomes that rest on them are not
	Stored   failpoint.Point = "chunk_stored"   // outcomes are stored, the chunk has not counted them
	Counted  failpoint.Point = "chunk_counted"  // they are counted, the engine does not know
)
