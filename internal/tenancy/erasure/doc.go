// Package erasure removes everything that a deleted organization had, and
// leaves a certificate of it. It also removes from the disks, in rounds, what
// other deletions have hidden.
//
// Words: an erasure is the work; a look is one pass over every place where
// something of the organization can be, which erases what it finds; a part is
// what a domain contributes: how its work is stopped, and what it keeps outside
// of the two databases, such as files. Rows and events need no part: every table
// that has a column org_id is found in the catalogs.
//
// A look stops the work of the organization first, then takes what domains keep
// elsewhere, events, rows and the histories of workflows. Looks are repeated with
// a pause that is longer than anything that was under way can take, until one
// finds nothing. Only then is the organization itself erased, whose row says what
// is being erased, and the certificate completed. Every step may run again; the
// certificate's sums are right whoever finishes.
package erasure
