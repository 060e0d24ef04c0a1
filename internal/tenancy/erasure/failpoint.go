package erasure

import "github.com/assayhq/assay/internal/platform/failpoint"

// The points of an erasure.
const (
	Stepped   failpoint.Point = "erasure_stepped"   // one kind of place is erased, others are not
	Hiding    failpoint.Point = "erasure_hiding"    // rows of a table are counted, and none is erased
	Completed failpoint.Point = "erasure_completed" // the certificate is complete, the engine does not know
)

// Failpoints lists the points of an erasure.
func Failpoints() []failpoint.Point { return []failpoint.Point{Stepped, Hiding, Completed} }
