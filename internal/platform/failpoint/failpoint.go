// Package failpoint marks the moments at which a crash would be worst, so that
// proofs can crash a process at each of them. A domain declares its own points,
// and lists them in its Failpoints. In a build without the tag failpoints a point
// does nothing and costs nothing.
package failpoint

// Point is a moment in the life of a write or of a run.
type Point string

// The points, in the order in which a block of telemetry passes them.
const (
	Decoded         Point = "decoded"          // rows are in the block, nothing is written
	BeforeInsert    Point = "before_insert"    // the first byte to ClickHouse is next
	BetweenTables   Point = "between_tables"   // payloads are stored, spans are not
	AfterInsert     Point = "after_insert"     // everything is stored, nobody is told
	BeforeDefer     Point = "before_defer"     // ClickHouse refused, nothing is kept yet
	AfterDefer      Point = "after_defer"      // the block is in object storage, nobody is told
	DrainRead       Point = "drain_read"       // a deferred block is read, not inserted
	DrainInserted   Point = "drain_inserted"   // it is inserted and still in object storage
	BeforeReply     Point = "before_reply"     // the write is done, the reply is next
	BeforeBlobNamed Point = "before_blob_name" // an object's bytes are on disk under a temporary name
)

// Points lists those of telemetry: a proof that did not reach one of them proves
// less than it says.
func Points() []Point {
	return []Point{
		Decoded, BeforeInsert, BetweenTables, AfterInsert, BeforeDefer, AfterDefer, DrainRead, DrainInserted, BeforeReply, BeforeBlobNamed,
	}
}
