// Package trace keeps what applications and agents did: traces, their spans,
// and what went in and came out of them.
//
// Telemetry arrives as OTLP or as JSON, is read into one model whatever
// convention its sender follows, and is stored in ClickHouse. An accepted span
// is a stored span: the reply waits for the write. While ClickHouse is away
// blocks of spans wait in object storage and the reply says so.
//
// A trace is derived from its spans and, if a caller set something on the trace
// as a whole, from its trace row:
//
//	status     when
//	running    its root has not ended
//	completed  its root has ended well, or nothing new came for 30 minutes
//	           (auto_closed)
//	failed     its root has ended with an error
//
// Words: a root is a span without a parent. The trace row is what was set on the
// trace over REST; it is stored as a span whose id is zero. A span is open until
// a version of it arrives that has an end; sending a span again replaces it, and
// an open version never replaces an ended one. A stub is a trace that has a
// number and nothing else. A class of retention is one of the few times for
// which telemetry is kept.
//
// Spans are stored and queried by internal/spandb; store*.go is PostgreSQL.
package trace
