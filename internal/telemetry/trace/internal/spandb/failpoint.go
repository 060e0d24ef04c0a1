package spandb

import "github.com/assayhq/assay/internal/platform/failpoint"

// The points of a block of telemetry, in the order in which it passes them.
const (
	Decoded       failpoint.Point = "decoded"        // rows are in the block, nothing is written
	BeforeInsert  failpoint.Point = "before_insert"  // the first byte to ClickHouse is next
	BetweenTables failpoint.Point = "between_tables" // payloads are stored, spans are not
	AfterInsert   failpoint.Point = "after_insert"   // everything is stored, the sender does not know
	BeforeDefer   failpoint.Point = "before_defer"   // ClickHouse refused, nothing is kept yet
	AfterDefer    failpoint.Point = "after_defer"    // the block is in object storage, the sender does not know
	DrainRead     failpoint.Point = "drain_read"     // a deferred block is read, not inserted
	DrainInserted failpoint.Point = "drain_inserted" // it is inserted and still in object storage
)
