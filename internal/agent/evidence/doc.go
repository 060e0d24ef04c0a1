// Package evidence keeps what agents wanted, were allowed, did and verifiably caused.
//
// A record is of one of the kinds of internal/kind, the table that everything here
// follows. There are two classes:
//
//	stream   what happened, in volume (events, steps, calls of tools, explanations):
//	         ClickHouse (internal/streamdb). A later report of the same record adds
//	         to it, and its state changes as the table of moves has it.
//	state    what lasts and changes (runtimes, connectors, decisions, approvals, side
//	         effects, failures): PostgreSQL, one row each, moved by a compare-and-set,
//	         with everything that it was before.
//
// Words: a report is what a sender says about one record. A key is what a record is
// recognized by when it is reported again: the name that its sender gave it, or what
// names it by nature, such as the source and the id of an event. Whoever claims a key
// first settles the record's id, and holds a lease while it stores something under it. An
// event is what the envelope of an ingest carries; a normalizer turns it into reports, and
// a normalization reads stored events again.
//
// Spans that arrive in traces are followed: the calls of tools, changes of memories, scores
// and failures that they show become records, under the same keys as if they had been sent
// as events. Steps stay in the trace. An organization has a cursor, which says how far its
// traces were read, and a workflow for each period in which spans came.
//
// Evidence says who says so: platform, ingested or reported. Whoever may send telemetry
// can report facts and can never grant authority: no report allows, approves or lifts a
// suspension.
package evidence
