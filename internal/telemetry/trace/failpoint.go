package trace

import (
	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// The points of telemetry, in the order in which it passes them. Those of the
// database of spans are described there.
const (
	Decoded                       = spandb.Decoded
	BeforeInsert                  = spandb.BeforeInsert
	BetweenTables                 = spandb.BetweenTables
	AfterInsert                   = spandb.AfterInsert
	BeforeDefer                   = spandb.BeforeDefer
	AfterDefer                    = spandb.AfterDefer
	DrainRead                     = spandb.DrainRead
	DrainInserted                 = spandb.DrainInserted
	BeforeReply   failpoint.Point = "before_reply" // the write is done, the reply is next
)

// Failpoints lists the points of telemetry. A proof that does not reach all of
// them proves less than it says.
func Failpoints() []failpoint.Point {
	return []failpoint.Point{
		Decoded, BeforeInsert, BetweenTables, AfterInsert, BeforeDefer, AfterDefer, DrainRead, DrainInserted, BeforeReply, blob.BeforeNamed,
	}
}
