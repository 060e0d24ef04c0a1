// Package spandb keeps spans in ClickHouse: the spans themselves, their payloads
// and their log records, each in a table of its own.
//
// Writing: requests add rows to a shared Block, by one of two lanes, and wait
// until it is written. While ClickHouse is away the block is kept in object
// storage and inserted later.
//
// Reading: a statement is a struct whose sql method is a pure function, so that
// the text of every query stands in testdata/sql. What describes a trace as a
// whole is made from its rows by Summarize; of traces with very many rows, and
// for totals, by ClickHouse.
//
// The package does not know PostgreSQL: numbers of traces, deletions and feedback
// belong to package trace.
package spandb
