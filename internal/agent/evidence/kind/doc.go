// Package kind is the table of the kinds of evidence: which fields a record of each
// kind has, how it moves from state to state, who may write it, and where it is
// stored.
//
// Everything else follows from the table: what is accepted and refused, the filters of
// lists, the document that describes the interface, and the tests of every transition.
// A kind is added by adding it here. Its name and those of its fields are generated, so that
// code which needs them does not compile with others.
package kind
