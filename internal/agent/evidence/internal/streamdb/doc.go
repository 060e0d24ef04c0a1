// Package streamdb keeps the records of evidence that are what happened, in volume: events,
// steps, calls of tools, explanations. It is the domain's store in ClickHouse.
package streamdb
