// Package evidence keeps what agents wanted, were allowed, did and verifiably caused.
//
// A record is of one of the kinds of internal/kind, the table that everything here
// follows. There are two classes:
//
//	stream   what happened, in volume (events, steps, calls of tools, explanations):
//	         ClickHouse. A later report of the same record adds to it, and a state
//	         that is final stays.
//	state    what lasts and changes (runtimes, connectors, decisions, approvals, side
//	         effects, failures): PostgreSQL, one row each, moved by a compare-and-set,
//	         with everything that it was before.
//
// Words: a report is what somebody says about one record. A key is what a record is
// recognized by when it is reported again: the name that its sender gave it, or what
// names it by nature, such as the source and the id of an event. Whoever claims a key
// first settles the record's id. An event is what the envelope of an ingest carries; a
// normalizer turns it into reports.
//
// Evidence says who says so: platform, ingested or reported. Whoever may send telemetry
// can report facts and can never grant authority: no report allows, approves or lifts a
// suspension.
package evidence
