// Package probe tests judges for bias by paired experiments: the same answer is judged
// as it is and changed in a way that should not matter.
//
// A probe runs from the moment it is made:
//
//	from     event     to
//	running  complete  completed
//	running  fail      failed
//	running  cancel    cancelled
//
// Words: a subject is an answer that is judged, of a dataset's item or of an earlier
// result. A unit is one verdict about a subject: as it is, or altered in one way. Two
// units make a pair, and the pairs of a kind make a finding.
//
// Units are numbered, and a verdict is kept under its number, so that a probe that is
// interrupted goes on where it was and pays for nothing twice.
package probe
