// Package erasure removes everything that a deleted organization had, and
// leaves a certificate of it.
//
// Words: an erasure is the work; an eraser is what a domain registers for data
// that it keeps outside of the two databases, such as files. Rows and events
// need no eraser: every table that has a column org_id is found in the catalogs.
//
// The order is the order of safety: events, then what domains keep elsewhere,
// then rows, and last the organization itself, whose row says what is being
// erased. Every step may run again; the certificate's sums are right whoever
// finishes.
package erasure
