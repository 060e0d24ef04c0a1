// Package statedb keeps the records of evidence that last and change, the keys that records
// are recognized by, and the leases under which something is stored. It is the domain's
// store in PostgreSQL.
package statedb
